//! Capabilities: none, in any set, and no way to gain one.

use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use crate::child::step::{AtStep as _, SetupStep, StepResult};

/// More than any kernel has; the bits of a set.
const MOST: u32 = 64;

pub(crate) fn apply() -> StepResult {
    rustix::thread::clear_ambient_capability_set().at(SetupStep::Ambient)?;
    for number in 0..MOST {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The first that this kernel does not have.
            Err(rustix::io::Errno::INVAL) if number > 0 => break,
            Err(errno) => return Err(errno).at(SetupStep::Bounding),
        }
    }
    // Being user 0 means nothing, changing users changes nothing, and neither can be undone.
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    rustix::thread::set_capabilities_secure_bits(locked).at(SetupStep::SecureBits)?;
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, none).at(SetupStep::Capabilities)
}
