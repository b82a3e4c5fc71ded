//! Who is at the other end of a connection.

use std::{
    io::Write,
    net::{IpAddr, SocketAddr},
};

/// The two ends of the client's connection, as the kernel names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The address the connection came from: the previous hop, not necessarily the client (SE-16).
    pub remote: SocketAddr,
    /// The address of the listener it was accepted on.
    pub local: SocketAddr,
}

impl Default for Peer {
    fn default() -> Self {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        Self {
            remote: nowhere,
            local: nowhere,
        }
    }
}

/// Appends an address as it is usually read. Logs and headers have several in every request, and the
/// standard library's formatting costs more than all that is around them, so the usual family is
/// written by hand.
pub fn write_address(address: IpAddr, out: &mut Vec<u8>) {
    let IpAddr::V4(address) = address else {
        // Writing to a Vec cannot fail.
        let _ = write!(out, "{address}");
        return;
    };
    for octet in address.octets() {
        let (text, length) = OCTETS.get(usize::from(octet)).copied().unwrap_or_default();
        out.extend_from_slice(&text);
        out.truncate(out.len() + usize::from(length) - text.len());
    }
    out.pop();
}

/// Every octet with the dot behind it: copying four bytes and taking some back is cheaper than
/// copying as many as there are.
static OCTETS: [([u8; 4], u8); 256] = octets();

const fn octets() -> [([u8; 4], u8); 256] {
    let mut table = [([b'.'; 4], 0); 256];
    let mut rest: &mut [([u8; 4], u8)] = &mut table;
    let mut octet = 0_u8;
    while let Some((entry, tail)) = rest.split_first_mut() {
        let [hundreds, tens, ones] = [
            b'0' + octet / 100,
            b'0' + octet / 10 % 10,
            b'0' + octet % 10,
        ];
        *entry = match octet {
            0..10 => ([ones, b'.', b'.', b'.'], 2),
            10..100 => ([tens, ones, b'.', b'.'], 3),
            100.. => ([hundreds, tens, ones, b'.'], 4),
        };
        octet = octet.wrapping_add(1);
        rest = tail;
    }
    table
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn every_octet_is_written_as_the_standard_library_does() {
        for octet in 0..=u8::MAX {
            let address = IpAddr::from(Ipv4Addr::new(octet, 0, 255, octet));
            let mut out = b"x".to_vec();
            write_address(address, &mut out);
            assert_eq!(out, format!("x{address}").into_bytes());
        }
        let mut out = Vec::new();
        write_address("2001:db8::1".parse().unwrap(), &mut out);
        assert_eq!(out, b"2001:db8::1");
    }
}
