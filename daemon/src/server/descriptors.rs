//! Descriptors that the process was started with and that are not its business.
#![allow(unsafe_code)]

use std::os::fd::RawFd;
use std::path::Path;

/// Closes every descriptor but the three standard ones, so that whoever reads a pipe that leaked into this process
/// sees its end.
///
/// To be called first in `main`, while this process has one thread and has opened nothing.
pub fn close_foreign() {
    for descriptor in inherited() {
        // SAFETY: nothing in this process owns a descriptor above 2 yet, and the listing that named them is closed.
        unsafe { rustix::io::close(descriptor) };
    }
}

fn inherited() -> Vec<RawFd> {
    ["/proc/self/fd", "/dev/fd"].iter().find_map(|place| listed(Path::new(place))).unwrap_or_default()
}

fn listed(place: &Path) -> Option<Vec<RawFd>> {
    let numbers = std::fs::read_dir(place).ok()?.flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok());
    let mut numbers: Vec<RawFd> = numbers.filter(|number| *number > 2).collect();
    // The listing's own descriptor was among them and is gone by now.
    numbers.retain(|number| place.join(number.to_string()).symlink_metadata().is_ok());
    Some(numbers)
}
