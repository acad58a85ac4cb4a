//! The three common forms of base85: four bytes are five letters of an alphabet.

/// Bytes that make a group, and letters that stand for it.
pub(super) const GROUP: usize = 4;
pub(super) const LETTERS: usize = 5;

/// Adobe's and Python's `a85encode`, RFC 1924 and Python's `b85encode`, and Z85 of `ZeroMQ`.
pub(super) const ALPHABETS: [&[u8; 85]; 3] = [
    br##"!"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstu"##,
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
];

/// The letters of whole groups.
pub(super) fn encode(bytes: &[u8], alphabet: &[u8; 85]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / GROUP * LETTERS);
    for group in bytes.chunks_exact(GROUP) {
        let number = group.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        let digits = [52_200_625, 614_125, 7225, 85, 1].map(|power| number / power % 85);
        out.extend(digits.iter().filter_map(|digit| alphabet.get(usize::try_from(*digit).ok()?)));
    }
    out
}
