//! The input, cut into lines, with a bound on their length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The longest line that is read, in bytes: what the engine takes as one request.
pub const LIMIT: usize = stepstone_proto::protocol::BODY_LIMIT;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// One line, without its end.
    Whole(Vec<u8>),
    /// A line over the limit. All of it was passed over.
    TooLong,
    /// Nothing more comes.
    End,
}

/// Lines of a byte stream.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
    begun: Vec<u8>,
    passing_over: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads from `reader` lines of at most `limit` bytes.
    pub fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            limit,
            begun: Vec::new(),
            passing_over: false,
        }
    }

    /// The next line. May be dropped while it waits: what was read so far is kept for the next call.
    ///
    /// A last line without an end counts as one. A stream that fails has ended.
    pub async fn next(&mut self) -> Line {
        loop {
            let Ok(read) = self.reader.fill_buf().await else { return Line::End };
            if read.is_empty() {
                return self.last();
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            if !self.passing_over {
                if self.begun.len() + part.len() > self.limit {
                    self.begun = Vec::new();
                    self.passing_over = true;
                } else {
                    self.begun.extend_from_slice(part);
                }
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                if std::mem::take(&mut self.passing_over) {
                    return Line::TooLong;
                }
                return Line::Whole(std::mem::take(&mut self.begun));
            }
        }
    }

    fn last(&mut self) -> Line {
        if std::mem::take(&mut self.passing_over) {
            Line::TooLong
        } else if self.begun.is_empty() {
            Line::End
        } else {
            Line::Whole(std::mem::take(&mut self.begun))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8], limit: usize) -> Vec<Line> {
        let mut lines = Lines::new(input, limit);
        let mut read = Vec::new();
        loop {
            match lines.next().await {
                Line::End => return read,
                line => read.push(line),
            }
        }
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn every_line_is_read_also_the_last_one_without_an_end() {
        assert_eq!(all(b"a\n\nb\r\nc", 10).await, [whole("a"), whole(""), whole("b\r"), whole("c")]);
        assert_eq!(all(b"", 10).await, []);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_passed_over_whole_and_the_next_one_is_read() {
        assert_eq!(all(b"12345\n123456\n1\n", 5).await, [whole("12345"), Line::TooLong, whole("1")]);
        let mut long = vec![b'x'; 300_000];
        long.extend_from_slice(b"\nnext");
        assert_eq!(all(&long, 1000).await, [Line::TooLong, whole("next")]);
        assert_eq!(all(b"123456", 5).await, [Line::TooLong]);
    }

    #[tokio::test]
    async fn a_line_that_arrives_in_pieces_survives_readers_that_give_up_waiting() {
        use tokio::io::AsyncWriteExt;
        let (mut here, there) = tokio::io::duplex(4);
        let mut lines = Lines::new(there, 100);
        for piece in [b"ab".as_slice(), b"cd", b"e\nf"] {
            here.write_all(piece).await.unwrap();
            tokio::select! {
                biased;
                line = lines.next() => assert_eq!(line, whole("abcde")),
                () = tokio::task::yield_now() => {}
            }
        }
        drop(here);
        assert_eq!(lines.next().await, whole("f"));
        assert_eq!(lines.next().await, Line::End);
    }
}
