//! How a term is declared: its variants, their words, and everything that follows from those.

use std::fmt;

/// Declares an enum whose variants are words: parsing, printing, and, with their features, serde and a JSON Schema.
macro_rules! term {
    (
        $(#[$meta:meta])*
        $name:ident($what:literal) { $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $( $(#[$variant_meta])* #[cfg_attr(feature = "serde", serde(rename = $word))] $variant, )+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: [Self; Self::WORDS.len()] = [ $( Self::$variant, )+ ];
            /// The word of every value, in the same order.
            pub const WORDS: &'static [&'static str] = &[ $( $word, )+ ];

            /// Its word in manifests, reports and traces.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownTerm;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err($crate::UnknownTerm::new($what, text, Self::WORDS)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use term;

/// Most characters of an unknown word that are kept: it may come from a stranger's file.
const MAX_KEPT: usize = 60;

/// A word that is not one of a term's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownTerm {
    /// What was asked for: `protocol`.
    pub what: &'static str,
    /// The word, cut to 60 characters, with controls escaped.
    pub word: String,
    /// The words that there are.
    pub known: &'static [&'static str],
}

impl UnknownTerm {
    pub(crate) fn new(what: &'static str, text: &str, known: &'static [&'static str]) -> Self {
        let mut word: String = text.chars().take(MAX_KEPT).flat_map(char::escape_debug).collect();
        if text.chars().nth(MAX_KEPT).is_some() {
            word.push('…');
        }
        Self { what, word, known }
    }
}

impl fmt::Display for UnknownTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`", self.what, self.word)?;
        match self.known {
            [first @ .., last] => write!(f, "; accepted are {} and {last}", first.join(", ")),
            [] => Ok(()),
        }
    }
}

impl std::error::Error for UnknownTerm {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::{
        EndCause, FailOn, FileOperation, LayerStanding, ObserveLevel, ParameterType, Protocol, RunLimit,
        Runtime, SyscallProfile, Transport,
    };

    macro_rules! for_each_term {
        ($check:ident: $($name:ident),+) => { $( $check!($name); )+ };
    }

    #[test]
    fn every_word_leads_back_to_its_value_and_no_other_word_does() {
        macro_rules! check {
            ($name:ident) => {
                assert_eq!($name::ALL.len(), $name::WORDS.len());
                for (value, word) in $name::ALL.iter().zip($name::WORDS) {
                    assert_eq!(value.as_str(), *word);
                    assert_eq!(word.parse(), Ok(*value));
                    assert!(word.to_uppercase().parse::<$name>().is_err(), "{word}");
                }
                assert_eq!($name::WORDS.iter().collect::<HashSet<_>>().len(), $name::WORDS.len());
                assert!("".parse::<$name>().is_err());
            };
        }
        for_each_term!(check: EndCause, FailOn, FileOperation, LayerStanding, ObserveLevel, ParameterType, Protocol, RunLimit, Runtime, SyscallProfile, Transport);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn json_has_the_same_words() {
        macro_rules! check {
            ($name:ident) => {
                for value in &$name::ALL {
                    let json = serde_json::to_string(value).unwrap();
                    assert_eq!(json, format!("\"{value}\""));
                    assert_eq!(serde_json::from_str::<$name>(&json).unwrap(), *value);
                }
            };
        }
        for_each_term!(check: EndCause, FailOn, FileOperation, LayerStanding, ObserveLevel, ParameterType, Protocol, RunLimit, Runtime, SyscallProfile, Transport);
    }

    #[test]
    fn an_unknown_word_is_told_short_and_harmless() {
        let error = format!("\u{1b}[2J\n{}", "x".repeat(500)).parse::<Protocol>().unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("unknown protocol `\\u{1b}[2J\\n"), "{text}");
        assert!(
            text.chars().count() < 140 && text.ends_with("; accepted are tcp, https, http and udp"),
            "{text}"
        );
        assert_eq!(error.known, Protocol::WORDS);
    }
}
