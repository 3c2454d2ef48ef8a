//! What a contributor or packager would otherwise script.

fn main() {}
