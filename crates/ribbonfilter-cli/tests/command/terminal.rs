//! Progress bars appear only on a terminal.

use crate::support::{Folder, lines};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::process::Stdio;

/// Returns what a command writes to standard error if it is a terminal.
fn on_a_terminal(folder: &Folder, arguments: &str) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a terminal");
    let size = Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&controller, size).expect("a size");
    let name = ptsname(&controller, Vec::new()).expect("a name").into_string().expect("ASCII");
    let terminal = File::options().read(true).write(true).open(name).expect("a terminal");
    let mut command = folder.command(arguments);
    command.env("TERM", "xterm").stdout(Stdio::null()).stderr(terminal);
    let mut child = command.spawn().expect("ribbon runs");
    // Close our copy of the terminal, so that reading ends when the command ends.
    drop(command);
    let mut seen = Vec::new();
    // On Linux, reading ends with an error instead of an end of file.
    let _ = File::from(controller).read_to_end(&mut seen);
    assert!(child.wait().expect("an end").success());
    String::from_utf8_lossy(&seen).into_owned()
}

#[test]
fn progress_is_for_terminals() {
    let folder = Folder::new();
    folder.write("keys", lines(300_000).concat());
    let seen = on_a_terminal(&folder, "build keys -o out.ribbon");
    for part in ["reading", "MiB", "/s", "left", "solving", "keys", "writing"] {
        assert!(seen.contains(part), "{seen:?} lacks {part:?}");
    }
    assert!(seen.ends_with("\u{1b}[2K"), "the bar is cleared: {seen:?}");
    assert_eq!(on_a_terminal(&folder, "build keys --force --quiet -o out.ribbon"), "");
    folder.write("few", lines(3000).concat());
    let build = "exact build --members few --universe keys -f -o exact.ribbon";
    let seen = on_a_terminal(&folder, build);
    for part in ["reading", "MiB", "solving", "keys", "writing"] {
        assert!(seen.contains(part), "{seen:?} lacks {part:?}");
    }
    assert!(seen.ends_with("\u{1b}[2K"), "the bar is cleared: {seen:?}");
    assert_eq!(on_a_terminal(&folder, &format!("{build} --quiet")), "");
    // `good` asserts that standard error, which is a pipe there, stays empty.
    folder.good("build keys --force -o out.ribbon");
    folder.good("verify out.ribbon --keys keys");
    assert!(on_a_terminal(&folder, "verify out.ribbon --keys keys").contains("verifying"));
}
