use crate::term::term;

term! {
    /// How much of what a run does is observed. Nothing that is enforced depends on it.
    #[derive(Default)]
    ObserveLevel("level of observation") {
        /// Nothing but what the network broker serves.
        Off = "off",
        /// What is refused, and which process connects to what.
        Violations = "violations",
        /// Every file that is opened or changed, and every program that is executed, too.
        #[default]
        Full = "full",
    }
}
