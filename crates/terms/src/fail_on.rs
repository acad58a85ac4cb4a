use crate::term::term;

term! {
    /// From which verdict on a scan is refused.
    FailOn("verdict") {
        /// A person should look.
        Warning = "warning",
        /// Clearly malicious.
        Blocked = "blocked",
    }
}
