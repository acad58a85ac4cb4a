use crate::term::term;

term! {
    /// What runs the skill.
    #[derive(Default)]
    Runtime("runtime") {
        /// A process of the host, confined by its kernel.
        #[default]
        Native = "native",
        /// A WebAssembly component.
        Wasm = "wasm",
        /// A container image.
        Oci = "oci",
    }
}
