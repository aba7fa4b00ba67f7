//! Help, completions and manual pages, all generated from one definition.

use crate::support::Folder;

const COMMANDS: [&str; 20] = [
    "build",
    "query",
    "info",
    "verify",
    "plan",
    "shrink",
    "split",
    "cut",
    "join",
    "map",
    "map build",
    "map get",
    "map info",
    "exact",
    "exact build",
    "exact query",
    "exact info",
    "exact verify",
    "completions",
    "man",
];

#[test]
fn every_command_has_help_with_examples() {
    let folder = Folder::new();
    let all = folder.good("--help");
    for command in COMMANDS {
        assert!(command.contains(' ') || all.contains(&format!("\n  {command} ")), "{command}");
        let help = folder.good(&format!("{command} --help"));
        assert!(help.contains("Examples:\n  "), "{command}");
        assert!(help.contains(&format!("Usage: ribbon {command}")), "{command}");
    }
    assert!(folder.good("query --help").contains("must not be modified while it is in use"));
    assert!(folder.good("--version").starts_with("ribbon "));
}

#[test]
fn completions_contain_the_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.good(&format!("completions {shell}"));
        assert!(script.contains("bits-per-key"), "{shell}");
    }
    folder.run("completions tcsh").fails_with("tcsh");
}

#[test]
fn manual_pages_of_every_command() {
    let folder = Folder::new();
    folder.good("man .");
    for command in COMMANDS {
        let page = folder.read(&format!("ribbon-{}.1", command.replace(' ', "-")));
        let page = String::from_utf8(page).expect("text");
        assert!(page.contains(".TH ribbon"), "{command}");
    }
    assert!(folder.names().contains(&"ribbon.1".into()));
    folder.run("man none").fails_with("none: ");
}

/// Runs the first command of the README on the files of the repository.
#[cfg(unix)]
#[test]
fn the_first_command_of_the_readme() {
    use crate::support::{RIBBON, feed};
    let repository = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(repository.join("README.md")).expect("a README");
    let cargo = "cargo run --release -p ribbonfilter-cli --";
    let line = readme.lines().find(|line| line.starts_with("cargo run")).expect("a command");
    assert_eq!(line.matches(cargo).count(), 2);
    let folder = Folder::new();
    let line = line.replace("target/", &folder.path("").to_string_lossy()).replace(cargo, RIBBON);
    let mut shell = std::process::Command::new("sh");
    let ran = feed(shell.args(["-c", &line]).current_dir(repository), b"");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("486 keys, "), "{lines:?}");
    assert_eq!(lines[1..], ["maple"]);
}
