//! Keeping everything on one processor.
//!
//! The system places two processes that pass a byte back and forth on one processor, and three that work a little longer
//! on several. To wake a processor that sleeps can take longer than the work, so the two kinds of wake-up are told apart.

use anyhow::Result;

/// This process, and what it starts, stay on one processor as long as this lives.
pub(super) struct OneProcessor {
    #[cfg(target_os = "linux")]
    before: rustix::thread::CpuSet,
}

impl OneProcessor {
    /// `None` where the system does not let programs choose.
    #[cfg(target_os = "linux")]
    pub(super) fn begin() -> Result<Option<Self>> {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
        let before = sched_getaffinity(None)?;
        let mut one = CpuSet::new();
        one.set(sched_getcpu());
        sched_setaffinity(None, &one)?;
        Ok(Some(Self { before }))
    }

    /// `None` where the system does not let programs choose.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn begin() -> Result<Option<Self>> {
        Ok(None)
    }
}

#[cfg(target_os = "linux")]
impl Drop for OneProcessor {
    fn drop(&mut self) {
        // Should it fail, what follows is measured on one processor too, and is slower.
        let _ = rustix::thread::sched_setaffinity(None, &self.before);
    }
}
