//! The PROXY protocol, versions 1 and 2: what a balancer says of a connection before its first byte.
//!
//! Source: "The PROXY protocol, Versions 1 & 2" (2020). A receiver that expects a header
//! must not guess: no header, or a bad one, ends the connection (section 2).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A version 1 header is never longer, CR LF included (section 2.1).
const V1_MAX: usize = 107;
/// What follows the fixed part of a version 2 header: addresses and TLVs. The protocol allows 65,535;
/// senders use a few hundred.
const V2_MAX: usize = 4 << 10;
/// The longest header that is read at all.
pub const MAX: usize = 16 + V2_MAX;

const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Source and destination of the connection that the balancer took; `None` when it speaks for
    /// itself (`LOCAL`, a health check) or does not know (`UNKNOWN`): then the connection's own count.
    pub ends: Option<(SocketAddr, SocketAddr)>,
    /// How many bytes the header takes.
    pub size: usize,
}

/// Reads a header; `None` when it is not all here.
///
/// # Errors
/// Why this is none.
pub fn parse(bytes: &[u8]) -> Result<Option<Header>, &'static str> {
    let start = bytes.get(..SIGNATURE.len()).unwrap_or(bytes);
    if SIGNATURE.starts_with(start) {
        return if start.len() == SIGNATURE.len() {
            version_2(bytes)
        } else {
            Ok(None)
        };
    }
    let start = bytes.get(..6).unwrap_or(bytes);
    if b"PROXY ".starts_with(start) {
        return if start.len() == 6 {
            version_1(bytes)
        } else {
            Ok(None)
        };
    }
    Err("no PROXY header")
}

fn version_1(bytes: &[u8]) -> Result<Option<Header>, &'static str> {
    let within = bytes.get(..V1_MAX).unwrap_or(bytes);
    let Some(end) = within.iter().position(|byte| *byte == b'\n') else {
        return if bytes.len() >= V1_MAX {
            Err("a PROXY line without an end")
        } else {
            Ok(None)
        };
    };
    let line = within.get(..end).unwrap_or_default();
    let line = line
        .strip_suffix(b"\r")
        .ok_or("a PROXY line that does not end with CR LF")?;
    let line = std::str::from_utf8(line).map_err(|_| "a PROXY line that is not ASCII")?;
    let size = end + 1;
    let mut words = line.split(' ').skip(1);
    let family = words.next().unwrap_or_default();
    if family == "UNKNOWN" {
        // The rest of the line is to be ignored (section 2.1).
        return Ok(Some(Header { ends: None, size }));
    }
    let parts: Vec<&str> = words.collect();
    let [source, destination, source_port, destination_port] = *parts else {
        return Err("a PROXY line needs two addresses and two ports");
    };
    let address = |text: &str| -> Option<IpAddr> {
        match family {
            "TCP4" => text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
            "TCP6" => text.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
            _ => None,
        }
    };
    let end_of = |host: &str, port: &str| -> Option<SocketAddr> {
        Some(SocketAddr::new(address(host)?, decimal_port(port)?))
    };
    let ends = end_of(source, source_port).zip(end_of(destination, destination_port));
    match ends {
        Some(ends) => Ok(Some(Header {
            ends: Some(ends),
            size,
        })),
        None => Err("a PROXY line with a bad family, address or port"),
    }
}

/// Digits only, no leading zero (section 2.1).
fn decimal_port(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let leading = text.len() > 1 && text.starts_with('0');
    if plain && !leading {
        text.parse().ok()
    } else {
        None
    }
}

fn version_2(bytes: &[u8]) -> Result<Option<Header>, &'static str> {
    let Some(([command, family, high, low], rest)) = bytes
        .get(SIGNATURE.len()..)
        .and_then(<[u8]>::split_first_chunk::<4>)
    else {
        // The version stands right behind the signature: no need to wait for more of a bad one.
        return match bytes.get(SIGNATURE.len()) {
            Some(command) if command >> 4 != 2 => Err("an unknown version of the PROXY header"),
            _ => Ok(None),
        };
    };
    if command >> 4 != 2 {
        return Err("an unknown version of the PROXY header");
    }
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    if length > V2_MAX {
        return Err("a PROXY header that is too long");
    }
    let is_proxied = match command & 0x0f {
        0 => false,
        1 => true,
        _ => return Err("an unknown command in a PROXY header"),
    };
    let Some(payload) = rest.get(..length) else {
        return Ok(None);
    };
    let size = SIGNATURE.len() + 4 + length;
    let ends = if is_proxied {
        addresses(*family, payload)?
    } else {
        None
    };
    Ok(Some(Header { ends, size }))
}

/// The addresses in the payload of a version 2 header (section 2.2); none for what is not TCP.
fn addresses(family: u8, payload: &[u8]) -> Result<Option<(SocketAddr, SocketAddr)>, &'static str> {
    const SHORT: &str = "a PROXY header that is shorter than its addresses";
    match family {
        0x11 => {
            let (from, rest) = payload.split_first_chunk::<4>().ok_or(SHORT)?;
            let (to, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
            let (from_port, to_port) = ports(rest).ok_or(SHORT)?;
            Ok(Some((
                SocketAddr::new(Ipv4Addr::from(*from).into(), from_port),
                SocketAddr::new(Ipv4Addr::from(*to).into(), to_port),
            )))
        }
        0x21 => {
            let (from, rest) = payload.split_first_chunk::<16>().ok_or(SHORT)?;
            let (to, rest) = rest.split_first_chunk::<16>().ok_or(SHORT)?;
            let (from_port, to_port) = ports(rest).ok_or(SHORT)?;
            Ok(Some((
                SocketAddr::new(Ipv6Addr::from(*from).into(), from_port),
                SocketAddr::new(Ipv6Addr::from(*to).into(), to_port),
            )))
        }
        // Unspecified: the receiver uses the connection's own.
        0x00 => Ok(None),
        _ => Err("a PROXY header for something that is not TCP"),
    }
}

fn ports(bytes: &[u8]) -> Option<(u16, u16)> {
    let [from, to] = bytes.get(..4)?.as_chunks::<2>().0 else {
        return None;
    };
    Some((u16::from_be_bytes(*from), u16::from_be_bytes(*to)))
}

/// Writes a version 2 header. Ends of different families are written as IPv6.
pub fn write(source: SocketAddr, destination: SocketAddr, out: &mut Vec<u8>) {
    out.extend_from_slice(SIGNATURE);
    out.push(0x21);
    if let (IpAddr::V4(from), IpAddr::V4(to)) = (source.ip(), destination.ip()) {
        out.extend_from_slice(&[0x11, 0, 12]);
        out.extend_from_slice(&from.octets());
        out.extend_from_slice(&to.octets());
    } else {
        out.extend_from_slice(&[0x21, 0, 36]);
        for end in [source, destination] {
            let address = match end.ip() {
                IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                IpAddr::V6(v6) => v6,
            };
            out.extend_from_slice(&address.octets());
        }
    }
    out.extend_from_slice(&source.port().to_be_bytes());
    out.extend_from_slice(&destination.port().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn v2(command: u8, family: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([command, family]);
        bytes.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    const IPV4: [u8; 12] = [0xc0, 0, 2, 1, 0xc0, 0, 2, 2, 0x30, 0x39, 0, 0x50];

    fn ends() -> (SocketAddr, SocketAddr) {
        (
            "192.0.2.1:12345".parse().unwrap(),
            "192.0.2.2:80".parse().unwrap(),
        )
    }

    // case: PP-01
    // spec: SE-19
    #[test]
    fn a_line_names_both_ends() {
        let line = b"PROXY TCP4 192.0.2.1 192.0.2.2 12345 80\r\nGET /";
        let header = parse(line).unwrap().unwrap();
        assert_eq!((header.ends, header.size), (Some(ends()), 41));

        let line = b"PROXY TCP6 2001:db8::1 ::1 1 65535\r\n";
        let header = parse(line).unwrap().unwrap();
        assert_eq!(header.ends.unwrap().0, "[2001:db8::1]:1".parse().unwrap());
    }

    // case: PP-01
    #[test]
    fn unknown_and_local_leave_the_connection_its_own() {
        for bytes in [
            b"PROXY UNKNOWN\r\n".to_vec(),
            b"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n".to_vec(),
            v2(0x20, 0x11, &IPV4),
            v2(0x20, 0x00, &[]),
            v2(0x21, 0x00, &[]),
        ] {
            let header = parse(&bytes).unwrap().unwrap();
            assert_eq!(
                header,
                Header {
                    ends: None,
                    size: bytes.len()
                }
            );
        }
    }

    // case: PP-01
    #[test]
    fn a_binary_header_names_both_ends_and_may_say_more() {
        let mut payload = IPV4.to_vec();
        payload.extend([0x04, 0, 1, 0]);
        let bytes = v2(0x21, 0x11, &payload);
        let header = parse(&bytes).unwrap().unwrap();
        assert_eq!((header.ends, header.size), (Some(ends()), bytes.len()));

        let mut written = Vec::new();
        let (from, to) = ends();
        write(from, to, &mut written);
        assert_eq!(written, v2(0x21, 0x11, &IPV4));
    }

    // case: PP-01
    #[test]
    fn nothing_is_guessed() {
        let long = format!("PROXY TCP4 {}\r\n", "1".repeat(100));
        for bad in [
            b"GET / HTTP/1.1\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 192.0.2.2 12345 80\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 192.0.2.2 12345\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1  192.0.2.2 12345 80\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 192.0.2.2 +1 80\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 192.0.2.2 65536 80\r\n".to_vec(),
            b"PROXY TCP4 ::1 192.0.2.2 1 80\r\n".to_vec(),
            b"PROXY UDP4 192.0.2.1 192.0.2.2 1 80\r\n".to_vec(),
            long.into_bytes(),
            v2(0x31, 0x11, &IPV4),
            v2(0x22, 0x11, &IPV4),
            v2(0x21, 0x12, &IPV4),
            v2(0x21, 0x11, &IPV4[..11]),
            [&SIGNATURE[..], &[0x21, 0x11, 0xff, 0xff]].concat(),
            b"\r\n\r\nGET".to_vec(),
        ] {
            assert!(parse(&bad).is_err(), "{:?}", String::from_utf8_lossy(&bad));
        }
    }

    // case: PP-01
    #[test]
    fn a_header_in_pieces_is_waited_for() {
        let text = b"PROXY TCP4 192.0.2.1 192.0.2.2 12345 80\r\n".to_vec();
        for whole in [text, v2(0x21, 0x11, &IPV4)] {
            for end in 1..whole.len() {
                assert_eq!(parse(&whole[..end]), Ok(None), "{end}");
            }
            assert!(parse(&whole).unwrap().is_some());
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(from: SocketAddr, to: SocketAddr) {
            let mut bytes = Vec::new();
            write(from, to, &mut bytes);
            let header = parse(&bytes).unwrap().unwrap();
            let (read_from, read_to) = header.ends.unwrap();
            let plain = |end: SocketAddr| (end.ip().to_canonical(), end.port());
            prop_assert_eq!((plain(read_from), plain(read_to)), (plain(from), plain(to)));
            prop_assert_eq!(header.size, bytes.len());
        }

        #[test]
        fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..300), version in 0..3_u8) {
            let start: &[u8] = match version {
                0 => b"",
                1 => b"PROXY ",
                _ => SIGNATURE,
            };
            if let Ok(Some(header)) = parse(&[start, &bytes].concat()) {
                prop_assert!(header.size <= start.len() + bytes.len());
            }
        }
    }
}
