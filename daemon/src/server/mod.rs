//! The life of an engine: routes, events, start, idle, drain, signals, log.
