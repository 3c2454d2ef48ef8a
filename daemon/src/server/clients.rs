//! Who is connected, for `daemon status`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use stepstone_proto::operation::{ClientInfo, Context};
use stepstone_proto::protocol::ConnectedClient;

#[derive(Debug)]
struct Known {
    context: Context,
    last: Instant,
}

/// The connections, and what their clients said about themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct Clients(Arc<Book>);

#[derive(Debug, Default)]
struct Book {
    next: AtomicU64,
    known: Mutex<HashMap<u64, Known>>,
}

/// One connection's place; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    clients: Clients,
    number: u64,
    asked: AtomicBool,
}

impl Clients {
    fn known(&self) -> MutexGuard<'_, HashMap<u64, Known>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self) -> Arc<Seat> {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        Arc::new(Seat { clients: self.clone(), number, asked: AtomicBool::new(false) })
    }

    /// Once per process, by its latest request, with what that was about. `root` is the directory, until somebody
    /// asks which root that has.
    pub(super) fn list(&self) -> Vec<(ConnectedClient, Context)> {
        let known = self.known();
        let mut latest: HashMap<u32, &Known> = HashMap::new();
        for one in known.values() {
            let entry = latest.entry(one.context.client.pid).or_insert(one);
            if one.last > entry.last {
                *entry = one;
            }
        }
        let mut list: Vec<_> = latest
            .into_values()
            .map(|one| {
                let ClientInfo { name, version, pid } = one.context.client.clone();
                let last_request_ms = u64::try_from(one.last.elapsed().as_millis()).unwrap_or(u64::MAX);
                let root = one.context.cwd.clone();
                (ConnectedClient { name, version, pid, root, last_request_ms }, one.context.clone())
            })
            .collect();
        list.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name).then(a.pid.cmp(&b.pid)));
        list
    }
}

impl Seat {
    /// A request has begun on this connection.
    pub(super) fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether any request has.
    pub(super) fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Who asks on this connection, and about what.
    pub(super) fn introduce(&self, context: &Context) {
        let last = Instant::now();
        match self.clients.known().entry(self.number) {
            // As usual, the same as before.
            Entry::Occupied(mut known) if known.get().context == *context => known.get_mut().last = last,
            known => {
                known.insert_entry(Known { context: context.clone(), last });
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.clients.known().remove(&self.number);
    }
}
