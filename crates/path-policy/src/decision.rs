//! What a policy answers: yes, ask, or no with a reason.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use skillsandbox_text::ShownBytes;

use crate::settings::AccessKind;

/// Characters shown of one piece of text.
const MOST_SHOWN: usize = 200;

/// Untrusted text for a message.
pub(crate) fn show_bytes(bytes: &[u8]) -> ShownBytes<'_> {
    ShownBytes::new(bytes, MOST_SHOWN)
}

/// A decision about a path or a call. The stricter is the greater, so that the strictest of several is their `max` by [`PathDecision::strictness`].
///
/// It borrows what was asked, so that saying no costs no allocation; [`PathDecision::into_owned`] lets it outlive the
/// question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision that nobody looks at protects nothing"]
pub enum PathDecision<'a> {
    /// Every path of the call is inside, and the tool's mode allows it.
    Allow,
    /// Every path is inside; the user has to confirm the call before the tool runs. Only
    /// [`PathPolicy::judge_call`](crate::PathPolicy::judge_call) says this.
    Prompt,
    /// It may not.
    Deny(PathDenial<'a>),
}

impl PathDecision<'_> {
    /// Whether it is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow)
    }

    /// Whether it is denied.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Deny(_))
    }

    /// The denial, if it is one.
    #[must_use]
    pub fn denial(&self) -> Option<&PathDenial<'_>> {
        match self {
            Self::Deny(denial) => Some(denial),
            Self::Allow | Self::Prompt => None,
        }
    }

    /// The rule that said no.
    #[must_use]
    pub fn rule(&self) -> Option<PathRule> {
        self.denial().map(PathDenial::rule)
    }

    /// Why it is denied; empty otherwise.
    #[must_use]
    pub fn reason(&self) -> String {
        self.denial().map(ToString::to_string).unwrap_or_default()
    }

    /// 0 for allow, 1 for prompt, 2 for deny.
    #[must_use]
    pub fn strictness(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Prompt => 1,
            Self::Deny(_) => 2,
        }
    }

    /// The word that scripts read: `allow`, `prompt` or `deny`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Prompt => "prompt",
            Self::Deny(_) => "deny",
        }
    }

    /// The same decision, holding copies of what was asked.
    pub fn into_owned(self) -> PathDecision<'static> {
        match self {
            Self::Allow => PathDecision::Allow,
            Self::Prompt => PathDecision::Prompt,
            Self::Deny(denial) => PathDecision::Deny(denial.into_owned()),
        }
    }
}

/// Why a path or a call is denied. Its text begins `path traversal blocked:` and names the tool and the root; denials by a
/// tool's mode begin `tool denied:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathDenial<'a> {
    pub(crate) rule: PathRule,
    pub(crate) tool: Option<Cow<'a, str>>,
    pub(crate) argument: Option<Cow<'a, str>>,
    pub(crate) path: Cow<'a, [u8]>,
    pub(crate) access: Option<AccessKind>,
    pub(crate) root: Cow<'a, Path>,
    /// What the system said, for rules that rest on it.
    pub(crate) detail: Option<Box<str>>,
}

impl PathDenial<'_> {
    /// The rule that decided.
    #[must_use]
    pub fn rule(&self) -> PathRule {
        self.rule
    }

    /// The tool of the call, as it was named; none for a bare path.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The key of the argument that was refused.
    #[must_use]
    pub fn argument(&self) -> Option<&str> {
        self.argument.as_deref()
    }

    /// The path that was refused, as it was written; empty where none was.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The same denial, holding copies of what was asked.
    #[must_use]
    pub fn into_owned(self) -> PathDenial<'static> {
        PathDenial {
            rule: self.rule,
            tool: self.tool.map(|tool| Cow::Owned(tool.into_owned())),
            argument: self.argument.map(|argument| Cow::Owned(argument.into_owned())),
            path: Cow::Owned(self.path.into_owned()),
            access: self.access,
            root: Cow::Owned(self.root.into_owned()),
            detail: self.detail,
        }
    }
}

impl std::error::Error for PathDenial<'_> {}

impl fmt::Display for PathDenial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.rule.is_about_mode() { "tool denied: " } else { "path traversal blocked: " })?;
        if let Some(tool) = &self.tool {
            write!(f, "tool `{}`: ", show_bytes(tool.as_bytes()))?;
        }
        if let Some(argument) = &self.argument {
            write!(f, "argument `{}`: ", show_bytes(argument.as_bytes()))?;
        }
        if !self.path.is_empty() {
            write!(f, "`{}` ", show_bytes(&self.path))?;
        }
        f.write_str(self.rule.what())?;
        if let Some(detail) = &self.detail {
            write!(f, " ({})", show_bytes(detail.as_bytes()))?;
        }
        if let Some(access) = self.access {
            write!(f, "; wanted: {access}")?;
        }
        write!(f, "; root: {}", show_bytes(self.root.as_os_str().as_encoded_bytes()))?;
        f.write_str("; ")?;
        f.write_str(self.rule.cure())
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident, $code:literal, $what:literal, $cure:literal;)*) => {
        /// What decided. Each has a code for scripts, which stays; the text may change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum PathRule {
            $($(#[$doc])* $name,)*
        }

        impl PathRule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code for scripts.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What is wrong, to follow the path.
            fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)* }
            }

            /// What to do about it.
            fn cure(self) -> &'static str {
                match self { $(Self::$name => $cure,)* }
            }
        }
    };
}

rules! {
    /// An absolute path, or an absolute link, to a place in no root.
    OutsideRoot, "outside-root", "is outside the root", "use a path relative to the root";
    /// `..` above the root.
    Climbs, "climbs-out", "climbs out of the root", "use a path below the root, without leaving it in between";
    /// A symbolic link on the way leads out.
    LinkLeadsOut, "link-leads-out", "leads out of the root by a symbolic link", "use a path that stays inside";
    /// A link of procfs, which leads wherever a process has something open.
    MagicLink, "magic-link", "passes a link of /proc, which leads anywhere", "name the file itself";
    /// Links that lead to each other, or more of them than the kernel follows.
    LinkLoop, "link-loop", "passes too many symbolic links", "name the file itself";
    /// A forbidden path, or one below it.
    Forbidden, "forbidden", "is forbidden", "leave it alone";
    /// A whole tree with a forbidden path in it.
    ForbiddenBelow, "forbidden-below", "has a forbidden path below it", "name a folder or file beside it";
    /// Inside a root that may only be read.
    ReadOnly, "read-only", "may be read, not written", "write below the root";
    /// The root itself was to be moved or removed.
    IsRoot, "is-root", "is a root itself", "name something below it";
    /// The kernel could not follow it: a file in the place of a folder, no permission, `..` behind what does not exist.
    Unresolvable, "unresolvable", "cannot be resolved", "name an existing folder";
    /// It changed again and again while it was looked at.
    KeepsChanging, "keeps-changing", "keeps changing while it is looked at", "try again when nothing moves it";
    /// Nothing at all.
    Empty, "empty", "the path is empty", "name a file";
    /// Longer than the kernel takes: 4095 bytes, or 255 for one name.
    TooLong, "too-long", "is longer than the system takes (4095 bytes, 255 a name)", "use a shorter path";
    /// More than 256 names.
    TooDeep, "too-deep", "has more than 256 names", "use a shorter path";
    /// A NUL or another control character.
    ControlCharacter, "control-character", "holds a control character", "remove it";
    /// Not UTF-8.
    NotUtf8, "not-utf8", "is not UTF-8", "rename the file";
    /// `~` or `~user` at the beginning.
    Home, "home", "begins with `~`, which means another place to every tool", "write the path out, or `./~` for a file of that name";
    /// `$HOME`, `${HOME}`, `$(…)`, `%NAME%`, a backquote.
    Variable, "variable", "holds a variable, which is not expanded here", "write the path out, or `./$…` for a file of that name";
    /// `file://`, or another URL.
    Url, "url", "is a URL, not a path", "write the plain path";
    /// Percent-encoding that hides something a plain path would be refused for.
    PercentEncoding, "percent-encoding", "means another place when its percent signs are decoded", "write the plain path";
    /// A backslash.
    Backslash, "backslash", "holds a backslash, which is a separator to some tools", "write `/`";
    /// `C:`.
    DriveLetter, "drive-letter", "begins with a drive letter", "use a path relative to the root";
    /// A name that ends in a dot or a space, or a path that begins with a space: some tools cut them off.
    TrailingDot, "trailing-dot", "has a name that ends in a dot or a space, or begins with a space", "remove it";
    /// A character that some tools turn into `/`, `\` or `.`.
    LookAlike, "look-alike", "holds a character that looks like `/`, `\\` or `.`", "write the plain character";
    /// A character that nobody sees.
    Invisible, "invisible", "holds an invisible character", "remove it";
    /// Another spelling of the same letters (NFC, NFD) is refused.
    Composition, "composition", "means another place when its letters are composed differently", "rename one of the two files";
    /// A pattern that can match `..`, or that climbs.
    PatternClimbs, "pattern-climbs", "is a pattern that can climb out of its folder", "search below the root without `..`, and write `.[!.]*` for `.*`";
    /// A pattern too involved to be sure of.
    PatternTooComplex, "pattern-too-complex", "is a pattern with too many alternatives or an open bracket", "use a simpler one";
    /// A list, a number or an object where a path must be.
    WrongType, "wrong-type", "must be text", "pass one path as a string";
    /// The arguments are not an object.
    ArgumentsNotObject, "arguments-not-object", "the arguments are not an object", "pass an object with the tool's arguments";
    /// A tool that needs a path got none.
    MissingPath, "missing-path", "no argument names a path", "pass the path of the file";
    /// More paths in one call than are looked at.
    TooManyPaths, "too-many-paths", "the call names more than 1024 paths", "split it";
    /// Arguments nested deeper than 64.
    TooNested, "too-nested", "the arguments are nested deeper than 64", "flatten them";
    /// JSON that two readers may read differently.
    DuplicateKey, "duplicate-key", "the arguments are not JSON, or have a key twice", "pass each key once";
    /// A tool in no table, under a policy that denies those.
    UnknownTool, "unknown-tool", "the tool is not known to the policy", "add it to the policy";
    /// The tool's mode is deny.
    ModeDeny, "mode-deny", "the policy denies this tool", "do without it";
    /// Somebody was asked and said no.
    PromptRefused, "prompt-refused", "the user said no", "do without it";
    /// Somebody should be asked and nobody can be.
    NoPrompter, "no-prompter", "the policy asks for confirmation, and there is no prompter", "set a prompter, or the mode allow";
}

impl PathRule {
    /// Whether the characters of a path alone broke it, wherever it leads.
    pub(crate) fn is_about_text(self) -> bool {
        matches!(self, Self::TooLong | Self::TrailingDot | Self::LookAlike | Self::Invisible)
    }

    /// Whether it is about where a path leads, not about what it looks like.
    pub(crate) fn is_about_place(self) -> bool {
        matches!(
            self,
            Self::OutsideRoot
                | Self::Climbs
                | Self::LinkLeadsOut
                | Self::MagicLink
                | Self::LinkLoop
                | Self::Forbidden
                | Self::ForbiddenBelow
                | Self::ReadOnly
                | Self::KeepsChanging
                | Self::Composition
        )
    }

    pub(crate) fn is_about_mode(self) -> bool {
        matches!(self, Self::UnknownTool | Self::ModeDeny | Self::PromptRefused | Self::NoPrompter)
    }
}

impl fmt::Display for PathRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
