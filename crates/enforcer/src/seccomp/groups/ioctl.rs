//! `ioctl`, by command. The kernel reads 32 bits of it, whatever is above them.

use crate::seccomp::table::{
    ArgumentRule, CallGroup, CallList, CallSupervision, ListedCall, ProfileScope, is,
};

pub(super) const DEVICES: CallGroup = CallGroup {
    name: "terminals and files",
    reason: "what shells, editors, cp and language runtimes ask of terminals, files and /dev/random. An allow-list, because \
             behind other commands are whole drivers",
    within: ProfileScope::Every,
    supervision: CallSupervision::None,
    calls: CallList { both: "", x86_64: "", more: &[ListedCall::both("ioctl", COMMON)] },
};

pub(super) const SOCKETS: CallGroup = CallGroup {
    name: "questions to sockets",
    reason: "names, addresses and states of network interfaces, which getifaddrs, Java and psutil ask for; changing them is \
             not on the list",
    within: ProfileScope::NotStrict("strict has no sockets"),
    supervision: CallSupervision::None,
    calls: CallList { both: "", x86_64: "", more: &[ListedCall::both("ioctl", OF_SOCKETS)] },
};

macro_rules! commands {
    ($($name:ident = $number:literal),* $(,)?) => {
        &[$(ArgumentRule::new(stringify!($name), &[is(1, $number)])),*]
    };
}

// The numbers are those of asm-generic/ioctls.h and linux/fs.h: the same on x86-64 and aarch64.
const COMMON: &[ArgumentRule] = commands! {
    TCGETS = 0x5401, TCSETS = 0x5402, TCSETSW = 0x5403, TCSETSF = 0x5404,
    TCGETA = 0x5405, TCSETA = 0x5406, TCSETAW = 0x5407, TCSETAF = 0x5408,
    TCGETS2 = 0x802c_542a, TCSETS2 = 0x402c_542b, TCSETSW2 = 0x402c_542c, TCSETSF2 = 0x402c_542d,
    TCSBRK = 0x5409, TCXONC = 0x540a, TCFLSH = 0x540b, TCSBRKP = 0x5425,
    TIOCEXCL = 0x540c, TIOCNXCL = 0x540d, TIOCGEXCL = 0x8004_5440,
    TIOCSCTTY = 0x540e, TIOCNOTTY = 0x5422, TIOCGPGRP = 0x540f, TIOCSPGRP = 0x5410, TIOCGSID = 0x5429,
    TIOCOUTQ = 0x5411, TIOCGWINSZ = 0x5413, TIOCSWINSZ = 0x5414, TIOCGETD = 0x5424,
    TIOCPKT = 0x5420, TIOCGPKT = 0x8004_5438, TIOCGPTN = 0x8004_5430, TIOCSPTLCK = 0x4004_5431,
    TIOCGPTLCK = 0x8004_5439, TIOCGPTPEER = 0x5441, TIOCGDEV = 0x8004_5432,
    FIONREAD = 0x541b, FIONBIO = 0x5421, FIOCLEX = 0x5451, FIONCLEX = 0x5450, FIOASYNC = 0x5452, FIOQSIZE = 0x5460,
    FICLONE = 0x4004_9409, FICLONERANGE = 0x4020_940d, FIDEDUPERANGE = 0xc018_9436, FIGETBSZ = 0x2,
    FS_IOC_FIEMAP = 0xc020_660b, FS_IOC_GETFLAGS = 0x8008_6601, FS_IOC_SETFLAGS = 0x4008_6602,
    FS_IOC_GETVERSION = 0x8008_7601, FS_IOC_FSGETXATTR = 0x801c_581f,
    RNDGETENTCNT = 0x8004_5200,
};

const OF_SOCKETS: &[ArgumentRule] = commands! {
    FIOSETOWN = 0x8901, SIOCSPGRP = 0x8902, FIOGETOWN = 0x8903, SIOCGPGRP = 0x8904, SIOCATMARK = 0x8905,
    SIOCGSTAMP_OLD = 0x8906,
    SIOCGIFNAME = 0x8910, SIOCGIFCONF = 0x8912, SIOCGIFFLAGS = 0x8913, SIOCGIFADDR = 0x8915,
    SIOCGIFDSTADDR = 0x8917, SIOCGIFBRDADDR = 0x8919, SIOCGIFNETMASK = 0x891b, SIOCGIFMETRIC = 0x891d,
    SIOCGIFMTU = 0x8921, SIOCGIFHWADDR = 0x8927, SIOCGIFINDEX = 0x8933, SIOCGIFTXQLEN = 0x8942,
    SIOCETHTOOL = 0x8946, SIOCGARP = 0x8954, SIOCGIFMAP = 0x8970,
};
