//! Names that are data.

pub(crate) fn looks_like_data(below: &str) -> bool {
    below.len() > 100
}
