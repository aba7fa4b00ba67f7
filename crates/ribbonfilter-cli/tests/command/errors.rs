//! Every error prints one line, exits with status 2 and leaves no file.

use crate::support::{Folder, RIBBON, Ran, feed, gzip, lines, zstd};
use std::fs;
use std::process::{Command, Stdio};

/// A directory with keys and a filter of them.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("keys", lines(1000).concat());
    folder.good("build keys -o good.ribbon");
    folder
}

/// The build fails with this message and leaves no file.
#[track_caller]
fn build_fails(folder: &Folder, arguments: &str, message: &str) {
    let before = folder.names();
    folder.run(&format!("build -o out.ribbon {arguments}")).fails_with(message);
    assert_eq!(folder.names(), before);
}

#[test]
fn input_that_cannot_be_read() {
    let folder = folder();
    fs::create_dir(folder.path("folder")).expect("a directory");
    build_fails(&folder, "none", "none: no such file or directory");
    build_fails(&folder, "keys none", "none: no such file or directory");
    build_fails(&folder, "folder", "folder: is a directory: name the files in it");
    build_fails(&folder, "keys/below", "keys/below: ");
    for command in ["query good.ribbon --keys", "verify good.ribbon --keys"] {
        folder.run(&format!("{command} none")).fails_with("none: no such file or directory");
    }
}

#[test]
fn input_in_the_wrong_format() {
    let folder = folder();
    folder.write("odd", "00ff\nABC\n");
    build_fails(&folder, "--input hex odd", "odd, line 2: 3 hexadecimal digits, an odd number");
    folder.write("digits", "00ff:1\n00fg:2\n");
    build_fails(&folder, "--input hex digits", "digits, line 2: 'g' is not a hexadecimal digit");
    folder.write("blank", "00ff\n\n");
    build_fails(&folder, "--input hex blank", "blank, line 2: no hexadecimal digits");
    // Lines are counted across chunks.
    folder.write("late", "00ff00ff\n".repeat(200_000) + "x\n");
    build_fails(&folder, "--input hex blank late", "blank, line 2");
    build_fails(&folder, "--input hex late --threads 3", "late, line 200001: 'x'");
    folder.write("eleven", [0; 11]);
    build_fails(&folder, "--input u64le eleven", "eleven, integer 2: 3 bytes instead of 8");
    folder.write("table", "a\tb\nc\n");
    build_fails(&folder, "--column 2 table", "table, line 2: no column 2, only 1");
    folder.write("empty", "");
    build_fails(&folder, "empty", "empty: contains no keys");
    build_fails(&folder, "", "standard input: contains no keys");
    for compressed in [gzip(&folder.read("keys")), zstd(&folder.read("keys"))] {
        folder.write("cut", &compressed[..compressed.len() / 2]);
        build_fails(&folder, "cut", "cut: unexpected end of file");
        let mut corrupt = compressed.clone();
        corrupt[compressed.len() / 2..].fill(0x55);
        folder.write("corrupt", &corrupt);
        build_fails(&folder, "corrupt", "corrupt: ");
    }
    folder
        .run("query --input hex good.ribbon xyz")
        .fails_with("xyz: 'x' is not a hexadecimal digit");
    folder.run("query --input u64le good.ribbon -- -1").fails_with("-1: not an integer");
}

#[test]
fn invalid_settings() {
    let folder = folder();
    build_fails(&folder, "keys --fpr 2", "between 0 and 1");
    build_fails(&folder, "keys --fpr many", "write a rate as");
    build_fails(&folder, "keys --size 10", "10 bytes are too few");
    build_fails(&folder, "keys --memory 10K", "bytes of memory but may take only 10240");
    build_fails(&folder, "keys --memory 1K", "keys alone exceed the 1.0 KiB allowed");
    build_fails(&folder, "keys --memory 1K --spill .", "bytes of memory but may take only 1024");
    build_fails(&folder, "keys --spill .", "--memory <BYTES>");
    build_fails(&folder, "keys --memory 1K --spill none", "none: no such file or directory");
    build_fails(&folder, "keys --memory 1K --spill keys", "keys: is not a directory");
    build_fails(&folder, "keys --variant bloom", "[possible values: standard, homogeneous");
    build_fails(&folder, "keys --width 65", "[possible values: 16, 32, 64, 128]");
    build_fails(&folder, "keys --effort most", "[possible values: normal, thorough]");
    build_fails(&folder, "keys --fpr 0.1 --size 10", "cannot be used with");
    build_fails(&folder, "keys --delimiter ;", "--column");
    build_fails(&folder, "keys --input u64le --column 2", "are for lines");
    folder.run("query good.ribbon ada --keys keys").fails_with("cannot be used with");
    folder.run("build keys").fails_with("--output <OUT> (see `ribbon build --help`)");
    folder.run("plan --keys 1e6 --fpr 1.5").fails_with("between 0 and 1");
    folder.run("plan --keys 1e6 --effort 2").fails_with("[possible values: normal, thorough]");
    folder.run("plan --keys some").fails_with("write an integer");
    folder.run("plan --keys 1e6 --variant standard --width 16").fails_with("use width 128");
    folder.run("").fails_with("no command given");
    folder.run("bild").fails_with("build");
}

/// Every command that reads a filter rejects files that are not filters.
#[test]
fn files_that_are_not_filters() {
    let folder = folder();
    let good = folder.read("good.ribbon");
    let random: Vec<u8> =
        (0..5000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::create_dir(folder.path("folder")).expect("a directory");
    folder.write("empty", "");
    folder.write("random", &random);
    folder.write("cut", &good[..good.len() - 1]);
    folder.write("half", &good[..good.len() / 2]);
    folder.write("headless", &good[1..]);
    for (name, message) in [
        ("none", "no such file"),
        ("folder", "is not a regular file: name the file of a filter"),
        ("empty", "too few for a ribbon filter"),
        ("random", "are not a ribbon filter"),
        ("cut", "are not a ribbon filter"),
        ("half", "are not a ribbon filter"),
        ("headless", "truncated or has extra bytes"),
    ] {
        for arguments in ["info NAME", "info NAME --json", "query NAME ada", "verify NAME"] {
            let ran = folder.run(&arguments.replace("NAME", name));
            ran.fails_with(message);
            ran.fails_with(&format!("ribbon: {name}: "));
        }
    }
    let mut corrupt = good.clone();
    corrupt[100] ^= 4;
    folder.write("corrupt", &corrupt);
    folder.run("verify corrupt").fails_with("corrupt: the filter's data is corrupt");
}

#[test]
fn targets_that_cannot_be_written() {
    let folder = folder();
    fs::create_dir(folder.path("folder")).expect("a directory");
    let fails = |target: &str, message: &str| {
        folder.run(&format!("build keys --force -o {target}")).fails_with(message);
    };
    fails("folder", "folder: is a directory: name a file in it");
    fails("none/out.ribbon", "none/out.ribbon: no such file or directory");
    fails("keys/out.ribbon", "keys/out.ribbon: ");
    if cfg!(unix) {
        fails("/dev/null", "/dev/null: is not a regular file");
    }
    let path = folder.path("good.ribbon");
    let mut permissions = path.metadata().expect("a file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("permissions");
    let before = folder.read("good.ribbon");
    fails("good.ribbon", "good.ribbon: is read-only");
    assert_eq!(folder.read("good.ribbon"), before);
}

/// A file name with a line feed does not split the error into two lines.
#[cfg(unix)]
#[test]
fn control_characters_in_names_are_escaped() {
    let folder = folder();
    let ran = feed(folder.command("info").arg("two\nlines"), b"");
    ran.fails_with("two\\nlines: no such file");
}

/// Runs the command as a user other than root, for whom permissions are checked.
#[cfg(unix)]
fn run_as_nobody(folder: &Folder, arguments: &str) -> Ran {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let home = folder.path("");
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if !is_root {
        return folder.run(arguments);
    }
    fs::set_permissions(&home, PermissionsExt::from_mode(0o755)).expect("permissions");
    // Other users may not have access to the directory of the binary: copy it.
    let binary = folder.path("ribbon");
    if !binary.exists() {
        fs::copy(RIBBON, &binary).expect("a copy");
    }
    let mut command = Command::new(&binary);
    command.args(arguments.split_whitespace()).current_dir(&home).uid(65534).gid(65534);
    feed(&mut command, b"")
}

#[cfg(unix)]
#[test]
fn no_permission_to_read_or_write() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    for name in ["keys", "good.ribbon"] {
        fs::set_permissions(folder.path(name), PermissionsExt::from_mode(0o0))
            .expect("permissions");
    }
    fs::create_dir(folder.path("locked")).expect("a directory");
    fs::set_permissions(folder.path("locked"), PermissionsExt::from_mode(0o555))
        .expect("permissions");
    fs::create_dir(folder.path("open")).expect("a directory");
    fs::set_permissions(folder.path("open"), PermissionsExt::from_mode(0o777))
        .expect("permissions");
    folder.write("readable", "ada\n");
    let fails =
        |arguments: &str, message: &str| run_as_nobody(&folder, arguments).fails_with(message);
    fails("build keys -o open/out.ribbon", "keys: permission denied");
    fails("build readable -o locked/out.ribbon", "locked/out.ribbon: permission denied");
    fails("info good.ribbon", "good.ribbon: permission denied");
    assert_eq!(fs::read_dir(folder.path("open")).expect("a directory").count(), 0);
}

/// A full file system: the error says so, and no file is left on it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = folder();
    folder.write("many", lines(200_000).concat());
    fs::create_dir(folder.path("disk")).expect("a directory");
    let mount = Mount::small(&folder.path("disk"));
    let Some(mount) = mount else {
        eprintln!("skipped: a small file system can only be mounted by root");
        return;
    };
    fs::write(mount.0.join("old.ribbon"), "precious").expect("enough space");
    folder.run("build many -o disk/new.ribbon").fails_with("disk/new.ribbon: no space left");
    folder.run("build many -f -o disk/old.ribbon").fails_with("disk/old.ribbon: no space left");
    assert_eq!(fs::read(mount.0.join("old.ribbon")).expect("a file"), b"precious");
    assert_eq!(fs::read_dir(&mount.0).expect("a directory").count(), 1);
    folder.run("build many -f -o keys.ribbon --memory 700K --threads 1 --spill disk").fails_with(
        "hashes could not be spilled to disk: No space left on device (os error 28): free some space",
    );
    assert!(!folder.path("keys.ribbon").exists());
    assert_eq!(fs::read_dir(&mount.0).expect("a directory").count(), 1);
    folder.good("build keys -f -o disk/old.ribbon");
}

/// A mounted file system of 64 KiB.
#[cfg(target_os = "linux")]
struct Mount(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl Mount {
    fn small(path: &std::path::Path) -> Option<Self> {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(path).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success()).then(|| Self(path.to_owned()))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Standard output is a device without free space.
#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output() {
    let folder = folder();
    for arguments in ["info good.ribbon", "query good.ribbon --keys keys", "plan --keys 10"] {
        let mut command = folder.command(arguments);
        let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
        let output = command.stdout(full).stderr(Stdio::piped()).output().expect("ribbon runs");
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            message,
            "ribbon: standard output: no space left on the device: free some space, or write elsewhere\n"
        );
    }
}

/// If the reader closes the pipe, the command ends without a message.
#[cfg(unix)]
#[test]
fn a_broken_pipe() {
    use std::io::Read;
    let folder = folder();
    folder.write("many", lines(200_000).concat());
    folder.good("build many -o many.ribbon");
    for arguments in ["query many.ribbon --keys many", "query many.ribbon --keys many --threads 3"]
    {
        let mut command = folder.command(arguments);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ribbon runs");
        let mut stdout = child.stdout.take().expect("a pipe");
        stdout.read_exact(&mut [0; 10]).expect("some output");
        drop(stdout);
        let output = child.wait_with_output().expect("ribbon ends");
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert_eq!(output.stderr, b"");
    }
}
