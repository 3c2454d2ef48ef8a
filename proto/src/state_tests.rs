use std::os::unix::fs::PermissionsExt;

use super::*;

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("stepstone-state-{}", fresh_id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn directory(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_directory_is_refused_by_name_for_each_defect() {
    let scratch = Scratch::new();
    for mode in [0o700, 0o750, 0o755] {
        let fine = scratch.directory(&format!("fine-{mode:o}"), mode);
        assert!(verify(&fine).is_ok(), "{mode:o}");
    }
    for mode in [0o770, 0o702, 0o777, 0o1777] {
        let path = scratch.directory(&format!("writable-{mode:o}"), mode);
        let error = verify(&path).unwrap_err();
        assert!(matches!(&error, Untrusted::Writable { mode: found, .. } if *found == mode), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    let link = scratch.0.join("link");
    std::os::unix::fs::symlink(scratch.0.join("fine-700"), &link).unwrap();
    assert!(matches!(verify(&link).unwrap_err(), Untrusted::Link(path) if path == link));
    let file = scratch.0.join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(verify(&file).unwrap_err(), Untrusted::NoDirectory(path) if path == file));
    assert!(verify(&scratch.0.join("none")).unwrap_err().is_missing());
    if uid() == 0 {
        let theirs = scratch.directory("theirs", 0o700);
        std::os::unix::fs::chown(&theirs, Some(12345), None).unwrap();
        assert!(matches!(verify(&theirs).unwrap_err(), Untrusted::NotOurs { owner: 12345, .. }));
    }
}

#[test]
fn what_is_missing_is_made_for_us_alone_but_never_the_home() {
    let scratch = Scratch::new();
    let home = scratch.directory("home", 0o755);
    let layout = Layout::below(&home, uid(), std::ffi::OsStr::new("box"));
    assert!(verify_layout(&layout).unwrap_err().is_missing());
    let identity = prepare(&layout).unwrap();
    assert_eq!(prepare(&layout).unwrap(), identity);
    assert_eq!(verify_layout(&layout).unwrap(), identity);
    for directory in [layout.directory(), &layout.locks(), &layout.journal()] {
        assert_eq!(directory.metadata().unwrap().mode() & 0o777, 0o700, "{}", directory.display());
    }
    let none = scratch.0.join("no-home");
    let missing = Layout::below(&none, uid(), std::ffi::OsStr::new("box"));
    assert!(matches!(prepare(&missing).unwrap_err(), Untrusted::NoHome(path) if path == none));
    assert!(!none.exists());
}

#[test]
fn a_lock_that_was_let_go_is_free_also_while_a_child_that_is_being_started_has_its_file() {
    let scratch = Scratch::new();
    let path = scratch.0.join("a.lock");
    let held = LockFile::try_take(&path).unwrap().unwrap();
    let inherited = held.file.try_clone().unwrap();
    drop(held);
    assert!(LockFile::try_take(&path).unwrap().is_some());
    drop(inherited);
}

#[test]
fn a_lock_excludes_others_until_it_is_dropped_and_leaves_its_file() {
    let scratch = Scratch::new();
    let path = scratch.0.join("a.lock");
    let held = LockFile::try_take(&path).unwrap().unwrap();
    assert!(held.is_at_its_path());
    assert!(LockFile::try_take(&path).unwrap().is_none());
    drop(held);
    assert!(LockFile::try_take(&path).unwrap().is_some());
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_lock_whose_file_was_removed_no_longer_counts() {
    let scratch = Scratch::new();
    let path = scratch.0.join("a.lock");
    let old = LockFile::try_take(&path).unwrap().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(!old.is_at_its_path());
    let new = LockFile::try_take(&path).unwrap().unwrap();
    assert!(new.is_at_its_path());
    assert!(!old.is_at_its_path());
}

#[test]
fn a_lock_is_never_taken_through_a_link() {
    let scratch = Scratch::new();
    let target = scratch.0.join("target");
    std::fs::write(&target, "").unwrap();
    let path = scratch.0.join("a.lock");
    std::os::unix::fs::symlink(&target, &path).unwrap();
    assert!(LockFile::try_take(&path).is_err());
}

#[test]
fn fresh_ids_differ() {
    let ids: std::collections::HashSet<_> = (0..1000).map(|_| fresh_id()).collect();
    assert_eq!(ids.len(), 1000);
    assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
}

#[test]
fn a_directory_takes_bytes_or_not_and_is_left_as_it_was() {
    let scratch = Scratch::new();
    assert!(takes_bytes(&scratch.0));
    assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 0);
    assert!(!takes_bytes(&scratch.0.join("none")));
}
