//! Names that are looked up, and connections.

use std::net::IpAddr;

use crate::format::event::{Event, EventVerdict, NetConnection};
use crate::format::trace::{AttackClass, AttackSeverity};

use super::ClassFindings;
use super::acts::{DROPS, METADATA, POOL_PORTS, POOL_WORDS, POOLS};
use super::files::{CredentialAccess, FileAttempts, is_not_granted};
use super::finding::{ClassFinding, DistinctCount, EVIDENCE, EventOrder, last_moment, mark};
use super::sensitive_paths::CredentialWeight;

/// Names below one parent that look like data and mean a tunnel.
const MANY_LONG: usize = 5;

/// Shorter ones, with digits: many machines have such names, so it takes more.
const MANY_SHORT: usize = 40;

/// Names that look like data below parents that are not told apart any more.
const MANY_ELSEWHERE: usize = 20;

/// Parents that are told apart.
const PARENTS: usize = 64;

/// Different destinations that were refused and mean a search.
const MANY_DESTINATIONS: usize = 20;

/// The kind of credentials that a machine gets from its cloud, beside those that lie in places.
const MACHINE: usize = 20_000;

/// What is known of the network.
#[derive(Debug, Default)]
pub(super) struct NetworkAttempts {
    parents: Vec<(u64, DistinctCount, DistinctCount)>,
    elsewhere: DistinctCount,
    /// Refused before credentials were touched, as often as not: one event may stand for many.
    before: Vec<(EventOrder, ClassFinding)>,
    after: ClassFinding,
    after_private: ClassFinding,
    destinations: DistinctCount,
}

impl NetworkAttempts {
    pub(super) fn looked_up(
        &mut self,
        event: &Event,
        name: &str,
        files: &mut FileAttempts,
        found: &mut ClassFindings,
    ) -> Option<AttackClass> {
        let name = lower(name);
        let says_so = event.rule.as_deref().is_some_and(is_about_data);
        let tunnel = self.tunnel(event, &name, says_so);
        let class = Self::destination(event, &name, None, files, found);
        first_of(self.refused(event, &name, files), tunnel.or(class))
    }

    pub(super) fn connected(
        &mut self,
        event: &Event,
        connection: &NetConnection,
        files: &mut FileAttempts,
        found: &mut ClassFindings,
    ) -> Option<AttackClass> {
        let reason = connection.reason.as_deref().unwrap_or_default();
        let name = connection.name.as_deref().map(lower);
        let address = connection.address.as_deref().unwrap_or_default();
        let mut class = None;
        if let Some(name) = &name
            && is_about_data(reason)
        {
            class = self.tunnel(event, name, true);
        }
        class = class.or_else(|| fronting(event, connection, reason, name.as_deref(), found));
        let target = name.as_deref().unwrap_or(address);
        if is_here(target) || name.is_none() && is_here(address) {
            return class;
        }
        let by_address = METADATA.contains(&address).then_some(address);
        class = class.or_else(|| {
            Self::destination(event, by_address.unwrap_or(target), Some(connection.port), files, found)
        });
        if is_not_granted(event) {
            let port = connection.port.to_string();
            let add = |finding: &mut ClassFinding| {
                finding.add(event, AttackSeverity::Low, &["T1046"], "many hosts and ports");
            };
            if self.destinations.add(mark(&[target, &port]), MANY_DESTINATIONS, add) {
                class = class.or(Some(AttackClass::Discovery));
            }
        }
        // What is granted is meant, unless credentials of several kinds were read before.
        let sends = connection.sent > 0 && event.verdict != Some(EventVerdict::Denied);
        if sends && files.harvest.succeeded() && files.harvest.was_before(event) {
            self.after.add(
                event,
                AttackSeverity::High,
                EXFILTRATION,
                "a connection after credentials had been read",
            );
            return class.or(Some(AttackClass::CredentialExfiltration));
        }
        first_of(self.refused(event, target, files), class)
    }

    /// Something that was refused, and came after credentials or private files.
    fn refused(&mut self, event: &Event, target: &str, files: &FileAttempts) -> Option<AttackClass> {
        if !is_not_granted(event) || METADATA.contains(&target) || is_here(target) {
            return None;
        }
        let says = "a destination that was not granted, after credentials were touched";
        if files.harvest.was_before(event) {
            self.after.add(event, AttackSeverity::High, EXFILTRATION, says);
            return Some(AttackClass::CredentialExfiltration);
        }
        if files.first_private().is_some() {
            let says = "a destination that was not granted, after files that were not";
            self.after_private.add(event, AttackSeverity::Medium, EXFILTRATION, says);
        }
        // One that happened again may have happened after; that is known in the end. So may one that is reported late.
        let mut finding = ClassFinding::default();
        finding.add(event, AttackSeverity::High, EXFILTRATION, says);
        self.before.push((last_moment(event), finding));
        if self.before.len() > EVIDENCE {
            // The earliest can prove least.
            let earliest =
                self.before.iter().enumerate().min_by_key(|(_, (moment, _))| *moment).map(|(at, _)| at);
            earliest.map(|at| self.before.swap_remove(at));
        }
        files.first_private().map(|_| AttackClass::DataExfiltration)
    }

    /// Names and addresses that mean something by themselves.
    fn destination(
        event: &Event,
        target: &str,
        port: Option<u16>,
        files: &mut FileAttempts,
        found: &mut ClassFindings,
    ) -> Option<AttackClass> {
        if METADATA.contains(&target) {
            let touch = CredentialAccess {
                kind: MACHINE,
                weight: CredentialWeight::Alone,
                techniques: &["T1552.005", "AML.T0055"],
                says: "credentials of the machine in its cloud",
            };
            return files.harvest.touched(event, touch).then_some(AttackClass::CredentialHarvesting);
        }
        if is_pool(target, port) {
            found.of(AttackClass::ResourceAbuse).add(
                event,
                AttackSeverity::High,
                &["T1496"],
                "a pool of miners",
            );
            return Some(AttackClass::ResourceAbuse);
        }
        let is_drop = DROPS.iter().any(|drop| is_or_below(target, drop));
        if is_drop && is_not_granted(event) {
            let says = "a service that takes anything from anybody";
            found.of(AttackClass::DataExfiltration).add(
                event,
                AttackSeverity::Medium,
                &["T1567", "AML.T0025"],
                says,
            );
            return Some(AttackClass::DataExfiltration);
        }
        None
    }

    /// Data in the clothes of names.
    fn tunnel(&mut self, event: &Event, name: &str, says_so: bool) -> Option<AttackClass> {
        let (payload, parent) = split(name)?;
        let looks = if says_so { NameShape::Long } else { looks(payload) };
        let add = |finding: &mut ClassFinding| {
            finding.add(
                event,
                AttackSeverity::High,
                &["T1071.004", "T1048.003"],
                "many names that look like data",
            );
        };
        let (mark, parent) = (mark(&[payload]), mark(&[parent]));
        let place = self.parents.iter().position(|(known, ..)| *known == parent);
        let place = match (place, looks) {
            (_, NameShape::Plain) => return None,
            (Some(place), _) => Some(place),
            (None, _) if self.parents.len() < PARENTS => {
                self.parents.push((parent, DistinctCount::default(), DistinctCount::default()));
                Some(self.parents.len() - 1)
            }
            (None, _) => None,
        };
        let enough = match (place.and_then(|place| self.parents.get_mut(place)), looks) {
            (Some((_, long, _)), NameShape::Long) => long.add(mark, MANY_LONG, add),
            (Some((_, _, short)), _) => short.add(mark, MANY_SHORT, add),
            (None, NameShape::Long) => self.elsewhere.add(mark, MANY_ELSEWHERE, add),
            (None, _) => false,
        };
        enough.then_some(AttackClass::DnsTunnelling)
    }

    /// What came after credentials, and after private files.
    pub(super) fn finish(
        self,
        first_touch: Option<EventOrder>,
        found: &mut ClassFindings,
    ) -> (ClassFinding, ClassFinding) {
        let mut tunnel = ClassFinding::default();
        for (_, long, short) in &self.parents {
            if long.len() >= MANY_LONG {
                tunnel.join(&long.finding);
            }
            if short.len() >= MANY_SHORT {
                tunnel.join(&short.finding);
            }
        }
        if self.elsewhere.len() >= MANY_ELSEWHERE {
            tunnel.join(&self.elsewhere.finding);
        }
        if self.destinations.len() >= MANY_DESTINATIONS {
            found.of(AttackClass::Discovery).join(&self.destinations.finding);
        }
        let (mut after, after_private) = (self.after, self.after_private);
        for (last, finding) in &self.before {
            if first_touch.is_some_and(|first| first < *last) {
                after.join(finding);
            }
        }
        // Names need not have been refused to carry something.
        if first_touch.is_some() && first_touch < tunnel.last {
            after.join(&tunnel);
        }
        found.of(AttackClass::DnsTunnelling).join(&tunnel);
        (after, after_private)
    }
}

/// Credentials on their way out are what a person should see first.
fn first_of(refused: Option<AttackClass>, other: Option<AttackClass>) -> Option<AttackClass> {
    match refused {
        Some(AttackClass::CredentialExfiltration) => refused,
        _ => other.or(refused),
    }
}

const EXFILTRATION: &[&str] = &["T1048", "AML.T0025"];

fn lower(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

fn is_about_data(reason: &str) -> bool {
    reason.contains("looks_like_data") || reason.contains("too_many_names")
}

fn is_or_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The machine itself, where nothing leaves.
fn is_here(target: &str) -> bool {
    let is_loopback = |address: IpAddr| address.to_canonical().is_loopback() || address.is_unspecified();
    target.is_empty() || is_or_below(target, "localhost") || target.parse().is_ok_and(is_loopback)
}

fn is_pool(target: &str, port: Option<u16>) -> bool {
    let words = || target.split(['.', '-', '_']);
    POOLS.iter().any(|pool| target.contains(pool))
        || port.is_some_and(|port| POOL_PORTS.contains(&port))
            && words().any(|word| POOL_WORDS.contains(&word))
}

/// Whether a host is one that attacks use, whatever else happened.
pub(super) fn is_hostile(target: &str, port: Option<u16>) -> bool {
    let target = lower(target);
    METADATA.contains(&target.as_str())
        || is_pool(&target, port)
        || DROPS.iter().any(|drop| is_or_below(&target, drop))
}

/// A connection for one name that asks for another.
fn fronting(
    event: &Event,
    connection: &NetConnection,
    reason: &str,
    name: Option<&str>,
    found: &mut ClassFindings,
) -> Option<AttackClass> {
    // Browsers hide the name, or look as if they did, wherever they go.
    let (severity, says) = if reason.contains("other_server_name") || reason.contains("other_host") {
        (AttackSeverity::High, "another name inside a connection than outside")
    } else if reason.contains("hidden_server_name") {
        (AttackSeverity::Low, "a hidden name inside a connection")
    } else if let (Some(name), Some(server)) = (name, connection.server_name.as_deref())
        && lower(server) != name
    {
        (AttackSeverity::Medium, "another name inside a connection than outside")
    } else {
        return None;
    };
    found.of(AttackClass::DomainFronting).add(event, severity, &["T1090.004"], says);
    Some(AttackClass::DomainFronting)
}

/// What stands below the last two labels, and these.
fn split(name: &str) -> Option<(&str, &str)> {
    let last = name.rfind('.')?;
    let second = name.get(..last)?.rfind('.')?;
    Some((name.get(..second)?, name.get(second + 1..)?))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameShape {
    Plain,
    /// Eight letters and more, with digits among them.
    Short,
    /// Twenty letters and more that are no words.
    Long,
}

/// How the part of a name looks that somebody chose.
fn looks(payload: &str) -> NameShape {
    let (mut letters, mut digits, mut vowels, mut turns, mut run, mut longest) =
        (0_usize, 0_usize, 0_usize, 0_usize, 0_usize, 0_usize);
    let mut was_digit = None;
    for byte in payload.bytes().filter(|byte| *byte != b'.') {
        let is_digit = byte.is_ascii_digit();
        if is_digit {
            digits += 1;
        } else if byte.is_ascii_alphabetic() {
            letters += 1;
            let is_vowel = b"aeiouy".contains(&byte);
            vowels += usize::from(is_vowel);
            run = if is_vowel { 0 } else { run + 1 };
            longest = longest.max(run);
        } else {
            run = 0;
        }
        if is_digit || byte.is_ascii_alphabetic() {
            turns += usize::from(was_digit.is_some_and(|was| was != is_digit));
            was_digit = Some(is_digit);
        }
    }
    let length = letters + digits;
    let alternates = turns >= 4 && turns * 8 >= length;
    // Words have a vowel every few letters.
    let no_words = digits == 0 && (longest >= 7 || vowels * 6 < letters);
    if length >= 20 && (alternates || no_words || letters == 0) {
        NameShape::Long
    } else if length >= 8 && digits >= 1 && turns >= 2 {
        NameShape::Short
    } else {
        NameShape::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_told_from_names() {
        for name in [
            "4a6f686e20446f65206b657973206172652068657265",
            "mfrggzdfmztwq2lknnwg23tpobyxe43uov3ho6dz",
            "aGVsbG8gd29ybGQgdGhpcyBpcyBkYXRh",
            "4a6f68.6e2044.6f6520.6b6579",
            "bcdfghjklmnpqrstbcdfghjk",
            "31323334353637383930313233343536",
        ] {
            assert_eq!(looks(&name.to_ascii_lowercase()), NameShape::Long, "{name}");
        }
        for name in [
            "www",
            "api",
            "registry",
            "this-is-the-marketing-site-of-our-company",
            "ec2-12-34-56-78",
            "d111111abcdef8",
            "us-east-1",
            "static-content-delivery-network",
            "files.pythonhosted",
            "production-eu-central-1-loadbalancer",
            "internationalization",
        ] {
            assert_ne!(looks(name), NameShape::Long, "{name}");
        }
    }

    #[test]
    fn the_machine_itself_is_no_destination() {
        assert!(
            is_here("127.0.0.1")
                && is_here("::1")
                && is_here("localhost")
                && is_here("::ffff:127.0.0.1")
                && is_here("0.0.0.0")
        );
        assert!(!is_here("10.0.0.1") && !is_here("notlocalhost") && !is_here("example.test"));
    }
}
