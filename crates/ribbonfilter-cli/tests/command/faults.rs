//! Fault injection: memory limits, file size limits, input that ends with an error. Also readers
//! that open a file while it is replaced.

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

/// Runs a shell script in the directory. The variable `$RIBBON` is the path of the command.
fn shell(folder: &Folder, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("RIBBON", RIBBON).current_dir(folder.path(""));
    // With this variable the standard library prints a backtrace when a small allocation fails. If an
    // allocation for the backtrace fails, too, it waits for its own lock, for ever.
    command.env_remove("RUST_BACKTRACE");
    command.stdin(Stdio::null()).output().expect("a shell")
}

/// A failed allocation below this size may abort the process: the standard library and the C
/// library cannot report it otherwise.
const SMALL: u64 = 1 << 16;

/// With any limit on its address space, the command builds the same filter, or prints one line that
/// says that there is not enough memory and leaves no file.
#[test]
fn too_little_address_space() {
    let folder = Folder::new();
    folder.write("keys", lines(if full() { 1_000_000 } else { 300_000 }).concat());
    folder.good("build keys --threads 1 -o good.ribbon");
    let good = folder.read("good.ribbon");
    let (mut failed, mut built) = (0, 0);
    let step = if full() { 256 } else { 2048 };
    // The code alone takes more or less address space, depending on features and optimisation. Below
    // this limit the system cannot load it.
    let loads = |kilobytes: &u32| {
        shell(&folder, &format!("ulimit -v {kilobytes} && exec \"$RIBBON\" --version"))
            .status
            .success()
    };
    let least = (12 << 10..128 << 10).step_by(1024).find(loads).expect("a limit");
    for kilobytes in (least - 1024..least + (36 << 10)).step_by(step) {
        for threads in [1, 3] {
            folder.write("out.ribbon", "old");
            let build = format!("build keys --force --threads {threads} -o out.ribbon");
            let script = format!("ulimit -v {kilobytes} && exec \"$RIBBON\" {build}");
            let output = shell(&folder, &script);
            let stderr = String::from_utf8_lossy(&output.stderr);
            let what = format!("{kilobytes} KiB, {threads} threads: {:?}, {stderr}", output.status);
            if output.status.success() {
                assert!(folder.read("out.ribbon") == good, "{what}");
                built += 1;
                continue;
            }
            assert_eq!(folder.read("out.ribbon"), b"old", "{what}");
            assert_eq!(folder.names(), ["good.ribbon", "keys", "out.ribbon"], "{what}");
            match output.status.code() {
                Some(2) => {
                    assert!(stderr.contains("memory") && stderr.lines().count() == 1, "{what}");
                }
                Some(127) => assert!(stderr.contains("shared"), "not even started: {what}"),
                None if kilobytes < least => {
                    assert_eq!(stderr, "", "killed while it was loaded: {what}");
                }
                _ => assert!(is_small_allocation(&stderr), "{what}"),
            }
            failed += 1;
        }
    }
    println!("{built} builds succeeded, {failed} failed");
    assert!(built > 0 && failed > 0, "{built} built, {failed} failed");
}

/// Whether the standard library aborted the process because of a small allocation, or the C library
/// did. Several threads may print the message at the same time.
fn is_small_allocation(stderr: &str) -> bool {
    let mut numbers = stderr.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    match stderr.contains("memory allocation of ") {
        true => numbers.all(|bytes| bytes < SMALL),
        false => stderr.starts_with("Fatal glibc error") && stderr.contains("memory"),
    }
}

/// A limit on the size of files kills the process with a signal. If the signal is ignored, the
/// command fails with an error. Either way, only the old file remains.
#[test]
fn a_limit_on_the_size_of_files() {
    let folder = Folder::new();
    folder.write("keys", lines(200_000).concat());
    folder.write("old", "precious");
    let build = "ulimit -f 16 && exec \"$RIBBON\" build keys --force --quiet -o old";
    let killed = shell(&folder, build);
    assert!(killed.status.signal().is_some(), "{killed:?}");
    let failed = shell(&folder, &format!("trap '' XFSZ; {build}"));
    assert_eq!(failed.status.code(), Some(2), "{failed:?}");
    let stderr = String::from_utf8_lossy(&failed.stderr);
    assert!(stderr.contains("old: File too large") && stderr.lines().count() == 1, "{stderr}");
    assert_eq!(folder.read("old"), b"precious");
    assert_eq!(folder.names(), ["keys", "old"]);
}

/// Input that yields some megabytes of lines and then an error: the controlling end of a terminal
/// whose other end is closed.
#[test]
fn input_that_ends_with_an_error() {
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
    drop(command); // it also holds the controlling end
    terminal.write_all(lines(100_000).concat().as_bytes()).expect("the command reads");
    drop(terminal);
    let output = child.wait_with_output().expect("ribbon ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert_eq!(stderr, "ribbon: standard input: Input/output error\n");
    assert_eq!(folder.read("old"), b"precious");
    assert_eq!(folder.names(), ["old"]);
}

/// While a file is replaced repeatedly, a reader sees one of the two versions, complete. A mapping
/// of a version remains valid after its replacement.
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
            seen[which.expect("one of the two versions")] += 1;
            filter.verify().expect("intact");
            kept.truncate(4);
            kept.push(map(&path));
        }
        for filter in kept {
            filter.verify().expect("still intact");
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

#[expect(unsafe_code, reason = "files are replaced here, never modified")]
fn map(path: &std::path::Path) -> Filter<ribbonfilter::MappedBytes> {
    // SAFETY: the command gives the name to a new file and does not modify the old one.
    unsafe { Filter::map_file(path) }.expect("always a filter")
}
