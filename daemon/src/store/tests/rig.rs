//! A disk that fails where a test wants it to.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::super::disk::Step;

type Hook = Box<dyn FnMut(Step, &Path, usize) -> io::Result<()> + Send>;

/// Stands before every call to the system.
#[derive(Default)]
pub(in super::super) struct Rig {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    calls: Vec<(Step, PathBuf)>,
    hook: Option<Hook>,
}

impl fmt::Debug for Rig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rig")
    }
}

impl Rig {
    pub(in super::super) fn before(&self, step: Step, at: &Path) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let number = inner.calls.len();
        inner.calls.push((step, at.to_owned()));
        // The hook is out of its place while it runs, so that what it does may come by here.
        let Some(mut hook) = inner.hook.take() else { return Ok(()) };
        drop(inner);
        let result = hook(step, at, number);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.hook.is_none() {
            inner.hook = Some(hook);
        }
        result
    }

    /// Forgets the calls so far, and calls `hook` before each one from now on, with its number from 0.
    pub(super) fn hook(&self, hook: impl FnMut(Step, &Path, usize) -> io::Result<()> + Send + 'static) {
        *self.inner.lock().unwrap() = Inner { calls: Vec::new(), hook: Some(Box::new(hook)) };
    }

    /// A disk without faults, and without a memory of calls.
    pub(super) fn heal(&self) {
        *self.inner.lock().unwrap() = Inner::default();
    }

    pub(super) fn calls(&self) -> Vec<(Step, PathBuf)> {
        self.inner.lock().unwrap().calls.clone()
    }

    pub(super) fn count(&self, step: Step) -> usize {
        let mut counts: HashMap<Step, usize> = HashMap::new();
        for (step, _) in self.calls() {
            *counts.entry(step).or_default() += 1;
        }
        counts.get(&step).copied().unwrap_or_default()
    }
}
