//! Chances that a seed decides.

/// A small generator (xorshift64*); good enough to choose what to do next.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// From a seed; any value will do.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`, which is not zero.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// One of these.
    pub(super) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let index = self.below(u64::try_from(choices.len()).ok()?);
        choices.get(usize::try_from(index).ok()?)
    }
}
