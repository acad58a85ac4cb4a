//! Capabilities: none, in any set, and no way to gain one.

use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use crate::step::{Applied, At as _, Step};

/// Which capabilities this kernel has: asked before the child is made.
#[derive(Debug)]
pub(crate) struct Capabilities {
    supported: CapabilitySet,
}

impl Capabilities {
    pub(crate) fn prepare() -> Self {
        let supported = caps::runtime::thread_all_supported();
        let bits = supported.iter().map(caps::Capability::bitmask);
        Self { supported: CapabilitySet::from_bits_retain(bits.fold(0, |all, bit| all | bit)) }
    }

    pub(crate) fn apply(&self) -> Applied {
        rustix::thread::clear_ambient_capability_set().at(Step::Ambient)?;
        for capability in self.supported.iter() {
            rustix::thread::remove_capability_from_bounding_set(capability).at(Step::Bounding)?;
        }
        // Being user 0 means nothing, changing users changes nothing, and neither can be undone.
        let locked = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
        rustix::thread::set_capabilities_secure_bits(locked).at(Step::SecureBits)?;
        let none = CapabilitySet::empty();
        let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
        rustix::thread::set_capabilities(None, none).at(Step::Capabilities)
    }
}
