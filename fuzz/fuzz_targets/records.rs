//! The readers of the command, against splitting lines in the simplest way. They are those of
//! the command itself, compiled in here since a program has no library to call.
#![no_main]

#[path = "../../crates/ribbonfilter-cli/src/error.rs"]
#[allow(dead_code, reason = "the command needs more of it")]
mod error;
#[path = "../../crates/ribbonfilter-cli/src/input/mod.rs"]
#[allow(dead_code, reason = "the command needs more of it")]
mod input;
#[path = "../../crates/ribbonfilter-cli/src/progress.rs"]
#[allow(dead_code, reason = "the command needs more of it")]
mod progress;
#[path = "../../crates/ribbonfilter-cli/src/values.rs"]
#[allow(dead_code, reason = "the command needs more of it")]
mod values;

use clap::{Args, Command, FromArgMatches};
use input::{Flow, Format, InputArguments, Inputs, Options, PairArguments};
use libfuzzer_sys::fuzz_target;
use ribbonfilter::Key;
use std::io::Write;
use std::path::PathBuf;

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("room for it");
    use std::os::fd::AsRawFd;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let formats = formats();
    let (format, simple) = formats[usize::from(how) % formats.len()];
    let one = read(&path, format, 1);
    let two = read(&path, format, 2);
    match (one, two) {
        (Ok(one), Ok(two)) => {
            assert!(one == two);
            if simple {
                assert_eq!(one.iter().map(|found| found.0).collect::<Vec<_>>(), lines(bytes));
            }
        }
        (Err(one), Err(two)) => {
            assert!(!simple, "{one:?}");
            assert_eq!(format!("{one:?}"), format!("{two:?}"));
        }
        (one, two) => panic!("{one:?}, but {two:?}"),
    }
});

/// A format for each way to call the command; whether it is that of plain lines.
fn formats() -> [(Format, bool); 8] {
    let keys = |arguments| {
        let format = arguments_of::<InputArguments>(arguments).format();
        (format.expect("good arguments"), arguments == ["--plain"])
    };
    let pairs = |arguments| (arguments_of::<PairArguments>(arguments).format(), false);
    [
        keys(&["--plain"]),
        keys(&[]),
        keys(&["--null"]),
        keys(&["--input", "hex"]),
        keys(&["--input", "u64le"]),
        keys(&["--column", "2", "--delimiter", ","]),
        pairs(&[]),
        pairs(&["--input", "hex"]),
    ]
}

/// The arguments as the command would parse them.
fn arguments_of<A: Args>(arguments: &[&str]) -> A {
    let command = A::augment_args(Command::new("ribbon").no_binary_name(true));
    let matches = command.try_get_matches_from(arguments).expect("good arguments");
    A::from_arg_matches(&matches).expect("good arguments")
}

/// Every key's hash with its value, if it has one, and its record.
type Found = (u64, Option<u64>, Vec<u8>);

fn read(path: &std::path::Path, format: Format, threads: usize) -> error::Result<Vec<Found>> {
    let inputs = Inputs::new(&[path.into()])?;
    let progress = progress::Progress::none();
    let options = Options { key_seed: 7, threads, progress: &progress };
    let mut found = Vec::new();
    input::read(
        &inputs,
        format,
        options,
        |_, _: &mut ()| {},
        |batch, ()| {
            for (index, &hash) in batch.hashes().iter().enumerate() {
                let value = batch.values().get(index).copied();
                found.push((hash, value, batch.record(index).to_vec()));
            }
            Ok(Flow::Continue)
        },
    )?;
    Ok(found)
}

/// The hashes of all lines.
fn lines(bytes: &[u8]) -> Vec<u64> {
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines = if bytes.is_empty() { Vec::new() } else { whole.split(|&byte| byte == b'\n').collect() };
    lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line).key_hash(7)).collect()
}
