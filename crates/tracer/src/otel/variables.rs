//! Variables of the environment, as the OpenTelemetry specification wants them read.

use std::time::Duration;

use percent_encoding::percent_decode_str;

/// Where variables come from, and what was odd about them.
pub(super) struct EnvironmentVariables<'a> {
    look_up: &'a dyn Fn(&str) -> Option<String>,
    pub(super) warnings: Vec<String>,
}

impl<'a> EnvironmentVariables<'a> {
    pub(super) fn new(look_up: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { look_up, warnings: Vec::new() }
    }

    /// A variable that is set to something: an empty one counts as not set.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        (self.look_up)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The first of several that is set, and its value.
    pub(super) fn first(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }

    /// A number. One that is none is passed over, as the specification says, and said to be.
    pub(super) fn number(&mut self, names: &[&'static str]) -> Option<u64> {
        let (name, value) = self.first(names)?;
        let number = value.parse().ok();
        if number.is_none() {
            self.warnings.push(format!("{name} is not a whole number and is ignored"));
        }
        number
    }

    pub(super) fn milliseconds(&mut self, names: &[&'static str]) -> Option<Duration> {
        self.number(names).map(Duration::from_millis)
    }

    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }
}

/// `name=value,name=value`, with values that are percent-encoded. An entry that is not of that form comes back as its place, from 1.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = Result<(String, String), usize>> + '_ {
    let entries = text.split(',').map(str::trim).enumerate().filter(|(_, entry)| !entry.is_empty());
    entries.map(|(place, entry)| {
        let (name, value) = entry.split_once('=').ok_or(place + 1)?;
        let name = name.trim();
        // A percent sign that begins nothing stands for itself; bytes that are no text are none.
        let value = percent_decode_str(value.trim()).decode_utf8().map_err(|_| place + 1)?.into_owned();
        if name.is_empty() { Err(place + 1) } else { Ok((name.to_owned(), value)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_as_the_specification_says() {
        let read = |text| pairs(text).collect::<Vec<_>>();
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(read(""), []);
        assert_eq!(read(" a = b ,, c=d=e,"), [pair("a", "b"), pair("c", "d=e")]);
        assert_eq!(read("k=a%2Cb%20c"), [pair("k", "a,b c")]);
        assert_eq!(read("k=100%,l=%zz,m=%4"), [pair("k", "100%"), pair("l", "%zz"), pair("m", "%4")]);
        assert_eq!(read("k=%+1"), [pair("k", "%+1")]);
        assert_eq!(read("a=b,novalue,=x"), [pair("a", "b"), Err(2), Err(3)]);
        assert_eq!(read("k=%ff"), [Err(1)]);
    }

    #[test]
    fn an_empty_variable_is_not_set_and_a_bad_number_is_said_to_be() {
        let look_up = |name: &str| match name {
            "EMPTY" => Some("  ".to_owned()),
            "BAD" => Some("2s".to_owned()),
            "GOOD" => Some(" 7 ".to_owned()),
            _ => None,
        };
        let mut variables = EnvironmentVariables::new(&look_up);
        assert_eq!(variables.first(&["EMPTY", "GOOD"]), Some(("GOOD", "7".to_owned())));
        assert_eq!(variables.number(&["EMPTY", "NONE"]), None);
        assert_eq!(variables.milliseconds(&["GOOD"]), Some(Duration::from_millis(7)));
        assert!(variables.warnings.is_empty());
        assert_eq!(variables.number(&["BAD"]), None);
        assert_eq!(variables.warnings, ["BAD is not a whole number and is ignored"]);
    }
}
