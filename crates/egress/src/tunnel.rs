//! Names that carry data. The server of a domain sees every name below it that is looked up, so a wildcard is a way out for data.
//!
//! What a name can carry is estimated and bounded: words cost little, digits and random letters as much as they can hold. A
//! random part is let through up to the 32 letters that clouds put there (`3f2a….r2.cloudflarestorage.com`), words up to the
//! length of real names. That cannot tell a short secret from the name of a bucket; it makes the letter box small. What still
//! goes through was measured with encoders that know these rules (`tunnel/tests.rs`), random bits a name and, with the 64 names
//! of a run, a run: made-up words 308 and 2.5 kB; base 32 and 36 160 and 1.3 kB; hexadecimal 128 and 1 kB; decimal 52 and 0.4 kB.
//! Plain text in base 32, hexadecimal or decimal is recognised where it is longer than some ten letters and has no other bytes
//! mixed in; who compresses or encrypts it first has the figures above. Exact names carry nothing.

/// Most letters. Names in clouds stay below 80; the tools for tunnelling want as many of the 253 as they can get.
const MOST_LETTERS: usize = 100;

/// Most labels: `account.privatelink.blob.core` has four, none known has more than six.
const MOST_LABELS: usize = 6;

/// Most labels with something random in them, and most that are numbers.
const MOST_RANDOM_LABELS: usize = 2;
const MOST_NUMBERS: usize = 2;

/// Most parts between hyphens and dots, in all labels. Previews of branches have up to 14.
const MOST_PARTS: usize = 14;

/// Most digits of a number: accounts have 12, times in milliseconds 13.
const MOST_DIGITS: usize = 16;

/// Most digits of a hexadecimal number: what a UUID and an MD5 have.
const MOST_HEX: usize = 32;

/// Most tenths of a bit in random parts: 32 letters or digits have 1664.
const MOST_RANDOM: usize = 1670;

/// Most tenths of a bit in all.
const MOST_IN_ALL: usize = 2750;

/// From here on, a random part says something about its label.
const A_FEW: usize = 8;

/// From here on, a part that reads as text when it is decoded is not so by accident (hexadecimal of this length: one in ten thousand).
const LONG_ENOUGH: usize = 18;

/// Tenths of a bit that one letter can hold.
mod cost {
    pub(super) const DIGIT: usize = 33;
    pub(super) const HEX: usize = 40;
    pub(super) const LETTER: usize = 47;
    pub(super) const LETTER_OR_DIGIT: usize = 52;
    /// A letter that follows another as in a language.
    pub(super) const OF_A_WORD: usize = 33;
    /// What stands between two parts, and where.
    pub(super) const BETWEEN: usize = 30;
}

/// Whether labels below a wildcard's base look like data. `below` is the part of the name left of the base, without the dot.
pub(crate) fn looks_like_data(below: &str) -> bool {
    // Names are compared and asked for in lower case: the case of letters carries nothing.
    let below = below.to_ascii_lowercase();
    if below.len() > MOST_LETTERS || below.split('.').count() > MOST_LABELS {
        return true;
    }
    let is_number = |label: &&str| label.bytes().all(|byte| byte.is_ascii_digit());
    if below.split('.').filter(is_number).count() > MOST_NUMBERS {
        return true;
    }
    let joined: String = below.chars().filter(char::is_ascii_alphanumeric).collect();
    if reads_as_text(&joined) {
        return true;
    }
    // Hyphens in a row say something too, by their number.
    let mut in_all = (below.len() - joined.len()) * cost::BETWEEN;
    let mut random = 0;
    let mut random_labels = 0;
    let mut count = 0;
    for label in below.split('.') {
        let mut is_random = false;
        for part in parts(label) {
            if reads_as_text(part) || is_long_number(part) {
                return true;
            }
            count += 1;
            let weight = weigh(part);
            in_all += weight.tenths;
            if weight.random {
                random += weight.tenths;
                is_random |= part.len() >= A_FEW;
            }
        }
        random_labels += usize::from(is_random);
    }
    count > MOST_PARTS || in_all > MOST_IN_ALL || random > MOST_RANDOM || random_labels > MOST_RANDOM_LABELS
}

/// The parts of a label between its hyphens; a UUID is one.
fn parts(label: &str) -> impl Iterator<Item = &str> {
    let is_uuid = label.len() == 36
        && label.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    label.split(move |letter| !is_uuid && matches!(letter, '-' | '_')).filter(|part| !part.is_empty())
}

struct LabelWeight {
    tenths: usize,
    random: bool,
}

fn weigh(part: &str) -> LabelWeight {
    let word = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = part.len() - word.len();
    let letters = part.len();
    if word.is_empty() {
        return LabelWeight { tenths: letters * cost::DIGIT, random: letters > 4 };
    }
    // `api`, `s3`, `bucket2024`: what is this short, or reads like this, is not random by itself.
    let spelled = word.bytes().all(|byte| byte.is_ascii_lowercase());
    if spelled && digits <= 4 && (word.len() <= 3 || is_like_words(word)) {
        let each = if word.len() <= 3 { cost::LETTER } else { cost::OF_A_WORD };
        return LabelWeight { tenths: word.len() * each + digits * cost::DIGIT, random: false };
    }
    let each = if part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        cost::HEX
    } else if spelled && digits == 0 {
        cost::LETTER
    } else {
        cost::LETTER_OR_DIGIT
    };
    LabelWeight { tenths: letters * each, random: true }
}

/// Letters that often follow each letter, from `a` on: 93 of 100 pairs in the documentation of programs. Of all pairs that there
/// could be, 37 of 100 are here.
const FOLLOW: [&str; 26] = [
    "bcdgiklmnprstuvy",
    "aeilorsu",
    "acehiklorstu",
    "adeilorsu",
    "abcdefgilmnopqrstuvwxy",
    "aefiloru",
    "aehinorsu",
    "aeiort",
    "abcdefglmnoprstvz",
    "e",
    "eis",
    "adeilostuy",
    "abeimopsu",
    "acdefgiknostuv",
    "abcdfgiklmnoprstuvw",
    "aeiloprstu",
    "u",
    "acdefgiklmnorstuvy",
    "acehilopstuy",
    "acdehiloprstuy",
    "abcefgilmnprst",
    "aei",
    "aeinor",
    "ept",
    "nps",
    "e",
];

/// Whether seven of ten letters follow the one before as they do in words: joined ones (`mycompanybackups`) have odd pairs too.
fn is_like_words(letters: &str) -> bool {
    let usual = |(first, second): &(u8, u8)| {
        let follow = first.checked_sub(b'a').and_then(|place| FOLLOW.get(usize::from(place)));
        follow.is_some_and(|follow| follow.as_bytes().contains(second))
    };
    let pairs = || letters.bytes().zip(letters.bytes().skip(1));
    pairs().filter(usual).count() * 10 >= pairs().count() * 7
}

fn is_long_number(part: &str) -> bool {
    let count = part.len();
    (count > MOST_DIGITS && part.bytes().all(|byte| byte.is_ascii_digit()))
        || (count > MOST_HEX && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether a part is text in hexadecimal, in base 32, or in decimal with three digits a letter.
fn reads_as_text(part: &str) -> bool {
    let is_text = |bytes: Option<Vec<u8>>| {
        bytes.is_some_and(|bytes| {
            let of_words = bytes.iter().filter(|byte| byte.is_ascii_alphanumeric() || **byte == b' ').count();
            of_words * 8 >= bytes.len() * 5
                && bytes.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
        })
    };
    let long = part.len() >= LONG_ENOUGH;
    (long && (is_text(group_bits(part, 16, 4)) || is_text(group_bits(part, 32, 5))))
        || (part.len() >= 12 && is_text(decimal(part)))
}

/// Bytes from letters of so many bits each. A byte that is not complete at the end is left out.
fn group_bits(part: &str, radix: u32, bits: u32) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(part.len());
    let (mut held, mut count) = (0_u32, 0);
    for letter in part.bytes() {
        let value = match letter {
            // RFC 4648: letters first, then the digits from 2 on.
            b'a'..=b'z' if radix == 32 => u32::from(letter - b'a'),
            b'2'..=b'7' if radix == 32 => u32::from(letter - b'2') + 26,
            _ if radix == 32 => return None,
            _ => char::from(letter).to_digit(radix)?,
        };
        held = (held << bits) | value;
        count += bits;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((held >> count) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

fn decimal(part: &str) -> Option<Vec<u8>> {
    if !part.len().is_multiple_of(3) || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let groups = part.as_bytes().chunks(3);
    groups.map(|group| std::str::from_utf8(group).ok()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
