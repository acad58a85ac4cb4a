//! What an event is about, in the 64 bits that the kernel keeps for it.

/// Kind, a number of the kind's own, generation and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Token(u64);

/// What kind of thing has news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The launching program has something to say.
    Control,
    /// Names were resolved.
    Lookups,
    /// Packets that nobody listens for.
    Tap,
    /// Somebody connects.
    Listener,
    /// A datagram from inside.
    Datagrams,
    /// A connection that asks for names.
    NameStream,
    /// The program's side of a connection.
    Client,
    /// The destination's side of a connection.
    Server,
    /// An attempt to connect to a destination.
    Dial,
    /// A datagram from outside.
    Flow,
}

const KINDS: [Kind; 10] = [
    Kind::Control,
    Kind::Lookups,
    Kind::Tap,
    Kind::Listener,
    Kind::Datagrams,
    Kind::NameStream,
    Kind::Client,
    Kind::Server,
    Kind::Dial,
    Kind::Flow,
];

impl Token {
    pub(crate) fn new(kind: Kind, place: Place) -> Self {
        Self(
            u64::from(kind as u8) << 56
                | u64::from(place.generation & 0xff_ffff) << 24
                | u64::from(place.index & 0xff_ffff),
        )
    }

    /// The same place, another kind, and a number.
    pub(crate) fn with(self, kind: Kind, number: u8) -> Self {
        Self(self.0 & 0xffff_ffff_ffff | u64::from(number) << 48 | u64::from(kind as u8) << 56)
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn kind(self) -> Kind {
        KINDS.get(usize::from(self.0.to_be_bytes()[0])).copied().unwrap_or(Kind::Control)
    }

    pub(crate) fn number(self) -> u8 {
        self.0.to_be_bytes()[1]
    }

    pub(crate) fn place(self) -> Place {
        let [_, _, g2, g1, g0, i2, i1, i0] = self.0.to_be_bytes();
        Place { index: u32::from_be_bytes([0, i2, i1, i0]), generation: u32::from_be_bytes([0, g2, g1, g0]) }
    }
}

/// A place in [`Places`], and which of those that had it one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// Things by place. A place is used again, but never mistaken for what had it before.
#[derive(Debug)]
pub(crate) struct Places<T> {
    entries: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Places<T> {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> Place {
        if let Some(index) = self.free.pop()
            && let Some((generation, entry)) = self.entries.get_mut(index as usize)
        {
            *generation = (*generation + 1) & 0xff_ffff;
            *entry = Some(value);
            return Place { index, generation: *generation };
        }
        let index = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        self.entries.push((0, Some(value)));
        Place { index, generation: 0 }
    }

    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        let (generation, entry) = self.entries.get_mut(place.index as usize)?;
        entry.as_mut().filter(|_| *generation == place.generation)
    }

    pub(crate) fn remove(&mut self, place: Place) -> Option<T> {
        let (generation, entry) = self.entries.get_mut(place.index as usize)?;
        if *generation != place.generation {
            return None;
        }
        let value = entry.take()?;
        self.free.push(place.index);
        Some(value)
    }

    /// Where there is something now.
    pub(crate) fn taken(&self) -> Vec<Place> {
        let places = self.entries.iter().enumerate().filter(|(_, (_, entry))| entry.is_some());
        places
            .map(|(index, (generation, _))| Place {
                index: u32::try_from(index).unwrap_or(u32::MAX),
                generation: *generation,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_what_it_was_made_of() {
        for (position, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, position);
            let place = Place { index: 0x12_3456, generation: 0xab_cdef };
            let token = Token::new(kind, place);
            assert_eq!((token.kind(), token.number(), token.place()), (kind, 0, place));
            let token = Token::from_bits(token.with(Kind::Dial, 200).bits());
            assert_eq!((token.kind(), token.number(), token.place()), (Kind::Dial, 200, place));
        }
    }

    #[test]
    fn what_is_gone_is_not_mistaken_for_what_came_after_it() {
        let mut places = Places::new();
        let first = places.insert('a');
        assert_eq!(places.remove(first), Some('a'));
        let second = places.insert('b');
        assert_eq!(first.index, second.index);
        assert_eq!(places.get_mut(first), None);
        assert_eq!(places.remove(first), None);
        assert_eq!(places.get_mut(second), Some(&mut 'b'));
        assert_eq!((places.len(), places.taken()), (1, vec![second]));
    }
}
