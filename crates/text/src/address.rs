//! Addresses: which schemes lead to a network and never to a file.

/// Schemes whose addresses name something on a network. What follows any other, such as `file:` or `unix:`, may be a path.
const NETWORK_SCHEMES: &[&str] = &[
    "amqp",
    "amqps",
    "docker",
    "ftp",
    "ftps",
    "git",
    "git+http",
    "git+https",
    "git+ssh",
    "gs",
    "http",
    "https",
    "imap",
    "imaps",
    "ldap",
    "ldaps",
    "mongodb",
    "mongodb+srv",
    "mysql",
    "oci",
    "postgres",
    "postgresql",
    "redis",
    "rediss",
    "rsync",
    "s3",
    "sftp",
    "smtp",
    "smtps",
    "ssh",
    "svn",
    "tcp",
    "udp",
    "ws",
    "wss",
];

/// Whether a scheme leads to a network, in any letter case.
///
/// ```
/// use skillsandbox_text::is_network_scheme;
///
/// assert!(is_network_scheme(b"HTTPS") && !is_network_scheme(b"file"));
/// ```
#[must_use]
pub fn is_network_scheme(scheme: &[u8]) -> bool {
    NETWORK_SCHEMES.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(scheme))
}
