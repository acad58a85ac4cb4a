//! stub page
