//! What Unicode says of characters, by the tables of `regex-syntax`, which are made from the Unicode Character Database.

use regex_syntax::hir::{Class, HirKind};

/// Whether a character is of a class, such as `\p{Cf}`.
pub(crate) fn of(class: &str) -> impl Fn(char) -> bool + use<> {
    let hir = regex_syntax::parse(class).unwrap();
    let mut is_of = vec![false; 0x11_0000];
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            for range in class.ranges() {
                for c in range.start()..=range.end() {
                    is_of[c as usize] = true;
                }
            }
        }
        other => panic!("{class} is {other:?}"),
    }
    move |c| is_of[c as usize]
}
