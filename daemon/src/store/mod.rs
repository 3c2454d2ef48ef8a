//! One worklist on disk: stamp and parse, locks, durable replacement, queue, journal, watching.
