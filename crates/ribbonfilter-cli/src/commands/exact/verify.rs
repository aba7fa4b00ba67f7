//! `ribbon exact verify`: checks that a file is intact and that keys have the right results.

use super::open;
use crate::commands::verify::{Wrong, look_for_all, report_wrong};
use crate::error::{Result, shown};
use crate::filter_file;
use crate::input::GroupedArguments;
use crate::output::print;
use crate::show;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check that an exact set is intact and that keys have the right results
///
/// Reads every byte and compares the checksums. With --members and --others, also looks up every
/// key and reports the first with a wrong result. A wrong result means that the set was built from
/// other keys, or with other input options (--input, --column, --groups).
///
/// Exit status: 0 on success, 1 if a result is wrong, 2 if the file is corrupt or after another
/// error. The file must not be modified while it is in use.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file of the exact set, which must not be modified during the run
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// A file of keys that must all be members (`-` is standard input); may be repeated
    #[arg(long, value_name = "FILE")]
    members: Vec<PathBuf>,
    /// A file of keys none of which may be a member (`-` is standard input); may be repeated
    #[arg(long, value_name = "FILE")]
    others: Vec<PathBuf>,
    /// Number of threads; 0 for one per core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    input: GroupedArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon exact verify revoked.ribbon
  ribbon exact verify revoked.ribbon --members revoked.txt --others valid.txt.gz";

pub fn run(arguments: &Arguments) -> Result {
    let path = &arguments.set;
    let mut message = format!("{}: intact", shown(path));
    let sides = [(&arguments.members, true, "members"), (&arguments.others, false, "others")];
    let sides: Vec<_> = sides.into_iter().filter(|(files, ..)| !files.is_empty()).collect();
    if sides.is_empty() {
        let set = filter_file::open_exact(path)?;
        set.verify().map_err(|error| filter_file::failed(path, &error))?;
    } else {
        let format = arguments.input.format()?;
        let set = open(path, format.grouped)?;
        set.verify().map_err(|error| filter_file::failed(path, &error))?;
        for (files, is_member, name) in sides {
            match look_for_all(files, format, arguments.threads, &set, is_member)? {
                Ok(keys) => message += &format!(", all {} {name} right", show::count(keys)),
                Err(wrong) => return Ok(report_wrong(path, &describe(&wrong, is_member))),
            }
        }
    }
    print(message + "\n")?;
    Ok(ExitCode::SUCCESS)
}

fn describe(wrong: &Wrong, is_member: bool) -> String {
    let Wrong { location, record, unknown_group } = wrong;
    let what = match (unknown_group, is_member) {
        (true, _) => "is of an unknown group",
        (_, true) => "is not a member",
        (_, false) => "is a member",
    };
    format!("the key of {location} {what} ({record}): was it built from other keys?")
}
