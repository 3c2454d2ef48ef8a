//! One connection, which wakes its owner only for what it waits for.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use interprocess::os::unix::uds_local_socket::tokio as unix;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, SocketType, recv, sendmsg, sockopt};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

/// One connection.
///
/// A local socket that somebody waits for in both directions is reported writable each time the other side reads.
/// That would wake both sides once per message for nothing, so room for writing is waited for only when there is none.
///
/// Each call says for itself that it must not wait. So nothing changes for others that have the socket too.
#[derive(Debug)]
pub struct Stream {
    socket: AsyncFd<UnixStream>,
    /// The same socket, while there is no room for what is to be written.
    room: Option<AsyncFd<UnixStream>>,
}

impl Stream {
    pub(super) fn over(socket: unix::Stream) -> io::Result<Self> {
        Self::new(OwnedFd::try_from(socket)?.into())
    }

    /// A standard stream of this process, when it is a socket, as it is below a host that runs on Node.js.
    pub fn standard(stream: impl AsFd) -> Option<Self> {
        let is_stream = sockopt::socket_type(&stream).is_ok_and(|kind| kind == SocketType::STREAM);
        let own = is_stream.then(|| stream.as_fd().try_clone_to_owned())?.ok()?;
        Self::new(own.into()).ok()
    }

    pub(super) fn new(socket: UnixStream) -> io::Result<Self> {
        Ok(Self { socket: watch(socket, Interest::READABLE)?, room: None })
    }

    fn poll_writing(&mut self, context: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let write = |socket: &UnixStream| -> io::Result<usize> {
            Ok(sendmsg(socket, parts, &mut SendAncillaryBuffer::default(), SendFlags::DONTWAIT)?)
        };
        loop {
            let written = match &self.room {
                None => write(self.socket.get_ref()),
                Some(room) => {
                    let mut room = ready!(room.poll_write_ready(context))?;
                    match room.try_io(|_| write(self.socket.get_ref())) {
                        Ok(written) => written,
                        Err(_) => continue,
                    }
                }
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.room = Some(watch(self.socket.get_ref().try_clone()?, Interest::WRITABLE)?);
                }
                written => {
                    self.room = None;
                    return Poll::Ready(written);
                }
            }
        }
    }
}

#[expect(unsafe_code, reason = "the event loop has to be promised what a socket is")]
fn watch(socket: UnixStream, interest: Interest) -> io::Result<AsyncFd<UnixStream>> {
    // SAFETY: a `UnixStream` owns one descriptor, which stays open and the same until it is dropped, and nobody gets
    // more than a shared reference to it here.
    Ok(unsafe { AsyncFd::register_with_interest(socket, interest) }?)
}

/// Reads what is there. The buffer is not cleared before: it is large, most messages are small, and clearing it would
/// drive everything else out of the processor's cache.
#[expect(unsafe_code, reason = "only the system knows how much of the buffer it has filled")]
fn receive(socket: &UnixStream, into: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: nothing is written there but what `recv` writes, so what was initialized stays it.
    let unfilled = unsafe { into.unfilled_mut() };
    let ((filled, _), _) = recv(socket, unfilled, RecvFlags::DONTWAIT)?;
    let read = filled.len();
    // SAFETY: these are the bytes that the system has written.
    unsafe { into.assume_init(read) };
    into.advance(read);
    Ok(read)
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.socket.poll_read_ready(context))?;
            let room = into.remaining();
            match ready.try_io(|socket| receive(socket.get_ref(), into)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Ok(read)) => {
                    // It was emptied, so the system reports whatever comes next, and asking it can be left out. An
                    // end is not reported again.
                    if 0 < read && read < room {
                        ready.clear_ready();
                    }
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_) => {}
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_writing(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_writing(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.socket.get_ref().shutdown(Shutdown::Write))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::timeout;

    use super::*;

    fn pair() -> (Stream, Stream) {
        let (one, other) = UnixStream::pair().unwrap();
        (Stream::new(one).unwrap(), Stream::new(other).unwrap())
    }

    #[tokio::test]
    async fn what_is_written_arrives_whole_and_in_order_whatever_its_size() {
        let (mut here, mut there) = pair();
        let text: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let given = text.clone();
        let writing = tokio::spawn(async move {
            for size in [1, 100, 8192, 1_000_000] {
                here.write_all(&given[..size]).await.unwrap();
            }
            here.write_all(&given).await.unwrap();
            here.shutdown().await.unwrap();
            let mut answer = Vec::new();
            here.read_to_end(&mut answer).await.unwrap();
            answer
        });
        let mut came = Vec::new();
        for size in [1, 100, 8192, 1_000_000, text.len()] {
            came.resize(size, 0);
            there.read_exact(&mut came).await.unwrap();
            assert_eq!(came, text[..size], "{size} bytes");
        }
        assert_eq!(there.read(&mut came).await.unwrap(), 0, "the end");
        there.write_all(b"an answer after the end").await.unwrap();
        drop(there);
        assert_eq!(writing.await.unwrap(), b"an answer after the end");
    }

    #[tokio::test]
    async fn a_standard_stream_that_is_a_socket_works_and_stays_as_it_was_for_others() {
        let (host, own) = UnixStream::pair().unwrap();
        let mut stream = Stream::standard(&own).unwrap();
        let mut host = Stream::new(host).unwrap();
        host.write_all(b"asked").await.unwrap();
        let mut asked = [0; 5];
        stream.read_exact(&mut asked).await.unwrap();
        stream.write_all(&asked).await.unwrap();
        host.read_exact(&mut asked).await.unwrap();
        assert_eq!(&asked, b"asked");
        let flags = rustix::fs::fcntl_getfl(&own).unwrap();
        assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK));
        let (reader, _writer) = io::pipe().unwrap();
        assert!(Stream::standard(&reader).is_none(), "a pipe is none");
    }

    #[tokio::test]
    async fn writing_waits_for_room_and_goes_on_when_there_is_some() {
        let (mut here, mut there) = pair();
        let full = async {
            loop {
                here.write_all(&[b'x'; 4096]).await.unwrap();
            }
        };
        assert!(timeout(Duration::from_millis(20), full).await.is_err(), "nobody reads");
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            there.read_to_end(&mut all).await.unwrap();
            all
        });
        here.write_all(b"the end").await.unwrap();
        drop(here);
        assert!(reading.await.unwrap().ends_with(b"xthe end"));
    }

    #[tokio::test]
    async fn the_other_side_s_end_is_noticed_by_reader_and_writer() {
        let (mut here, there) = pair();
        drop(there);
        assert_eq!(here.read(&mut [0; 8]).await.unwrap(), 0);
        assert_eq!(here.read(&mut [0; 8]).await.unwrap(), 0, "again");
        let error = here.write_all(b"to nobody").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
