use super::*;

/// What real services put below the names that one would grant with a wildcard.
const NAMES: &[&str] = &[
    "my-company-prod-backups-2024.s3",
    "my-company-prod-backups-2024.s3.eu-central-1",
    "s3.us-west-2",
    "a1b2c3d4e5.execute-api.us-east-1",
    "z9x8w7v6u5.execute-api.ap-southeast-2",
    "d111111abcdef8",
    "d3k7h2m9q4w1zx",
    "my-load-balancer-1234567890.us-east-1.elb",
    "internal-k8s-default-ingress-1a2b3c4d5e-1234567890.eu-west-1.elb",
    "my-nlb-0a1b2c3d4e5f6a7b.elb.us-east-2",
    "vpce-0123456789abcdef0-abcdefgh.s3.us-east-1.vpce",
    "vpce-0123456789abcdef0-abcdefgh-us-east-1a.execute-api.us-east-1.vpce",
    "mydb.c9akciq32rgx.us-east-1.rds",
    "aurora-cluster.cluster-ro-c9akciq32rgx.eu-west-3.rds",
    "search-logs-abcdefghij0123456789abcdef.us-east-1.es",
    "a3qj7bqh2example-ats.iot.us-east-1",
    "abcdefghijklmnopqrstuvwxyz012345.lambda-url.us-east-1",
    "q7k2m5x4r3t6w2z5b7n4c3v6j2h5g7f4.lambda-url.eu-north-1",
    "0123456789ABCDEF0123456789ABCDEF.gr7.us-east-1.eks",
    "cdk-hnb659fds-assets-123456789012-us-east-1.s3",
    "aws-sam-cli-managed-default-samclisourcebucket-1a2b3c4d5e6f.s3",
    "3f2a9c81d7e64b05a1c8f9e2d4b76035.r2",
    "xyzcompanyabcdefghij",
    "qzvkxjwhtpmnbrfgdlsc",
    "db.qzvkxjwhtpmnbrfgdlsc",
    "service-abcdefghij-uc.a",
    "hello-world-k3j5x7q2za-ew.a",
    "my-function-123456789012.europe-west1",
    "us-central1-my-project-id",
    "my-project-id-default-rtdb.europe-west1",
    "my-app-git-feature-new-login-page-my-team",
    "my-app-9x8w7v6u5-my-team",
    "my-site-git-fork-contributor-fix-typo-in-readme-acme-corp",
    "deploy-preview-1234--my-site",
    "5f8c2a1b9e3d4f0007a6b5c4--my-site",
    "123e4567-e89b-12d3-a456-426614174000",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301.cloudapp",
    "r4---sn-4g5e6nls",
    "rr3---sn-5hne6nzs",
    "xn--bcher-kva",
    "xn--80ak6aa92e",
    "xn--eckwd4c7cu47r2wf",
    "xn--fiqs8s.cdn",
    "octocat",
    "monalisa-hot-potato-v7q4p3x9-3000.app",
    "cdn-lfs",
    "cdn-lfs-us-1",
    "cas-bridge.xethub",
    "k8x2m4n6p8q1r3s5.us-east-1.aws.endpoints",
    "my-app--abc1234.happyrock-1a2b3c4d.eastus",
    "mystorageaccount.privatelink.blob.core",
    "mystorageaccount.z13.web.core",
    "my-resource.openai",
    "my-registry-abc123.azurecr",
    "xy12345.us-east-1.snowflake",
    "main.d1a2b3c4d5e6f7",
    "1a2b-203-0-113-7.eu",
    "doc-0s-8c-docs",
    "lh3",
    "avatars",
    "raw",
    "api",
    "www",
    "eu1.api",
    "stun4.l",
    "time1",
    "ec2-203-0-113-25.compute-1",
    "ip-10-0-0-12.ec2",
    "bucket.with.dots.in.it",
    "_acme-challenge.www",
    "gateway-us-east1-b",
    "wikipedia-en-upload-thumbnails",
    "internationalisation-documentation",
    "o123456.ingest",
    "o4505123456789012.ingest.us",
];

/// What tools for tunnelling ask for, and what one writes oneself.
const DATA: &[&str] = &[
    // iodine: version, log in, upstream probes, data in base 32, 64 and 128.
    "z0aa.yrbbbmzzyrhjsqkaq4ffqnpzx2m7wqnzsbtm3hffzwbvd3",
    "paaauijb6ua2ltu4kxmfbu4z5rkjixd5wgwmjrxoqdcy4wmlnbsz",
    "0eabagisjlrcepnnkzdlt5y5hoefhx5rwyx5tk3hr7krsxv3m2kza",
    "paoedq6zvznykb2iwgn4nrzs3bq5hh7vowxyjtmc2zthd6qtx4hqjlkn.a2x4ykmsnb3wxqz",
    "0uab82jjd2zq3h4dk5m2hqxd7f9v0y1s3o5pr8t6w4n2b0c9x7l5k3j1.e7g9f1a3c5m7k9",
    // dnscat2: SYN, MSG, a file.
    "dnscat.c8be00f5c3f0ef000100000000000000000000",
    "dnscat.9fa0017dd1b5ff4b41d0b9ed4ae2e7e1c3c19fd28eb4c1a11c47bbf2d4c4",
    "c8be00f5c3f0ef000000000000000041414141414141414141",
    "5c3a01f2b46b8a9d0c1e2f3a4b5c6d7e8f90.a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2",
    "2d5b01e0ce0a3b2c1d.4e5f60718293a4b5c6.d7e8f90a1b2c3d4e5f",
    // DNSExfiltrator: the request to begin, then numbered chunks, in base 32 and base 64 for addresses.
    "init.onsw43djoruxmzjoor4hi7bsg4.base32",
    "0.mzxw6ytbojrgc6q3zx7h2kqw5nv4ytm6dfr3sp2lgcbhju7ikoexq5w",
    "12.kblwk3tumvzca3tpoqqhk43fom5ca5dimuqho33snqwca2lu",
    "7.uesdbbqaaaaiacwnf1eztmfqlwaaamsaaaaaaaabcdefghijklmnopqrs",
    "1.h4siaaaaaaaaa-3wzq7cmbcf4z2yx_k5vq8mnb1l0pj6t7w.r9s3d2f5g8",
    // dns2tcp.
    "6fsaaaaaaaaaaaqz3kxjm2vt5wbn7chyx4l0.abauth0kq7zx5v",
    "aaaaaa4kq2z7xm5nb3vc1lp0oi9uy8tr6ew.sdfg5hj4k2l1",
    // Heyoka, OzymanDNS, PacketWhisper, Cobalt Strike, powercat, Sunburst.
    "post.140a8b3c9d2e7f6051c4d8e9fa0b7c6d5e4f3a2b1.1f2e3d4c.59a6b7c8",
    "www.1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e.api",
    "mzuwyzjanzqw2zjak5xw23dmpfxgsy3bor4q.9.id-52432.up",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "6a57jk2ba1d9keg15cbgf8hzqw3n7v5m2x4.appsync-api.eu-west-1",
    "7sbvaemscs0mc925tb99n8x2k4z6w3q1h5.appsync-api.us-west-2.r8",
    // Text in hexadecimal.
    "68656c6c6f20776f726c64",
    "70617373776f72643d68756e74657232",
    "414b4941494f53464f444e4e374558414d504c45",
    "2d2d2d2d2d424547494e20525341",
    "726f6f743a783a303a30",
    "726f6f74.3a783a30.3a303a72",
    "72-6f-6f-74-3a-78-3a-30-3a-30",
    "0a414b4941494f53464f44.key",
    // Text in base 32.
    "nbswy3dpeb3w64tmmq",
    "onqxg43xn5zgipliovxhizlsgi",
    "iffusqkjj5jum2cbjzhhiysj",
    "orugs4zanfzsayjanzqw2zi",
    "nbswy.3dpeb.3w64t.mmq",
    "nbsw-y3dp-eb3w-64tm-mq",
    "chunk1.nbswy3dpeb3w64tmmqfa",
    // Decimal.
    "104101108108111032119111114108100",
    "104101108108111",
    "104101108108.111032119111",
    "104.101.108.108.111",
    "72.101.108.108.111.32",
    "12345678901234567890",
    "31415926535897932384626433832795",
    "1.1.1",
    "8.8.8.8",
    // Many small pieces.
    "a.b.c.d.e.f.g",
    "ab.cd.ef.gh.ij.kl.mn.op",
    "k7x2m9.q4w8z1.b6n3v5.c0h7j2.t9r4y6.p1l8s3.d5",
    "a1b2c3d4.e5f6g7h8.i9j0k1l2.m3n4o5p6",
    "q7k2m5x4.r3t6w2z5.b7n4c3v6",
    "k7x-2m9-q4w-8z1-b6n-3v5-c0h-7j2-t9r-4y6-p1l-8s3-d5f-g0k-w2",
    "abc-xyz-qrs-tuv-klm-zxc-vbn-qwe-rty-uio-asd-fgh-jkl-mno-pqr",
    "1111-2222-3333-4444-5555-6666-7777-8888-9999-0000-1111-2222-3333-4444-5555-6666",
    // Bits in what is between.
    "a-_-__---_-__-_-_--_.b-__-_-_-_-_---__-_-_-_-__--_-_-_-_-_-__-_-_-__--_-_-_-_-_-__-_-_-_-__-_--_-z",
    // Two identifiers, or more, where one is usual.
    "123e4567-e89b-12d3-a456-426614174000.9f8e7d6c-5b4a-3928-1706-f5e4d3c2b1a0",
    "3f2a9c81d7e64b05a1c8f9e2d4b76035-0b1c2d3e4f5a69788796a5b4c3d2e1f0",
    "3f2a9c81d7e64b05a1c8f9e2d4b760350b1c2d3e4f5a69788796a5b4c3d2e1f0",
    "qzvkxjwhtpmnbrfgdlscwyqzvkxjwhtpmnbrfgd",
    "xn--k7x2m9q4w8z1b6n3v5c0h7j2t9r4y6p1l8s3d5f0g",
    // Whatever an encoder makes of 63 letters.
    "kq3v7zx2m5nb8wc1lp0oi9uy6tr4ew2sd5fg8hj1kl3zx6cv9bn0mq7wq2e4r5t",
    "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi.ipfs",
    // Words, and words, and words.
    "correct-horse-battery-staple-correct-horse-battery-staple-x.correct-horse-battery-staple-correct-horse",
    "the-secret-is-that-nobody-ever-reads-the-names-of-the-hosts.which-are-asked-for-by-the-programs",
];

#[test]
fn names_of_real_services_pass() {
    assert!(NAMES.len() >= 60);
    let wrong: Vec<_> = NAMES.iter().filter(|name| looks_like_data(name)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn data_does_not_pass() {
    assert!(DATA.len() >= 60, "{}", DATA.len());
    let wrong: Vec<_> = DATA.iter().filter(|name| !looks_like_data(name)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_case_of_letters_makes_no_difference() {
    for name in NAMES.iter().chain(DATA) {
        assert_eq!(looks_like_data(&name.to_ascii_uppercase()), looks_like_data(name), "{name}");
    }
}

/// Numbers that look random, the same ones each time.
struct TunnelDice(u64);

impl TunnelDice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(bound).unwrap()).unwrap()
    }
}

/// Random letters, `bits` of them worth.
fn of_alphabet(dice: &mut TunnelDice, alphabet: &[u8], bits: f64) -> String {
    let each = f64::from(u8::try_from(alphabet.len()).unwrap()).log2();
    let (mut held, mut text) = (0.0, String::new());
    while held < bits {
        text.push(char::from(alphabet[dice.below(alphabet.len())]));
        held += each;
    }
    text
}

/// Letters that follow each other as the rules want it, with three of ten at liberty, and hyphens where it likes.
fn of_made_up_words(dice: &mut TunnelDice, bits: f64) -> String {
    let (mut held, mut text, mut part) = (0.0, String::new(), 0);
    let mut last = b'e';
    while held < bits {
        if part > 5 {
            if dice.below(8) == 0 {
                text.push(if text.len() == 60 { '.' } else { '-' });
                held += 3.0;
                part = 0;
                continue;
            }
            held += (8.0_f64 / 7.0).log2();
        }
        let usual = FOLLOW[usize::from(last - b'a')].as_bytes();
        let free: &[u8] = if part % 10 % 3 == 2 || part == 0 { b"abcdefghijklmnopqrstuvwxyz" } else { usual };
        last = free[dice.below(free.len())];
        held += f64::from(u8::try_from(free.len()).unwrap()).log2();
        text.push(char::from(last));
        part += 1;
    }
    text
}

/// The most bits of which half the names still pass.
fn most_bits(encode: impl Fn(&mut TunnelDice, f64) -> String) -> u16 {
    let mut dice = TunnelDice(2024);
    let passes = |dice: &mut TunnelDice, bits: u16| {
        (0..40).filter(|_| !looks_like_data(&encode(dice, bits.into()))).count() >= 20
    };
    (8..600).step_by(4).filter(|&bits| passes(&mut dice, bits)).max().unwrap_or(0)
}

/// These are the figures of the module's documentation, and of docs/network.md.
#[test]
fn what_still_passes_is_little() {
    const BASE_32: &[u8] = b"abcdefghijklmnopqrstuvwxyz234567";
    const BASE_36: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let table = [
        ("decimal", most_bits(|dice, bits| of_alphabet(dice, b"0123456789", bits)), 52..=56),
        ("hexadecimal", most_bits(|dice, bits| of_alphabet(dice, b"0123456789abcdef", bits)), 124..=132),
        ("base 32", most_bits(|dice, bits| of_alphabet(dice, BASE_32, bits)), 156..=164),
        ("base 36", most_bits(|dice, bits| of_alphabet(dice, BASE_36, bits)), 160..=168),
        ("made-up words", most_bits(of_made_up_words), 280..=320),
        (
            "both",
            most_bits(|dice, bits| {
                let random = of_alphabet(dice, BASE_36, bits.min(160.0));
                format!("{random}-{}", of_made_up_words(dice, (bits - 163.0).max(0.0)))
            }),
            260..=320,
        ),
    ];
    for (encoding, bits, expected) in table {
        println!("{encoding}: {bits} bits a name, {} bytes a run", usize::from(bits) * 64 / 8);
        assert!(expected.contains(&bits), "{encoding}: {bits} bits, {expected:?} expected");
    }
}

/// Identifiers of clouds are random: hardly any may be refused by accident.
#[test]
fn random_identifiers_pass() {
    let mut dice = TunnelDice(7);
    let shapes: &[(&[u8], usize, &str)] = &[
        (b"abcdefghijklmnopqrstuvwxyz", 20, "{}"),
        (b"abcdefghijklmnopqrstuvwxyz0123456789", 10, "{}.execute-api.us-east-1"),
        (b"abcdefghijklmnopqrstuvwxyz234567", 32, "{}.lambda-url.eu-west-1"),
        (b"0123456789abcdef", 32, "{}.r2"),
        (b"0123456789abcdef", 16, "my-nlb-{}.elb.us-east-2"),
        (b"0123456789", 12, "my-function-{}.europe-west1"),
    ];
    for (alphabet, length, shape) in shapes {
        let refused = (0..5000)
            .filter(|_| {
                let id: String =
                    (0..*length).map(|_| char::from(alphabet[dice.below(alphabet.len())])).collect();
                looks_like_data(&shape.replace("{}", &id))
            })
            .count();
        assert!(refused <= 5, "{shape}: {refused} of 5000");
    }
}
