//! What a policy says of a tool call: every path in its arguments, then the tool's mode.

use std::borrow::Cow;

use serde_json::Value;

use crate::decision::{PathDecision, PathDenial, PathRule};
use crate::glob;
use crate::json::strict_json;
use crate::loose_text::{carries_file, each_relative, is_address, path_candidates};
use crate::policy::{PathPolicy, PromptRequest};
use crate::settings::{AccessKind, ForbiddenBelow, ToolMode, UnknownTools};
use crate::tools::{ArgumentKey, NormalKey, ToolSpec, TreeAccess, known_as};
use crate::walk::PathRefusal;

/// Paths looked at in one call; the largest seen in practice is a list of some hundred files.
const MAX_PATHS: usize = 1024;
/// Words of one text that are looked at as if they were paths.
const MAX_WORDS: usize = 16_384;
/// Depth of the arguments. `serde_json` itself reads 128.
const MAX_NESTING: usize = 64;

impl PathPolicy {
    /// Whether a tool call may run: its paths first, then the mode of the tool. [`ToolMode::Prompt`] asks the prompter here; without
    /// one it is a denial.
    ///
    /// ```
    /// use serde_json::json;
    /// use skillsandbox_path_policy::PathPolicy;
    ///
    /// # let workspace = tempfile::tempdir()?;
    /// let policy = PathPolicy::new(workspace.path())?;
    /// assert!(policy.validate_call("Read", &json!({ "file_path": "projects/foo.md" })).is_allowed());
    /// assert!(policy.validate_call("Read", &json!({ "file_path": "/etc/passwd" })).is_denied());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validate_call<'a>(&'a self, tool: &'a str, arguments: &'a Value) -> PathDecision<'a> {
        match self.judge_call(tool, arguments) {
            PathDecision::Prompt => match &self.prompter {
                None => PathDecision::Deny(self.call_denial(tool, PathRule::NoPrompter)),
                Some(ask) if ask(&PromptRequest { tool, arguments }) => PathDecision::Allow,
                Some(_) => PathDecision::Deny(self.call_denial(tool, PathRule::PromptRefused)),
            },
            decided => decided,
        }
    }

    /// The same without asking anybody: [`PathDecision::Prompt`] is left to the caller.
    pub fn judge_call<'a>(&'a self, tool: &'a str, arguments: &'a Value) -> PathDecision<'a> {
        let decided = match self.tool(tool) {
            Some(spec) if spec.exempt => Ok(()),
            Some(spec) => CallCheck::new(self, tool, Some(spec), arguments).check(),
            None => match self.unknown {
                UnknownTools::Ignore => Ok(()),
                UnknownTools::Check => CallCheck::new(self, tool, None, arguments).check(),
                UnknownTools::Deny => Err(self.call_denial(tool, PathRule::UnknownTool)),
            },
        };
        match (decided, self.mode_of(tool)) {
            (Err(denial), _) => PathDecision::Deny(denial),
            (Ok(()), ToolMode::Allow) => PathDecision::Allow,
            (Ok(()), ToolMode::Prompt) => PathDecision::Prompt,
            (Ok(()), ToolMode::Deny) => PathDecision::Deny(self.call_denial(tool, PathRule::ModeDeny)),
        }
    }

    /// [`PathPolicy::validate_call`] for arguments as text. A key that stands twice in an object is a denial: two readers of JSON
    /// may take different ones, and [`Value`] no longer shows that there were two.
    pub fn validate_call_json<'a>(&'a self, tool: &'a str, arguments: &str) -> PathDecision<'a> {
        match strict_json(arguments) {
            Ok(arguments) => self.validate_call(tool, &arguments).into_owned(),
            Err(error) => {
                let detail = Some(error.to_string().into());
                PathDecision::Deny(PathDenial { detail, ..self.call_denial(tool, PathRule::DuplicateKey) })
            }
        }
    }

    fn call_denial<'a>(&'a self, tool: &'a str, rule: PathRule) -> PathDenial<'a> {
        PathDenial {
            rule,
            tool: Some(Cow::Borrowed(tool)),
            argument: None,
            path: Cow::Borrowed(&[]),
            access: None,
            root: Cow::Borrowed(self.root()),
            detail: None,
        }
    }

    /// What is known of a tool. That it is no file tool is believed of its whole name only: a server may call anything `bash`.
    fn tool(&self, name: &str) -> Option<&ToolSpec> {
        known_as(name).enumerate().find_map(|(index, name)| {
            self.tools.get(NormalKey::of(name).as_str()).filter(|spec| index == 0 || !spec.exempt)
        })
    }

    /// The strictest of the modes set for the names of a tool.
    fn mode_of(&self, name: &str) -> ToolMode {
        let modes = known_as(name).filter_map(|name| self.modes.get(NormalKey::of(name).as_str()));
        modes.max().copied().unwrap_or(self.default_mode)
    }
}

struct CallCheck<'a> {
    policy: &'a PathPolicy,
    tool: &'a str,
    /// None for a tool that is not known.
    spec: Option<&'a ToolSpec>,
    arguments: &'a Value,
    access: AccessKind,
    /// Folders of this call that its relative paths may start from.
    bases: BaseFolders<'a>,
    /// The same for its patterns, which may start from any of its paths.
    glob_bases: BaseFolders<'a>,
    found: usize,
}

impl<'a> CallCheck<'a> {
    fn new(policy: &'a PathPolicy, tool: &'a str, spec: Option<&'a ToolSpec>, arguments: &'a Value) -> Self {
        let mut access = spec.map_or(AccessKind::ReadWrite, |spec| spec.access);
        if let Some((key, value)) = spec.and_then(|spec| spec.reads_when.as_ref())
            && arguments.get(&**key).and_then(Value::as_str) == Some(value)
        {
            access = AccessKind::Read;
        }
        Self {
            policy,
            tool,
            spec,
            arguments,
            access,
            bases: BaseFolders::default(),
            glob_bases: BaseFolders::default(),
            found: 0,
        }
    }

    fn check(mut self) -> Result<(), PathDenial<'a>> {
        let arguments = self.arguments;
        match arguments {
            Value::Object(_) | Value::Null => {}
            _ if self.spec.is_none() => {}
            _ => return Err(self.policy.call_denial(self.tool, PathRule::ArgumentsNotObject)),
        }
        self.collect_bases(arguments, 0)?;
        self.visit(None, arguments, 0)?;
        let Some(spec) = self.spec.filter(|_| self.found == 0) else { return Ok(()) };
        // Behind a prefix the name may be another tool's: `mcp__mail__read` reads no file.
        if !spec.path_is_optional && self.policy.tools.contains_key(NormalKey::of(self.tool).as_str()) {
            return Err(self.policy.call_denial(self.tool, PathRule::MissingPath));
        }
        // The tool works on the root.
        self.check_tree(".", self.access).map_err(|refusal| self.denial(refusal, None, ".", self.access))
    }

    fn collect_bases(&mut self, value: &'a Value, depth: usize) -> Result<(), PathDenial<'a>> {
        if depth > MAX_NESTING {
            return Err(self.policy.call_denial(self.tool, PathRule::TooNested));
        }
        let Value::Object(map) = value else {
            return match value {
                Value::Array(list) => list.iter().try_for_each(|value| self.collect_bases(value, depth + 1)),
                _ => Ok(()),
            };
        };
        for (key, value) in map {
            let Value::String(text) = value else {
                self.collect_bases(value, depth + 1)?;
                continue;
            };
            let key = NormalKey::of(key);
            let is_base = key.is_base();
            let fits = !is_base || self.bases.push(text);
            // Paths deeper down are many (`edits[].file_path`), and no pattern starts from them.
            let fits = fits
                && (!is_base && (depth > 0 || !matches!(key.as_str(), "path" | "filepath"))
                    || self.glob_bases.push(text));
            if !fits {
                return Err(self.policy.call_denial(self.tool, PathRule::TooManyPaths));
            }
        }
        Ok(())
    }

    /// Looks at a value under a key, or at the arguments themselves.
    fn visit(&mut self, key: Option<&'a str>, value: &'a Value, depth: usize) -> Result<(), PathDenial<'a>> {
        if depth > MAX_NESTING {
            return Err(self.policy.call_denial(self.tool, PathRule::TooNested));
        }
        let normal = NormalKey::of(key.unwrap_or_default());
        let kind = normal.key(self.spec);
        match (value, kind) {
            (Value::Object(map), kind) if kind != ArgumentKey::Path || self.spec.is_none() => {
                map.iter().try_for_each(|(key, value)| {
                    // Some tools have a file's name where the key is.
                    self.check_loose(Some(key), &NormalKey::of(key), key)?;
                    if self.spec.is_none() {
                        self.check_relative(Some(key), key)?;
                    }
                    self.visit(Some(key), value, depth + 1)
                })
            }
            (Value::Array(list), kind) if kind != ArgumentKey::Path || self.spec.is_none() => {
                list.iter().try_for_each(|value| self.visit_item(key, kind, value, depth + 1))
            }
            (Value::String(text), ArgumentKey::Text) if carries_file(text) => {
                Err(self.denial(PathRule::Url.into(), key, text, self.access))
            }
            (Value::String(_), ArgumentKey::Text) => Ok(()),
            (Value::String(text), _) if self.spec.is_none() => self.check_unknown(key, &normal, kind, text),
            (Value::String(text), ArgumentKey::Glob) => self.check_glob(key, text),
            (Value::String(text), ArgumentKey::Paths) => self.check_list(key, &normal, text),
            // Several lines are code or prose; no tool's path has them.
            (Value::String(text), ArgumentKey::MaybePath) if text.contains('\n') => {
                self.check_loose(key, &normal, text)
            }
            (Value::String(text), ArgumentKey::Path | ArgumentKey::MaybePath) => {
                self.check_path(key, &normal, text)
            }
            (Value::String(text), ArgumentKey::Other) => self.check_loose(key, &normal, text),
            (
                Value::Object(_) | Value::Array(_) | Value::Number(_) | Value::Bool(_),
                ArgumentKey::Path | ArgumentKey::Paths,
            ) if self.spec.is_some() => Err(self.wrong_type(key)),
            _ => Ok(()),
        }
    }

    /// Looks at one of a list under a key.
    fn visit_item(
        &mut self,
        key: Option<&'a str>,
        kind: ArgumentKey,
        value: &'a Value,
        depth: usize,
    ) -> Result<(), PathDenial<'a>> {
        match (value, kind) {
            (Value::Null | Value::Number(_) | Value::Bool(_) | Value::Array(_), ArgumentKey::Paths)
                if self.spec.is_some() =>
            {
                Err(self.wrong_type(key))
            }
            // One of several is one path.
            (Value::String(text), ArgumentKey::Paths) => {
                let normal = NormalKey::of(key.unwrap_or_default());
                if self.spec.is_none() {
                    self.check_unknown(key, &normal, ArgumentKey::Path, text)
                } else {
                    self.check_path(key, &normal, text)
                }
            }
            _ => self.visit(key, value, depth),
        }
    }

    /// A text of a tool that is not known: what it calls `source` may be an address, and whatever it calls a path may hold one.
    fn check_unknown(
        &mut self,
        key: Option<&'a str>,
        normal: &NormalKey,
        kind: ArgumentKey,
        text: &'a str,
    ) -> Result<(), PathDenial<'a>> {
        if is_address(text.trim()) {
            return Ok(());
        }
        match kind {
            ArgumentKey::Glob => self.check_glob(key, text)?,
            ArgumentKey::Paths => self.check_list(key, normal, text)?,
            // Several lines are code or prose; no tool's path has them.
            ArgumentKey::Path | ArgumentKey::MaybePath if text.contains('\n') => {}
            ArgumentKey::Path | ArgumentKey::MaybePath => self.check_path(key, normal, text)?,
            ArgumentKey::Other | ArgumentKey::Text => {}
        }
        self.check_loose(key, normal, text)?;
        self.check_relative(key, text)
    }

    /// Words of an unknown tool's text as paths below the root: refused where they lead out, or to what may not be touched. That one is no
    /// path at all, or of nothing that exists, is no matter.
    fn check_relative(&self, key: Option<&'a str>, text: &'a str) -> Result<(), PathDenial<'a>> {
        let mut judged = 0;
        let checked = each_relative(text, |part| {
            judged += 1;
            if judged > MAX_WORDS {
                return Err(PathRule::TooManyPaths.into());
            }
            match self.judge(part, self.access, false) {
                Err(refusal) if refusal.rule.is_about_place() => Err(refusal),
                // A name that is refused for its letters is still looked for where those before it lead.
                Err(_) => part.match_indices('/').try_for_each(|(at, _)| {
                    judged += 1;
                    match part.get(..at).filter(|before| !before.is_empty()) {
                        Some(before) => match self.judge(before, self.access, false) {
                            Err(refusal) if refusal.rule.is_about_place() => Err(refusal),
                            _ => Ok(()),
                        },
                        None => Ok(()),
                    }
                }),
                Ok(()) => Ok(()),
            }
        });
        checked.map_err(|refusal| self.denial(refusal, key, text, self.access))
    }

    /// A text that may hold paths anywhere.
    fn check_loose(
        &mut self,
        key: Option<&'a str>,
        normal: &NormalKey,
        text: &'a str,
    ) -> Result<(), PathDenial<'a>> {
        let root = self.policy.root().to_str().unwrap_or_default();
        let candidates =
            path_candidates(text, root).map_err(|rule| self.denial(rule.into(), key, text, self.access))?;
        candidates.into_iter().try_for_each(|path| self.check_path(key, normal, path))
    }

    fn wrong_type(&self, key: Option<&'a str>) -> PathDenial<'a> {
        PathDenial {
            argument: key.map(Cow::Borrowed),
            ..self.policy.call_denial(self.tool, PathRule::WrongType)
        }
    }

    fn denial(
        &self,
        refusal: PathRefusal,
        key: Option<&'a str>,
        path: &'a str,
        access: AccessKind,
    ) -> PathDenial<'a> {
        PathDenial {
            tool: Some(Cow::Borrowed(self.tool)),
            argument: key.map(Cow::Borrowed),
            ..self.policy.denial(refusal, path.as_bytes(), access)
        }
    }

    fn count(&mut self) -> Result<(), PathRefusal> {
        self.found += 1;
        if self.found > MAX_PATHS { Err(PathRule::TooManyPaths.into()) } else { Ok(()) }
    }

    /// Several paths as one text: it may be one path, or some tool may take it apart.
    fn check_list(
        &mut self,
        key: Option<&'a str>,
        normal: &NormalKey,
        text: &'a str,
    ) -> Result<(), PathDenial<'a>> {
        if text.trim_start().starts_with(['[', '{']) && self.spec.is_some() {
            return Err(self.wrong_type(key));
        }
        self.check_path(key, normal, text)?;
        let is_gap = |c: char| matches!(c, ',' | ';' | ':' | '|') || c.is_whitespace();
        if !text.contains(is_gap) {
            return Ok(());
        }
        text.split(is_gap)
            .filter(|piece| !piece.is_empty())
            .try_for_each(|piece| self.check_path(key, normal, piece))
    }

    fn check_path(
        &mut self,
        key: Option<&'a str>,
        normal: &NormalKey,
        text: &'a str,
    ) -> Result<(), PathDenial<'a>> {
        let access = match self.spec.and_then(|spec| spec.source) {
            Some(source) if normal.is_source() => source,
            _ => self.access,
        };
        let judged = self.count().and_then(|()| self.judge(text, access, false));
        judged.map_err(|refusal| self.denial(refusal, key, text, access))
    }

    fn judge(&self, text: &str, access: AccessKind, is_pattern: bool) -> Result<(), PathRefusal> {
        self.policy.judge(text.as_bytes(), access)?;
        self.check_tree(text, access)?;
        if text.starts_with('/') {
            return Ok(());
        }
        let bases = if is_pattern { self.glob_bases } else { self.bases };
        for base in bases.iter().filter(|base| !is_same(base, text)) {
            self.judge_joined(&format!("{base}/{text}"), access)?;
            // A folder of the call may start from another one.
            for outer in self
                .bases
                .iter()
                .filter(|outer| !is_same(outer, base) && !is_same(outer, text) && !base.starts_with('/'))
            {
                self.judge_joined(&format!("{outer}/{base}/{text}"), access)?;
            }
        }
        Ok(())
    }

    fn judge_joined(&self, joined: &str, access: AccessKind) -> Result<(), PathRefusal> {
        self.policy.judge(joined.as_bytes(), access)?;
        self.check_tree(joined, access)
    }

    fn check_glob(&mut self, key: Option<&'a str>, pattern: &'a str) -> Result<(), PathDenial<'a>> {
        // A `!` before a pattern leaves out what it matches.
        let pattern = pattern.strip_prefix('!').unwrap_or(pattern);
        let judged = glob::beginnings(pattern).map_err(PathRefusal::from).and_then(|beginnings| {
            for beginning in beginnings.iter().filter(|beginning| !beginning.is_empty()) {
                self.count()?;
                self.judge(beginning, self.access, true)?;
            }
            Ok(())
        });
        judged.map_err(|refusal| self.denial(refusal, key, pattern, self.access))
    }

    /// What a tool would meet below a path that it takes as a whole.
    fn check_tree(&self, path: &str, access: AccessKind) -> Result<(), PathRefusal> {
        let whole = match self.spec.map_or(TreeAccess::Takes, |spec| spec.tree) {
            TreeAccess::Nothing => false,
            TreeAccess::Reads => self.policy.forbidden_below == ForbiddenBelow::Deny,
            TreeAccess::Takes => true,
        };
        if whole && self.policy.has_forbidden_below(path.as_bytes(), access)? {
            return Err(PathRule::ForbiddenBelow.into());
        }
        Ok(())
    }
}

/// A few folders, kept without an allocation.
#[derive(Clone, Copy, Default)]
struct BaseFolders<'a> {
    list: [&'a str; 4],
    len: usize,
}

impl<'a> BaseFolders<'a> {
    /// Whether there was room for it.
    fn push(&mut self, base: &'a str) -> bool {
        if base.is_empty() {
            return true; // refused as a path
        }
        let place = self.list.get_mut(self.len);
        self.len += 1;
        place.map(|place| *place = base).is_some()
    }

    fn iter(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.list.iter().copied().take(self.len)
    }
}

/// Whether both are the same argument, not just the same text: `sub` in the folder `sub` is another place.
fn is_same(left: &str, right: &str) -> bool {
    std::ptr::eq(left, right)
}
