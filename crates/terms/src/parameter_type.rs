use crate::term::term;

term! {
    /// The type of a parameter's value: JSON's, and paths of the caller's files.
    ParameterType("parameter type") {
        /// Text.
        String = "string",
        /// A number, whole or not.
        Number = "number",
        /// `true` or `false`.
        Boolean = "boolean",
        /// A list.
        Array = "array",
        /// A map.
        Object = "object",
        /// A file or folder of the caller's, which the run is granted.
        Path = "path",
    }
}
