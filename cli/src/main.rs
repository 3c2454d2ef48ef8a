//! `stepstone`: a repository's roadmap at the command line.

fn main() {}
