//! A build that is killed leaves the old file or the new one, complete, and nothing incomplete.

use crate::support::{Folder, full, lines};
use std::time::{Duration, Instant};

#[test]
fn killed_at_any_moment() {
    killed("build keys", "build keys --fpr 0.001");
}

#[test]
fn an_exact_set_killed_at_any_moment() {
    let build = "exact build --members few --universe keys";
    killed(build, &format!("{build} --key-seed 7"));
}

/// Kills a command that replaces the output of another one.
fn killed(old: &str, new: &str) {
    let folder = Folder::new();
    let keys = lines(if full() { 100_000 } else { 50_000 });
    folder.write("few", keys[..keys.len() / 10].concat());
    folder.write("keys", keys.concat());
    folder.good(&format!("{old} -o old.ribbon"));
    let started = Instant::now();
    folder.good(&format!("{new} -o new.ribbon"));
    let replace = format!("{new} --force --quiet -o target");
    let build_time = started.elapsed();
    let (old, new) = (folder.read("old.ribbon"), folder.read("new.ribbon"));

    let rounds = if full() { 500 } else { 20 };
    let (mut untouched, mut replaced) = (0, 0);
    for round in 0..rounds {
        folder.write("target", &old);
        let mut command = folder.command(&replace);
        let mut child = command.spawn().expect("ribbon runs");
        std::thread::sleep(moment(build_time, round, rounds));
        let _ = child.kill();
        child.wait().expect("the command ends");
        match folder.read("target") {
            target if target == old => untouched += 1,
            target if target == new => replaced += 1,
            target => panic!("round {round}: {} bytes that are neither", target.len()),
        }
        let (temporary, names): (Vec<_>, Vec<_>) =
            folder.names().into_iter().partition(|name| name.starts_with(".ribbon-"));
        assert_eq!(names, ["few", "keys", "new.ribbon", "old.ribbon", "target"]);
        for name in temporary {
            assert!(may_be_left(&folder, &name, &new), "round {round}: {name}");
            std::fs::remove_file(folder.path(&name)).expect("a file to remove");
        }
    }
    println!("{untouched} times the old file, {replaced} times the new one");
    assert!(untouched > 0);
    assert!(!full() || replaced > 0);
}

/// Spreads the moments evenly over the build and somewhat beyond, with jitter from the clock.
fn moment(build_time: Duration, round: u32, rounds: u32) -> Duration {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let jitter = time.map_or(0, |time| time.subsec_micros() % 1000);
    build_time * (1000 * round + jitter) / (900 * rounds)
}

/// Whether a killed build may leave this temporary file. Where unnamed files are supported, only the
/// complete new one: replacing a file takes a link and a rename, and the kill may come in between.
fn may_be_left(folder: &Folder, name: &str, new: &[u8]) -> bool {
    !has_unnamed_files(folder) || folder.read(name) == new
}

#[cfg(target_os = "linux")]
fn has_unnamed_files(folder: &Folder) -> bool {
    use rustix::fs::{Mode, OFlags, open};
    open(folder.path(""), OFlags::TMPFILE | OFlags::WRONLY, Mode::from_raw_mode(0o600)).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn has_unnamed_files(_: &Folder) -> bool {
    false
}
