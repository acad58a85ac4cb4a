//! Programs that talk to each other over the sandbox's own loopback.

use crate::case::Case;

#[test]
fn curl_fetches_from_a_server_beside_it() {
    let case = Case::script("bash", "fetch.sh", include_str!("scripts/fetch.sh")).needs(["curl", "python3"]);
    let case = case.file("served/page.txt", "a page\n").file("serve.py", include_str!("scripts/serve.py"));
    case.prints("a page\n404\nnobody there 7\nunresolved 6\n");
}

#[test]
fn openssl_makes_keys_and_certificates_and_talks_tls() {
    let case = Case::script("bash", "tls.sh", include_str!("scripts/tls.sh")).needs(["openssl"]);
    case.prints("verified\nsha256 2cf24dba\ncipher secret\nhandshake TLSv1.3\n");
}

/// `getaddrinfo` asks the kernel for its addresses over a route socket.
#[test]
fn addresses_of_the_machine_are_listed() {
    let text = "import socket\nprint(sorted({i[4][0] for i in socket.getaddrinfo('localhost', 80, socket.AF_INET)}))\n\
                print([name for _, name in socket.if_nameindex()])\n";
    Case::script("python3", "names.py", text).prints("['127.0.0.1']\n['lo']\n");
}
