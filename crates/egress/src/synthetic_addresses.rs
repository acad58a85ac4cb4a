//! Addresses that stand for names: a program is told one when it asks for a granted name, and connects to it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::attempt::RefusalReason;
use crate::policy::EgressPolicy;
use crate::rule::{RuleDestination, normalise_name};
use crate::tunnel::looks_like_data;

/// Most different names below wildcards in one run: each is asked for outside, and so is a message. A program that needs more
/// knows them, and can have them granted.
pub(crate) const MOST_NAMES: usize = 64;

/// Most names that are not granted and have an address in a rehearsal: more than a program has to be asked about.
pub(crate) const MOST_REHEARSED: usize = 256;

/// 198.18.0.0/15 is set aside for tests of networks (RFC 2544): no host on the Internet has such an address.
const V4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);
const V4_PREFIX: u32 = 15;

/// A /48 of the addresses that anyone may use for themselves (RFC 4193); it is seen in our own namespaces only. `fd`, "Skill".
const V6: Ipv6Addr = Ipv6Addr::new(0xfd53, 0x6b69, 0x6c6c, 0, 0, 0, 0, 0);
const V6_PREFIX: u32 = 48;

/// The addresses of one run. They are bound to their names until it ends: an address never means another name later.
#[derive(Debug)]
pub(crate) struct SyntheticAddresses {
    /// In the order of their addresses, the first of which is 1.
    allotted: Vec<String>,
    numbers: BTreeMap<String, u32>,
    /// What lies below these is granted; the longest first, so that the part which is free is the shortest.
    bases: Vec<String>,
    /// How many names below them may still be allotted.
    left: usize,
    /// How many names that are not granted may still have an address: some in a rehearsal, else none.
    rehearsed_left: usize,
    /// The numbers of those that have one.
    rehearsed: BTreeSet<u32>,
}

/// What is known of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NameLookup {
    /// It is granted; these addresses stand for it.
    Known { v4: Ipv4Addr, v6: Ipv6Addr },
    /// It is not granted; these addresses, which lead nowhere, stand for it in a rehearsal.
    Rehearsed { v4: Ipv4Addr, v6: Ipv6Addr },
    /// It does not exist here.
    Refused(RefusalReason),
}

impl SyntheticAddresses {
    /// The names that a policy grants one by one have their addresses at once, in the order of the rules.
    pub(crate) fn new(policy: &EgressPolicy) -> Self {
        let mut names = Self {
            allotted: Vec::new(),
            numbers: BTreeMap::new(),
            bases: Vec::new(),
            left: MOST_NAMES,
            rehearsed: BTreeSet::new(),
            rehearsed_left: if policy.is_rehearsal { MOST_REHEARSED } else { 0 },
        };
        for rule in policy.rules() {
            match &rule.to {
                RuleDestination::Name(name) => {
                    names.number_of(name);
                }
                RuleDestination::Below(base) => names.bases.push(base.clone()),
                RuleDestination::Range(_) => {}
            }
        }
        names.bases.sort_by_key(|base| std::cmp::Reverse(base.len()));
        names.bases.dedup();
        names
    }

    /// What stands for a name, in any case of letters and with or without a dot at its end. One that only a wildcard grants gets
    /// its addresses here.
    pub(crate) fn look_up(&mut self, name: &str) -> NameLookup {
        let Some(name) = normalise_name(name) else { return NameLookup::Refused(RefusalReason::NotGranted) };
        if let Some(&number) = self.numbers.get(&name) {
            return if self.rehearsed.contains(&number) { rehearsed(number) } else { known(number) };
        }
        let Some(below) = self.bases.iter().find_map(|base| part_below(&name, base)) else {
            return self.rehearse(&name);
        };
        if looks_like_data(below) {
            return NameLookup::Refused(RefusalReason::LooksLikeData);
        }
        let Some(left) = self.left.checked_sub(1) else {
            return NameLookup::Refused(RefusalReason::TooManyNames);
        };
        self.left = left;
        known(self.number_of(&name))
    }

    /// A name that is not granted: in a rehearsal it has an address, as long as there are not too many.
    fn rehearse(&mut self, name: &str) -> NameLookup {
        let Some(left) = self.rehearsed_left.checked_sub(1) else {
            return NameLookup::Refused(RefusalReason::NotGranted);
        };
        self.rehearsed_left = left;
        let number = self.number_of(name);
        self.rehearsed.insert(number);
        rehearsed(number)
    }

    /// The name that an address stands for.
    pub(crate) fn name_of(&self, address: IpAddr) -> Option<&str> {
        let number = match address.to_canonical() {
            IpAddr::V4(v4) => v4.to_bits().checked_sub(V4.to_bits())?,
            IpAddr::V6(v6) => u32::try_from(v6.to_bits().checked_sub(V6.to_bits())?).ok()?,
        };
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        self.allotted.get(place).map(String::as_str)
    }

    /// Whether an address lies in a range of ours, whether or not it stands for anything yet.
    pub(crate) fn is_synthetic(address: IpAddr) -> bool {
        match address.to_canonical() {
            IpAddr::V4(v4) => (v4.to_bits() ^ V4.to_bits()).leading_zeros() >= V4_PREFIX,
            IpAddr::V6(v6) => (v6.to_bits() ^ V6.to_bits()).leading_zeros() >= V6_PREFIX,
        }
    }

    /// Whether a name that is granted lies below this one. Such a name exists, with nothing of its own: to say that it does not
    /// would be to say so of all below it (RFC 8020). The empty name is the root.
    pub(crate) fn is_above(&self, name: &str) -> bool {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let covers = |granted: &String| name.is_empty() || part_below(granted, &name).is_some();
        self.allotted.iter().any(covers) || self.bases.iter().any(|base| *base == name || covers(base))
    }

    fn number_of(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.allotted.push(name.to_owned());
        // A policy has 1024 rules at most, and a run few names more: far below the 131071 addresses of the range.
        let number = u32::try_from(self.allotted.len()).unwrap_or(u32::MAX >> V4_PREFIX);
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

fn known(number: u32) -> NameLookup {
    let (v4, v6) = addresses(number);
    NameLookup::Known { v4, v6 }
}

fn rehearsed(number: u32) -> NameLookup {
    let (v4, v6) = addresses(number);
    NameLookup::Rehearsed { v4, v6 }
}

fn addresses(number: u32) -> (Ipv4Addr, Ipv6Addr) {
    let v4 = Ipv4Addr::from_bits(V4.to_bits() | number);
    (v4, Ipv6Addr::from_bits(V6.to_bits() | u128::from(number)))
}

/// The part of a name left of a base, without the dot between them.
fn part_below<'a>(name: &'a str, base: &str) -> Option<&'a str> {
    name.strip_suffix(base)?.strip_suffix('.').filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests;
