//! Any bytes as a goal file: refused, or read; and what is read prints to a file that is read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stepstone_daemon::roadmap::{Roadmap, difference};

fuzz_target!(|bytes: &[u8]| {
    let Ok(roadmap) = Roadmap::parse(bytes) else { return };
    let printed = roadmap.print();
    let again = Roadmap::parse(&printed).expect("what is printed can be read");
    assert!(difference(&roadmap, &again).is_empty());
    assert_eq!(roadmap.revision(), again.revision());
    assert_eq!(printed, again.print(), "our own layout is kept byte for byte");
});
