use crate::term::term;

term! {
    /// What is done to a file.
    FileOperation("file operation") {
        /// Opened to be read.
        Read = "read",
        /// Opened to be written, or made.
        Write = "write",
        /// Removed.
        Remove = "remove",
        /// Given another name.
        Rename = "rename",
        /// Given one more name.
        Link = "link",
        /// Made a symbolic link.
        Symlink = "symlink",
        /// Made a folder.
        MakeFolder = "make_folder",
        /// Made something other than a file or folder.
        MakeNode = "make_node",
        /// Cut to a length.
        Truncate = "truncate",
        /// Mode or owner changed.
        ChangeMode = "change_mode",
        /// Extended attributes changed.
        ChangeAttributes = "change_attributes",
        /// Connected to, as a Unix socket.
        Connect = "connect",
    }
}
