//! Values that are one of a few words.

/// Declares an enum whose variants are words of the manifest: parsing with a suggestion, printing, serialising. It is a closed set: a new
/// word is a compile error in every `match` over it, so that none is let through unnoticed.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $name:ident($what:literal) { $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[$variant_meta])* $variant, )+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The word that stands for it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Fault;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                const WORDS: &[&str] = &[ $( $word, )+ ];
                match text {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err($crate::words::unknown($what, text, WORDS)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;

pub(crate) fn unknown(what: &str, text: &str, words: &[&str]) -> crate::Fault {
    use crate::diagnostic::{Code, Fault, quoted};
    let fault = Fault::new(Code::UnknownValue, format!("unknown {what} {}", quoted(text)));
    match crate::suggestion::nearest(text, words) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help(format!("accepted are {}", crate::suggestion::list(words))),
    }
}

impl From<skillsandbox_terms::UnknownTerm> for crate::Fault {
    fn from(unknown: skillsandbox_terms::UnknownTerm) -> Self {
        self::unknown(unknown.what, &unknown.word, unknown.known)
    }
}
