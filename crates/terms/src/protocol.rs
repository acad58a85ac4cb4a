use crate::term::term;

term! {
    /// What may be spoken to a destination on the network.
    #[derive(Default)]
    Protocol("protocol") {
        /// Anything over TCP. Where it is TLS, it must not name another server.
        #[default]
        Tcp = "tcp",
        /// TLS that names the server which the connection was made for.
        Https = "https",
        /// HTTP/1 whose every request names the host which the connection was made for.
        Http = "http",
        /// UDP datagrams.
        Udp = "udp",
    }
}

term! {
    /// TCP or UDP.
    Transport("transport") {
        /// Connections.
        Tcp = "tcp",
        /// Datagrams.
        Udp = "udp",
    }
}

impl Protocol {
    /// What carries it.
    #[must_use]
    pub const fn transport(self) -> Transport {
        match self {
            Self::Udp => Transport::Udp,
            Self::Tcp | Self::Https | Self::Http => Transport::Tcp,
        }
    }

    /// What both allow; `None` where nothing is allowed by both.
    #[must_use]
    pub const fn both(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Tcp, narrow @ (Self::Tcp | Self::Https | Self::Http))
            | (narrow @ (Self::Https | Self::Http), Self::Tcp) => Some(narrow),
            (Self::Https, Self::Https) => Some(Self::Https),
            (Self::Http, Self::Http) => Some(Self::Http),
            (Self::Udp, Self::Udp) => Some(Self::Udp),
            (Self::Udp, Self::Tcp | Self::Https | Self::Http)
            | (Self::Tcp | Self::Https | Self::Http, Self::Udp)
            | (Self::Https, Self::Http)
            | (Self::Http, Self::Https) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_is_symmetric_and_never_wider() {
        for a in Protocol::ALL {
            assert_eq!(a.both(a), Some(a));
            for b in Protocol::ALL {
                assert_eq!(a.both(b), b.both(a), "{a} {b}");
                if let Some(both) = a.both(b) {
                    assert!(both == a || both == b);
                    assert_eq!((both.both(a), both.both(b)), (Some(both), Some(both)), "{a} {b}");
                    assert_eq!(a.transport(), b.transport());
                }
            }
        }
    }
}
