//! `upstream`: answers every request with the same body, as cheaply as one thread can.
//!
//! `upstream --bytes 1024` prints the address it listens on. For every line on standard input it
//! prints how many requests it has answered, and it ends when standard input does.

use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::ExitCode;

use rustix::buffer::spare_capacity;
use rustix::event::epoll;

use sluicegate_load::arguments::Arguments;
use sluicegate_load::body::pattern;
use sluicegate_load::messages::{Fault, Messages, Piece, field};

const LISTENER: u64 = u64::MAX;
const CONTROL: u64 = u64::MAX - 1;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "upstream: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut given = Arguments::read(std::env::args().skip(1))?;
    let bytes: usize = given.required("bytes")?;
    let listen = given
        .optional("listen")?
        .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
    given.finish()?;

    let mut upstream = Upstream::bind(listen, bytes)?;
    writeln!(io::stdout(), "{}", upstream.listener.local_addr()?)?;
    upstream.serve()
}

struct Upstream {
    epoll: OwnedFd,
    listener: TcpListener,
    peers: Vec<Option<Peer>>,
    free: Vec<usize>,
    answer: Vec<u8>,
    answered: u64,
}

impl Upstream {
    fn bind(listen: SocketAddr, bytes: usize) -> Result<Self, Box<dyn Error>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let listener = TcpListener::bind(listen)?;
        listener.set_nonblocking(true)?;
        let readable = epoll::EventFlags::IN;
        epoll::add(
            &epoll,
            &listener,
            epoll::EventData::new_u64(LISTENER),
            readable,
        )?;
        epoll::add(
            &epoll,
            io::stdin(),
            epoll::EventData::new_u64(CONTROL),
            readable,
        )?;
        let mut answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {bytes}\r\n\r\n"
        )
        .into_bytes();
        answer.extend_from_slice(&pattern(bytes));
        Ok(Self {
            epoll,
            listener,
            peers: Vec::new(),
            free: Vec::new(),
            answer,
            answered: 0,
        })
    }

    fn serve(&mut self) -> Result<(), Box<dyn Error>> {
        let mut buffer = vec![0; 256 * 1024];
        let mut events = Vec::with_capacity(1024);
        loop {
            events.clear();
            epoll::wait(&self.epoll, spare_capacity(&mut events), None)?;
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    CONTROL => {
                        if io::stdin().read(&mut buffer)? == 0 {
                            return Ok(());
                        }
                        writeln!(io::stdout(), "{}", self.answered)?;
                    }
                    place => {
                        let flags = event.flags;
                        let ended = flags.contains(epoll::EventFlags::RDHUP);
                        self.answer(usize::try_from(place)?, &mut buffer, ended);
                    }
                }
            }
        }
    }

    fn accept(&mut self) -> Result<(), Box<dyn Error>> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let place = self.free.pop().unwrap_or_else(|| {
                self.peers.push(None);
                self.peers.len() - 1
            });
            epoll::add(
                &self.epoll,
                &stream,
                epoll::EventData::new_u64(u64::try_from(place)?),
                epoll::EventFlags::IN
                    | epoll::EventFlags::OUT
                    | epoll::EventFlags::RDHUP
                    | epoll::EventFlags::ET,
            )?;
            if let Some(free) = self.peers.get_mut(place) {
                *free = Some(Peer::new(stream));
            }
        }
    }

    fn answer(&mut self, place: usize, buffer: &mut [u8], ended: bool) {
        let Some(slot) = self.peers.get_mut(place) else {
            return;
        };
        let Some(peer) = slot else { return };
        if let Ok(answered) = peer.serve(buffer, &self.answer, ended) {
            self.answered += answered;
        } else {
            *slot = None;
            self.free.push(place);
        }
    }
}

struct Peer {
    stream: TcpStream,
    messages: Messages,
    /// Answers that have not left whole.
    owed: u64,
    /// How much of the first of them has gone.
    gone: usize,
}

impl Peer {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            messages: Messages::default(),
            owed: 0,
            gone: 0,
        }
    }

    /// Reads and answers what there is; gives the number of answers that left.
    fn serve(&mut self, buffer: &mut [u8], answer: &[u8], ended: bool) -> Result<u64, Fault> {
        let mut answered = 0;
        loop {
            let got = match self.stream.read(buffer) {
                Ok(0) => return Err(Fault::Closed),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(answered + self.write(answer)?);
                }
                Err(error) => return Err(error.into()),
            };
            let owed = &mut self.owed;
            self.messages
                .take(buffer.get(..got).unwrap_or_default(), |piece| match piece {
                    Piece::Head(head, None) if field(head, b"transfer-encoding").is_some() => {
                        Err(Fault::NoLength)
                    }
                    Piece::Head(..) | Piece::Body(_) => Ok(()),
                    Piece::End => {
                        *owed += 1;
                        Ok(())
                    }
                })?;
            answered += self.write(answer)?;
            // A short read emptied the socket (epoll(7)): the read that says so is saved, unless
            // the peer has closed, which is told only once.
            if got < buffer.len() && !ended {
                return Ok(answered);
            }
        }
    }

    fn write(&mut self, answer: &[u8]) -> Result<u64, Fault> {
        let mut answered = 0;
        while self.owed > 0 {
            let rest = answer.get(self.gone..).unwrap_or_default();
            match self.stream.write(rest) {
                Ok(written) if written == rest.len() => {
                    self.gone = 0;
                    self.owed -= 1;
                    answered += 1;
                }
                Ok(written) => self.gone += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(answered)
    }
}
