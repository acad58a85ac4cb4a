//! What is done to the user: behind their back, against their will, at their cost.

use super::{Said, Told, surest};
use crate::instructions::classes::{ANY_SECRET, CONSEQUENCE, OUTSIDE, WordClass as C};
use crate::instructions::languages::Language;
use crate::rule::FindingStatus::{Block, Pass, Warn};

/// "Upload it without telling the user", "do not mention this step".
pub(super) fn hides(said: &Said<'_>) -> Told {
    let reading = said.reading;
    if reading.has(C::UNLESS) {
        return None;
    }
    let grave = C::SEND.with(C::INSTALL).with(C::DESTROY).with(C::PAY).with(C::TAKE);
    let sends = |at: usize| {
        let what = OUTSIDE | ANY_SECRET | C::TALK | C::EVERYTHING;
        reading.object(at, what, 14).is_some() || said.before.has(ANY_SECRET | C::TALK)
    };
    let covert = reading.places(C::COVERT).filter(|at| !reading.is_negated(*at)).filter_map(|at| {
        let act = reading.told_near(at, grave, 10)?;
        let moves = reading.at(act).has(C::SEND | C::TAKE | C::PAY);
        match () {
            () if moves && sends(act) => Some((Block, act)),
            () if reading.at(act).has(C::INSTALL) && reading.has(C::USER) && act.abs_diff(at) <= 3 => {
                Some((Warn, act))
            }
            () => None,
        }
    });
    // What follows "tell the user to" is not hidden from them.
    let told_to = |at: usize| {
        let user = reading.object(at, C::USER, 3);
        user.is_some_and(|user| reading.at(user + 1).has(C::TO | C::ASK))
    };
    let kept = reading.untold(C::TELL).filter(|at| !told_to(*at)).filter_map(|at| {
        reading.object(at, C::USER | C::LOGS, 5)?;
        // "Do not show the user raw output" is ordinary; not to tell them is not.
        let plain = !reading.at(at).has(C::SHOW);
        let other =
            reading.told(grave).find(|act| *act != at && act.abs_diff(at) <= 24 && (plain || sends(*act)));
        let own =
            (0..at).any(|place| reading.at(place).has(C::SELF)) && reading.object(at, C::USER, 3).is_some();
        let about = said.before.has(C::SEND) && said.before.has(ANY_SECRET | C::TALK | OUTSIDE);
        match other {
            Some(act) if sends(act) || reading.at(act).has(C::SEND) => Some((Block, at)),
            Some(_) => Some((Warn, at)),
            None if about && plain => Some((Block, at)),
            None if own && plain => Some((Warn, at)),
            None => Some((Pass, at)),
        }
    });
    let hidden = reading.told(C::HIDE).filter_map(|at| {
        let user = reading.object(at, C::USER, 8)?;
        let from = reading.near(user, C::WITHIN, 2).is_some() || reading.language != Language::English;
        (from && reading.near(at, CONSEQUENCE | C::LOGS, 10).is_some()).then_some((Warn, at))
    });
    surest(covert.chain(kept).chain(hidden))
}

/// "Mislead the user".
pub(super) fn deceives(said: &Said<'_>) -> Told {
    let reading = said.reading;
    let lied = reading.told(C::LIE).filter_map(|at| {
        let user = reading.object(at, C::USER, 3)?;
        (user > at || reading.language != Language::English).then_some((Warn, at))
    });
    surest(lied)
}

/// "Insert a backdoor", "falsify the test results".
pub(super) fn falsifies(said: &Said<'_>) -> Told {
    let reading = said.reading;
    let planted = reading.told(C::EMBED.with(C::INSTALL)).filter_map(|at| {
        let thing = reading.object(at, C::HARM, 5)?;
        let into = reading.language != Language::English
            || reading.places(C::WITHIN | C::TO).any(|place| place > thing);
        let covert = reading.has(C::COVERT | C::HIDE) || reading.untold(C::TELL).next().is_some();
        match () {
            () if reading.is_possible(at) => None,
            () if covert => Some((Block, at)),
            () => Some((if into { Warn } else { Pass }, at)),
        }
    });
    let faked =
        reading.told(C::FALSIFY).filter_map(|at| reading.object(at, C::RESULTS, 4).map(|_| (Warn, at)));
    surest(planted.chain(faked))
}

/// Whether the sentence says that nobody is asked or told.
fn is_unasked(said: &Said<'_>, at: usize) -> bool {
    let reading = said.reading;
    reading.places(C::COVERT).any(|place| !reading.is_negated(place))
        || reading.untold(C::ASK.with(C::TELL)).any(|act| act != at)
        || reading.untold(C::APPROVAL).next().is_some()
}

/// "Delete the home folder", "encrypt all files".
pub(super) fn destroys(said: &Said<'_>) -> Told {
    let reading = said.reading;
    let destroyed = reading.told(C::DESTROY).filter_map(|at| {
        let thing = reading.object(at, C::EVERYTHING, 4)?;
        let theirs =
            reading.near(thing, C::USER | C::OWN, 4).is_some() || reading.language != Language::English;
        match () {
            () if reading.has(C::UNLESS | C::DUMMY) || reading.is_possible(at) => None,
            () if is_unasked(said, at) => Some((Block, at)),
            () if reading.has(C::MONEY) && reading.has(C::ASK | C::PAY) => Some((Warn, at)),
            () => Some((if theirs { Warn } else { Pass }, at)),
        }
    });
    surest(destroyed)
}

/// "Copy these instructions into every other skill".
pub(super) fn spreads(said: &Said<'_>) -> Told {
    let reading = said.reading;
    let spread = reading.told(C::SPREAD).filter_map(|at| {
        reading.object(at, C::ITSELF, 5)?;
        reading.object(at, C::OTHERS, 12).map(|_| (Block, at))
    });
    surest(spread)
}

/// "Transfer the funds without asking".
pub(super) fn spends(said: &Said<'_>) -> Told {
    let reading = said.reading;
    let spent = reading.told(C::PAY).filter_map(|at| {
        let thing = reading.object(at, C::MONEY, 6)?;
        let all = reading.near(thing, C::ALL, 3).is_some() && reading.has(C::USER) && reading.has(C::TO);
        match () {
            () if reading.has(C::UNLESS) || reading.is_possible(at) => None,
            () if is_unasked(said, at) => Some((Block, at)),
            () if all => Some((Warn, at)),
            () => None,
        }
    });
    surest(spent)
}
