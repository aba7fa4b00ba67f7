//! A system that refuses: memory, space in a file, input that breaks off. And readers who come
//! while a file is replaced.

#![cfg(target_os = "linux")]

use crate::support::{Folder, RIBBON, full, lines};
use ribbonfilter::Filter;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs a command of the shell in the folder, where `ribbon` is the variable `$RIBBON`.
fn shell(folder: &Folder, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("RIBBON", RIBBON).current_dir(folder.path(""));
    command.stdin(Stdio::null()).output().expect("a shell")
}

/// Allocations below this may end the process where the system refuses them: the standard library
/// and the C library have no other way.
const SMALL: u64 = 1 << 16;

/// Under every limit on its address space the command builds the same filter or says in one line
/// that there is no memory, and leaves nothing.
#[test]
fn too_little_address_space() {
    let folder = Folder::new();
    folder.write("keys", lines(if full() { 1_000_000 } else { 300_000 }).concat());
    folder.good("build keys --threads 1 -o good.ribbon");
    let good = folder.read("good.ribbon");
    let (mut refused, mut built) = (0, 0);
    let step = if full() { 256 } else { 2048 };
    for kilobytes in (12 << 10..48 << 10).step_by(step) {
        for threads in [1, 3] {
            folder.write("out.ribbon", "old");
            let build = format!("build keys --force --threads {threads} -o out.ribbon");
            let script = format!("ulimit -v {kilobytes} && exec \"$RIBBON\" {build}");
            let output = shell(&folder, &script);
            let said = String::from_utf8_lossy(&output.stderr);
            let what = format!("{kilobytes} KiB, {threads} threads: {:?}, {said}", output.status);
            if output.status.success() {
                assert!(folder.read("out.ribbon") == good, "{what}");
                built += 1;
                continue;
            }
            assert_eq!(folder.read("out.ribbon"), b"old", "{what}");
            assert_eq!(folder.names(), ["good.ribbon", "keys", "out.ribbon"], "{what}");
            match output.status.code() {
                Some(2) => assert!(said.contains("memory") && said.lines().count() == 1, "{what}"),
                Some(127) => assert!(said.contains("shared"), "not even started: {what}"),
                _ => assert!(is_small_refusal(&said), "{what}"),
            }
            refused += 1;
        }
    }
    println!("{built} times built, {refused} times refused");
    assert!(built > 0 && refused > 0, "{built} built, {refused} refused");
}

/// Whether the process was ended by the standard library for few bytes, or by the C library.
/// Several threads may say so at once.
fn is_small_refusal(said: &str) -> bool {
    let mut numbers = said.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    match said.contains("memory allocation of ") {
        true => numbers.all(|bytes| bytes < SMALL),
        false => said.starts_with("Fatal glibc error") && said.contains("memory"),
    }
}

/// A limit on the size of files ends the process by a signal, or where that is ignored by an error;
/// the old file stays, and no other.
#[test]
fn a_limit_on_the_size_of_files() {
    let folder = Folder::new();
    folder.write("keys", lines(200_000).concat());
    folder.write("old", "precious");
    let build = "ulimit -f 16 && exec \"$RIBBON\" build keys --force --quiet -o old";
    let killed = shell(&folder, build);
    assert!(killed.status.signal().is_some(), "{killed:?}");
    let told = shell(&folder, &format!("trap '' XFSZ; {build}"));
    assert_eq!(told.status.code(), Some(2), "{told:?}");
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(said.contains("old: File too large") && said.lines().count() == 1, "{said}");
    assert_eq!(folder.read("old"), b"precious");
    assert_eq!(folder.names(), ["keys", "old"]);
}

/// Input that gives some megabytes of lines and then an error: the controlling end of a terminal
/// whose other end is closed.
#[test]
fn input_that_breaks_off() {
    let folder = Folder::new();
    folder.write("old", "precious");
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a terminal");
    let name = ptsname(&controller, Vec::new()).expect("a name").into_string().expect("ASCII");
    let mut terminal = File::options().read(true).write(true).open(name).expect("a terminal");
    let mut settings = tcgetattr(&terminal).expect("settings");
    settings.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &settings).expect("settings");
    let mut command = folder.command("build --force -o old");
    command.stdin(controller).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("ribbon runs");
    drop(command); // it holds the controlling end, too
    terminal.write_all(lines(100_000).concat().as_bytes()).expect("it reads");
    drop(terminal);
    let output = child.wait_with_output().expect("ribbon ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said, "ribbon: standard input: Input/output error\n");
    assert_eq!(folder.read("old"), b"precious");
    assert_eq!(folder.names(), ["old"]);
}

/// While a file is replaced again and again, whoever opens it sees the one or the other, whole, and
/// a map of the one outlives its replacement.
#[test]
fn readers_during_replacement() {
    let folder = Folder::new();
    folder.write("keys", lines(20_000).concat());
    folder.good("build keys --fpr 0.01 -o a.ribbon");
    folder.good("build keys --fpr 0.001 -o b.ribbon");
    folder.good("build keys --fpr 0.01 -o target");
    let versions = [folder.read("a.ribbon"), folder.read("b.ribbon")];
    let path = folder.path("target");
    let is_over = AtomicBool::new(false);
    let read = || {
        let mut seen = [0, 0];
        let mut kept = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let filter = Filter::open_file(&path).expect("always a filter");
            let which = versions.iter().position(|bytes| bytes == filter.as_bytes());
            seen[which.expect("one of the two, whole")] += 1;
            filter.verify().expect("whole");
            kept.truncate(4);
            kept.push(map(&path));
        }
        for filter in kept {
            filter.verify().expect("still what was mapped");
            assert!(filter.contains("key number 0"));
        }
        seen
    };
    let seen = std::thread::scope(|scope| {
        let readers = [(); 2].map(|()| scope.spawn(read));
        for round in 0..if full() { 200 } else { 20 } {
            let rate = ["0.001", "0.01"][round % 2];
            folder.good(&format!("build keys --force --fpr {rate} -o target"));
        }
        is_over.store(true, Ordering::Relaxed);
        readers.map(|reader| reader.join().expect("no reader fails"))
    });
    println!("readers saw {seen:?}");
    assert!(seen.iter().all(|seen| seen[0] + seen[1] > 0));
}

#[expect(unsafe_code, reason = "files here are replaced, never changed")]
fn map(path: &std::path::Path) -> Filter<ribbonfilter::MappedBytes> {
    // SAFETY: the command gives the name to a new file and leaves the old one as it is.
    unsafe { Filter::map_file(path) }.expect("always a filter")
}
