//! Options of a command, in all the ways that they are spelt: `-d x`, `-dx`, `-sd x`, `--data x`, `--data=x`.

use super::value::Value;

/// Most arguments that are looked at.
const MAX_ARGUMENTS: usize = 2000;

/// The options and operands of a command.
#[derive(Debug, Default)]
pub(super) struct ParsedOptions {
    /// Names without dashes, and the value of those that take one.
    pub(super) options: Vec<(String, Option<Value>)>,
    pub(super) operands: Vec<Value>,
}

impl ParsedOptions {
    /// Reads arguments. `short` are the letters that take a value, `long` the names.
    pub(super) fn parse(args: &[Value], short: &str, long: &[&str]) -> Self {
        let mut parsed = Self::default();
        let mut rest = args.iter().take(MAX_ARGUMENTS);
        while let Some(arg) = rest.next() {
            let text = arg.text.as_str();
            if text == "--" {
                parsed.operands.extend(rest.cloned());
                break;
            }
            if let Some(name) = text.strip_prefix("--") {
                if let Some((name, value)) = name.split_once('=') {
                    parsed.options.push((name.to_owned(), Some(arg.with_text(value))));
                } else {
                    let value = if long.contains(&name) { rest.next().cloned() } else { None };
                    parsed.options.push((name.to_owned(), value));
                }
                continue;
            }
            let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                parsed.operands.push(arg.clone());
                continue;
            };
            // Some programs have long names behind one dash.
            if long.contains(&letters) {
                parsed.options.push((letters.to_owned(), rest.next().cloned()));
                continue;
            }
            for (at, letter) in letters.char_indices().take(64) {
                if short.contains(letter) {
                    let tail = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                    let value =
                        if tail.is_empty() { rest.next().cloned() } else { Some(arg.with_text(tail)) };
                    parsed.options.push((letter.to_string(), value));
                    break;
                }
                parsed.options.push((letter.to_string(), None));
            }
        }
        parsed
    }

    /// Whether one of these options is there.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// The value of the first of these options.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Value> {
        self.options
            .iter()
            .find(|(name, _)| names.contains(&name.as_str()))
            .and_then(|(_, value)| value.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_every_spelling() {
        for line in [
            "-d @f u",
            "-d@f u",
            "-sd @f u",
            "-sd@f u",
            "--data @f u",
            "--data=@f u",
            "u -d @f",
            "-d @f -- u",
        ] {
            let args: Vec<Value> = line.split(' ').map(Value::known).collect();
            let parsed = ParsedOptions::parse(&args, "d", &["data"]);
            let value = parsed.value(&["d", "data"]).map(|value| value.text.as_str());
            assert_eq!((value, parsed.operands.len()), (Some("@f"), 1), "{line}");
        }
    }
}
