//! The pure core's time, by size: `cargo bench --package stepstone-daemon --bench core`.
#![allow(missing_docs, unused_crate_dependencies)]

mod support;

use divan::{Bencher, black_box};
use stepstone_daemon::roadmap::Roadmap;

/// Goals; each waits for three others.
const SIZES: [usize; 4] = [10, 1_000, 10_000, 40_000];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES)]
fn parse(bencher: Bencher<'_, '_>, goals: usize) {
    let text = support::worklist(goals, 3);
    bencher.bench(|| Roadmap::parse(black_box(text.as_bytes())).is_ok());
}

#[divan::bench(args = SIZES)]
fn print(bencher: Bencher<'_, '_>, goals: usize) {
    let roadmap = support::roadmap(goals, 3);
    bencher.bench(|| black_box(&roadmap).print().len());
}

/// On a content that nobody asked anything of yet, so that the graph is made anew.
#[divan::bench(args = SIZES)]
fn first_ready(bencher: Bencher<'_, '_>, goals: usize) {
    first(bencher, goals, |roadmap| support::read(roadmap, "ready"));
}

#[divan::bench(args = SIZES)]
fn first_waves(bencher: Bencher<'_, '_>, goals: usize) {
    first(bencher, goals, |roadmap| support::read(roadmap, "waves"));
}

#[divan::bench(args = SIZES)]
fn first_ready_showing_one(bencher: Bencher<'_, '_>, goals: usize) {
    first(bencher, goals, |roadmap| support::read_one(roadmap, "ready"));
}

#[divan::bench(args = SIZES)]
fn first_waves_showing_one(bencher: Bencher<'_, '_>, goals: usize) {
    first(bencher, goals, |roadmap| support::read_one(roadmap, "waves"));
}

fn first(bencher: Bencher<'_, '_>, goals: usize, read: impl Fn(&Roadmap) -> usize + Sync) {
    let text = support::worklist(goals, 3);
    bencher.with_inputs(|| Roadmap::parse(text.as_bytes()).expect("the file is well-formed")).bench_values(
        |roadmap| {
            let length = read(&roadmap);
            // Taking the content apart again is not what is measured.
            (length, roadmap)
        },
    );
}

#[divan::bench(args = SIZES)]
fn next(bencher: Bencher<'_, '_>, goals: usize) {
    let roadmap = support::roadmap(goals, 3);
    bencher.bench(|| support::read(black_box(&roadmap), "next"));
}

#[divan::bench(args = SIZES)]
fn add_and_print(bencher: Bencher<'_, '_>, goals: usize) {
    let roadmap = support::roadmap(goals, 3);
    bencher.bench(|| support::add(black_box(&roadmap)));
}

#[divan::bench(args = SIZES)]
fn start_and_print(bencher: Bencher<'_, '_>, goals: usize) {
    let roadmap = support::roadmap(goals, 3);
    bencher.bench(|| support::start(black_box(&roadmap)));
}

#[divan::bench(args = [1_000, 100_000])]
fn waves_of_a_chain(bencher: Bencher<'_, '_>, goals: usize) {
    let roadmap = support::chain(goals);
    bencher.bench(|| support::read(black_box(&roadmap), "waves"));
}
