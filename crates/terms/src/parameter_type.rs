use crate::term::term;

term! {
    /// The type of a parameter's value: JSON's.
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
    }
}
