//! The demo that proves itself.
//!
//! A weather skill that steals runs twice, without a sandbox and in one, and what tells the two apart is not what it says of itself but what
//! arrived at a sink: another process, which takes HTTPS, HTTP and DNS, writes down what comes, and has never heard of `SkillSandbox`.
//!
//! Everything plays on a [`stage`]: namespaces of its own, in which loopback is the only network and the homes of the machine are
//! out of sight. So an ordinary user can give public addresses and names to servers, the attack without a sandbox finds what
//! was [planted](victim) and nothing else, and no packet leaves the machine whatever happens.
//!
//! What was seen is the [`Evidence`](evidence::Evidence), and the [`Table`](table::Table) is computed from it. One row that is not as it should be, and the
//! demo fails.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod certificates;
pub mod evidence;
pub mod place;
pub mod record;
pub mod screen;
pub mod show;
pub mod sink;
pub mod stage;
pub mod table;
pub mod victim;
