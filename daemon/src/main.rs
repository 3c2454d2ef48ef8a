//! `stepstoned`: the per-user engine that keeps roadmaps open and serializes their changes.

fn main() {}
