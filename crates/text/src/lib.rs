//! Text that strangers wrote.
#![forbid(unsafe_code)]

mod characters;

pub use characters::{
    is_bidi_control, is_deceptive, is_default_ignorable, is_emoji_selector, is_filler, is_hidden,
    is_invisible, is_joiner, is_tag, is_variation_selector,
};
