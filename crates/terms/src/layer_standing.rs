use crate::term::term;

term! {
    /// How much of a layer of the sandbox a host has.
    LayerStanding("standing of a layer") {
        /// All that is asked for.
        Full = "full",
        /// Some of it. A run goes on, and this is said.
        Partial = "partial",
        /// None of it. A run is refused, unless the layer was named best-effort.
        Missing = "missing",
    }
}
