//! A value that may not be seen.

use std::fmt;

use zeroize::Zeroizing;

use crate::secret_name::REDACTED;

/// A secret value. It cannot be printed by accident, cannot be serialised, and its memory is overwritten when it is dropped.
///
/// ```
/// use skillsandbox_text::Secret;
///
/// let secret = Secret::from("hunter2");
/// assert_eq!(format!("{secret} {secret:?}"), "[REDACTED] [REDACTED]");
/// assert_eq!(secret.expose(), "hunter2");
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// The value itself, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(Zeroizing::new(value))
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        value.to_owned().into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_overwritten<T: zeroize::ZeroizeOnDrop>(_: &T) {}

    #[test]
    fn row_136_a_secret_is_not_printed_and_is_overwritten() {
        let secret = Secret::from("hunter2".to_owned());
        for shown in [
            format!("{secret}"),
            format!("{secret:?}"),
            format!("{secret:#?}"),
            format!("{:?}", [("NAME", secret.clone())]),
            format!("{:?}", Some(&secret)),
        ] {
            assert!(shown.contains(REDACTED) && !shown.contains("hunter2"), "{shown}");
        }
        assert_eq!(secret, Secret::from("hunter2"));
        // No test can look at memory that was given back; the type says that it is overwritten before.
        is_overwritten(&secret.0);
    }
}
