//! What an event is about, in the 64 bits that the kernel keeps for it.

use slab::Slab;

/// Source, a number of the source's own, generation and slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EventToken(u64);

/// What an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EventSource {
    /// The launching program has something to say.
    Control,
    /// Names were resolved.
    Lookups,
    /// Packets without a listener.
    Tap,
    /// Somebody connects.
    Listener,
    /// A datagram from inside.
    Datagrams,
    /// A connection that asks for names.
    NameStream,
    /// The program's side of a connection.
    Client,
    /// An attempt to connect to a destination, and what became of it: that side of a connection.
    Dial,
    /// A datagram from outside.
    Flow,
}

const SOURCES: [EventSource; 9] = [
    EventSource::Control,
    EventSource::Lookups,
    EventSource::Tap,
    EventSource::Listener,
    EventSource::Datagrams,
    EventSource::NameStream,
    EventSource::Client,
    EventSource::Dial,
    EventSource::Flow,
];

impl EventToken {
    pub(crate) fn new(source: EventSource, key: SlotKey) -> Self {
        Self(
            u64::from(source as u8) << 56
                | u64::from(key.generation & 0xff_ffff) << 24
                | u64::from(key.index & 0xff_ffff),
        )
    }

    /// The same key with another source and a number.
    pub(crate) fn with(self, source: EventSource, number: u8) -> Self {
        Self(self.0 & 0xffff_ffff_ffff | u64::from(number) << 48 | u64::from(source as u8) << 56)
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn source(self) -> EventSource {
        SOURCES.get(usize::from(self.0.to_be_bytes()[0])).copied().unwrap_or(EventSource::Control)
    }

    pub(crate) fn number(self) -> u8 {
        self.0.to_be_bytes()[1]
    }

    pub(crate) fn key(self) -> SlotKey {
        let [_, _, g2, g1, g0, i2, i1, i0] = self.0.to_be_bytes();
        SlotKey {
            index: u32::from_be_bytes([0, i2, i1, i0]),
            generation: u32::from_be_bytes([0, g2, g1, g0]),
        }
    }
}

/// The key of an entry in a [`SlotTable`]: its slot, and which of the entries that had this slot one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SlotKey {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// Bits of a generation that a token has room for.
const GENERATION_MASK: u32 = 0xff_ffff;

/// Entries by key. A slot is used again, but a key never finds what came after its own entry.
#[derive(Debug)]
pub(crate) struct SlotTable<T> {
    entries: Slab<(u32, T)>,
    /// Of the next entry. An old key would be mistaken only after 2^24 others, and none is kept that long.
    next_generation: u32,
}

impl<T> SlotTable<T> {
    pub(crate) fn new() -> Self {
        Self { entries: Slab::new(), next_generation: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> SlotKey {
        let generation = self.next_generation;
        self.next_generation = (generation + 1) & GENERATION_MASK;
        SlotKey { index: slot_number(self.entries.insert((generation, value))), generation }
    }

    pub(crate) fn get_mut(&mut self, key: SlotKey) -> Option<&mut T> {
        let (generation, value) = self.entries.get_mut(key.index as usize)?;
        (*generation == key.generation).then_some(value)
    }

    pub(crate) fn remove(&mut self, key: SlotKey) -> Option<T> {
        self.get_mut(key)?;
        self.entries.try_remove(key.index as usize).map(|(_, value)| value)
    }

    /// The keys of all entries.
    pub(crate) fn keys(&self) -> Vec<SlotKey> {
        let key = |(index, (generation, _)): (usize, &(u32, T))| SlotKey {
            index: slot_number(index),
            generation: *generation,
        };
        self.entries.iter().map(key).collect()
    }
}

/// Far more slots than a run has descriptors.
fn slot_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_what_it_was_made_of() {
        for (position, source) in SOURCES.into_iter().enumerate() {
            assert_eq!(source as usize, position);
            let key = SlotKey { index: 0x12_3456, generation: 0xab_cdef };
            let token = EventToken::new(source, key);
            assert_eq!((token.source(), token.number(), token.key()), (source, 0, key));
            let token = EventToken::from_bits(token.with(EventSource::Dial, 200).bits());
            assert_eq!((token.source(), token.number(), token.key()), (EventSource::Dial, 200, key));
        }
    }

    #[test]
    fn what_is_gone_is_not_mistaken_for_what_came_after_it() {
        let mut table = SlotTable::new();
        let first = table.insert('a');
        assert_eq!(table.remove(first), Some('a'));
        let second = table.insert('b');
        assert_eq!(first.index, second.index);
        assert_eq!(table.get_mut(first), None);
        assert_eq!(table.remove(first), None);
        assert_eq!(table.get_mut(second), Some(&mut 'b'));
        assert_eq!((table.len(), table.keys()), (1, vec![second]));
    }
}
