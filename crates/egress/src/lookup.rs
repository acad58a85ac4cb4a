//! What a granted name really means: resolved by a few threads, filtered, and kept for a while.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;
use rustix::event::{EventfdFlags, eventfd};

use crate::dns::client::{self, ResolvedName};
use crate::rule::DNS_PORT;

/// The longest that a resolver is waited for.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long an answer is good for at least, whatever it says, and where it says nothing, as the system's resolver does: long enough for
/// a page's many connections, and short enough for a server that moves. Each lookup is a message to the resolver, and what does not hold
/// would let a program send one whenever it likes.
const KEPT: Duration = Duration::from_secs(30);

/// How long it is at most, however long it holds.
const LONGEST_KEPT: Duration = Duration::from_mins(5);

/// How long this machine's own addresses are remembered. They are judged by at each dial, however long an answer is kept.
const OWN_KEPT: Duration = Duration::from_secs(5);

/// How long a failure is: long enough to answer a burst, short enough to try again. Each further one is kept twice as long, up to
/// [`KEPT`]: each lookup is a message to the resolver, also one that is answered with "does not exist".
const FAILURE_KEPT: Duration = Duration::from_secs(1);

/// Names that are resolved at a time.
const MOST_THREADS: usize = 8;

/// Addresses of one name that are looked at.
const MOST_ADDRESSES: usize = 32;

/// What a name means.
#[derive(Debug, Clone)]
pub(crate) struct NameAddresses {
    /// Its addresses, in the order in which to try them.
    pub(crate) addresses: Vec<IpAddr>,
    /// The addresses that this machine itself has.
    pub(crate) own: Arc<[IpAddr]>,
    /// How long that holds, if that is known.
    ttl: Option<Duration>,
}

impl NameAddresses {
    fn kept(&self) -> Duration {
        self.ttl.unwrap_or_default().clamp(KEPT, LONGEST_KEPT)
    }
}

pub(crate) type LookupResult = Result<NameAddresses, String>;

/// Resolves names, without making the caller wait. Each run has its own: none knows what another one was answered.
///
/// It knows only granted names, all in lower case: as many as a policy has rules, and [`crate::synthetic_addresses::MOST_NAMES`] below
/// wildcards. Others have no address that somebody could connect to.
#[derive(Debug)]
pub(crate) struct NameLookups {
    resolver: Option<IpAddr>,
    known: HashMap<String, CachedLookup>,
    /// This machine's own addresses, and when they were listed.
    own: Option<(Arc<[IpAddr]>, Instant)>,
    /// How often in a row a name could not be resolved.
    failures: HashMap<String, u32>,
    shared: Arc<LookupShared>,
}

#[derive(Debug)]
enum CachedLookup {
    Asked,
    Answered(LookupResult, Instant),
}

#[derive(Debug)]
struct LookupShared {
    work: Mutex<LookupWork>,
    /// Signalled when there is an answer.
    answered: OwnedFd,
}

#[derive(Debug, Default)]
struct LookupWork {
    names: VecDeque<String>,
    threads: usize,
    answers: Vec<(String, LookupResult)>,
}

impl LookupShared {
    fn lock(&self) -> MutexGuard<'_, LookupWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NameLookups {
    pub(crate) fn new(resolver: Option<IpAddr>) -> io::Result<Self> {
        let answered = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let shared = Arc::new(LookupShared { work: Mutex::default(), answered });
        Ok(Self { resolver, known: HashMap::new(), own: None, failures: HashMap::new(), shared })
    }

    /// Readable when there are answers.
    pub(crate) fn answered(&self) -> BorrowedFd<'_> {
        self.shared.answered.as_fd()
    }

    /// What a name means, or `None` if that has to be found out: [`NameLookups::collect_answered`] then names it.
    pub(crate) fn look_up(&mut self, name: &str, now: Instant) -> Option<LookupResult> {
        match self.known.get(name) {
            Some(CachedLookup::Answered(resolved, until)) if now < *until => {
                let resolved = resolved.clone();
                return Some(resolved.and_then(|meaning| self.with_own_addresses(meaning, now)));
            }
            Some(CachedLookup::Asked) => return None,
            _ => {}
        }
        self.known.insert(name.to_owned(), CachedLookup::Asked);
        let mut work = self.shared.lock();
        work.names.push_back(name.to_owned());
        if work.threads < MOST_THREADS {
            let (shared, resolver) = (Arc::clone(&self.shared), self.resolver);
            let thread = std::thread::Builder::new().name("skillsandbox-dns".into());
            match thread.spawn(move || run_worker(&shared, resolver)) {
                Ok(_) => work.threads += 1,
                // One that runs will come to it; if there is none, nobody ever does.
                Err(_) if work.threads > 0 => {}
                Err(error) => {
                    work.names.pop_back();
                    let failed = Err(error.to_string());
                    drop(work);
                    self.known
                        .insert(name.to_owned(), CachedLookup::Answered(failed.clone(), now + FAILURE_KEPT));
                    return Some(failed);
                }
            }
        }
        None
    }

    /// A name was answered, and nobody is to be found there: it is asked for anew before long, however long the answer holds.
    pub(crate) fn doubt(&mut self, name: &str, now: Instant) {
        if let Some(CachedLookup::Answered(Ok(_), until)) = self.known.get_mut(name) {
            *until = (*until).min(now + KEPT);
        }
    }

    /// With the addresses that this machine has now: an answer may be older than one of them. Where they cannot be listed, those that
    /// were there lately.
    fn with_own_addresses(&mut self, meaning: NameAddresses, now: Instant) -> LookupResult {
        let age = |at: &Instant| now.saturating_duration_since(*at);
        let own = match &self.own {
            Some((own, at)) if age(at) < OWN_KEPT => Arc::clone(own),
            known => match (list_own_addresses(), known) {
                (Ok(own), _) => {
                    self.own = Some((Arc::clone(&own), now));
                    own
                }
                (Err(_), Some((own, at))) if age(at) < KEPT => Arc::clone(own),
                (Err(error), _) => return Err(error),
            },
        };
        Ok(NameAddresses { own, ..meaning })
    }

    /// The names that were answered since the last time.
    pub(crate) fn collect_answered(&mut self, now: Instant) -> Vec<String> {
        let mut number = [0; 8];
        let _ = rustix::io::read(&self.shared.answered, &mut number);
        let answers = std::mem::take(&mut self.shared.lock().answers);
        let mut names = Vec::new();
        for (name, resolved) in answers {
            let failures = self.failures.entry(name.clone()).or_default();
            *failures = if resolved.is_ok() { 0 } else { failures.saturating_add(1) };
            let kept = match &resolved {
                Ok(meaning) => {
                    self.own = Some((Arc::clone(&meaning.own), now));
                    meaning.kept()
                }
                Err(_) => FAILURE_KEPT.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(KEPT),
            };
            let until = now + kept;
            names.push(name.clone());
            self.known.insert(name, CachedLookup::Answered(resolved, until));
        }
        names
    }
}

/// The run is over: what was not yet asked for is not asked for any more.
impl Drop for NameLookups {
    fn drop(&mut self) {
        self.shared.lock().names.clear();
    }
}

/// The body of a worker thread: takes names as long as there are any. The broker does not wait for it.
fn run_worker(shared: &LookupShared, resolver: Option<IpAddr>) {
    loop {
        let name = {
            let mut work = shared.lock();
            let Some(name) = work.names.pop_front() else {
                work.threads -= 1;
                return;
            };
            name
        };
        let answer = resolve(&name, resolver);
        shared.lock().answers.push((name, answer));
        // Cannot fail but by counting to the end of numbers.
        let _ = rustix::io::write(&shared.answered, &1_u64.to_ne_bytes());
    }
}

fn resolve(name: &str, resolver: Option<IpAddr>) -> LookupResult {
    let found = match resolver {
        Some(address) => client::resolve(SocketAddr::new(address, DNS_PORT), name, Instant::now() + TIMEOUT),
        None => resolve_by_system(name).map(|addresses| ResolvedName { addresses, ttl: None }),
    };
    let ResolvedName { mut addresses, ttl } = found.map_err(|error| error.to_string())?;
    if addresses.is_empty() {
        return Err("the name has no address".to_owned());
    }
    addresses.truncate(MOST_ADDRESSES);
    let own = list_own_addresses()?;
    Ok(NameAddresses { addresses, own, ttl: ttl.map(|seconds| Duration::from_secs(seconds.into())) })
}

/// As programs of the host do, but for search lists: a dot at the end says that the name is whole. The system's resolver does not
/// find such a name in the hosts file, so that is looked at first.
fn resolve_by_system(name: &str) -> io::Result<Vec<IpAddr>> {
    let listed =
        std::fs::read_to_string("/etc/hosts").map(|hosts| find_in_hosts(&hosts, name)).unwrap_or_default();
    if !listed.is_empty() {
        return Ok(listed);
    }
    let whole = if name.contains('.') { format!("{name}.") } else { name.to_owned() };
    let mut addresses = Vec::new();
    for address in (whole.as_str(), 0).to_socket_addrs()? {
        if !addresses.contains(&address.ip()) {
            addresses.push(address.ip());
        }
    }
    Ok(addresses)
}

fn find_in_hosts(hosts: &str, name: &str) -> Vec<IpAddr> {
    let lines = hosts.lines().map(|line| line.split('#').next().unwrap_or_default());
    let named = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
    });
    named.take(MOST_ADDRESSES).collect()
}

fn list_own_addresses() -> Result<Arc<[IpAddr]>, String> {
    own_addresses().map_err(|error| format!("cannot list this machine's addresses: {error}"))
}

/// The addresses of this machine's interfaces: services that listen on them did not mean to be reached by a skill. To list them
/// takes a descriptor, of which there may be none left.
pub(crate) fn own_addresses() -> io::Result<Arc<[IpAddr]>> {
    Ok(getifaddrs()?.filter_map(|interface| interface.address.as_ref().and_then(interface_address)).collect())
}

fn interface_address(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_file_is_read_as_everybody_reads_it() {
        let hosts = "# 10.0.0.1 api.weather.test\n127.0.0.1\tlocalhost\n 192.0.2.1  other.test API.weather.test # api\n\
                     2001:db8::1 api.weather.test\nnonsense api.weather.test\n";
        let found = find_in_hosts(hosts, "api.weather.test");
        assert_eq!(found, ["192.0.2.1".parse::<IpAddr>().unwrap(), "2001:db8::1".parse().unwrap()]);
        assert!(find_in_hosts(hosts, "weather.test").is_empty());
        assert!(find_in_hosts(hosts, "api").is_empty());
    }

    /// In a process of its own, which has no descriptors left.
    #[test]
    fn without_descriptors_it_is_not_said_that_this_machine_has_no_addresses() {
        const ALONE: &str = "SKILLSANDBOX_TEST_ALONE";
        if std::env::var_os(ALONE).is_some() {
            assert!(own_addresses().is_ok_and(|own| !own.is_empty()), "as long as there are some");
            let _all: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
            assert!(own_addresses().is_err());
            return;
        }
        let test = "lookup::tests::without_descriptors_it_is_not_said_that_this_machine_has_no_addresses";
        let mut child = std::process::Command::new("/bin/sh");
        child.args(["-c", "ulimit -n 64 && exec \"$0\" --exact \"$1\" --test-threads 1"]);
        let child = child.arg(std::env::current_exe().unwrap()).arg(test).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    fn a_name_that_does_not_exist_is_asked_for_ever_more_seldom() {
        let mut lookups = NameLookups::new(Some([127, 0, 0, 1].into())).unwrap();
        // Nobody is asked here.
        lookups.shared.lock().threads = MOST_THREADS;
        let now = Instant::now();
        for (round, seconds) in [1, 2, 4, 8, 16, 30, 30].into_iter().enumerate() {
            lookups.shared.lock().answers.push(("a.test".into(), Err("no".into())));
            lookups.collect_answered(now);
            let just_before = now + Duration::from_millis(seconds * 1000 - 1);
            assert!(lookups.look_up("a.test", just_before).is_some(), "round {round}");
            assert!(lookups.look_up("a.test", now + Duration::from_secs(seconds)).is_none(), "round {round}");
        }
        let meaning = NameAddresses { addresses: vec![[192, 0, 2, 1].into()], own: Arc::new([]), ttl: None };
        lookups.shared.lock().answers.push(("a.test".into(), Ok(meaning)));
        lookups.collect_answered(now);
        lookups.shared.lock().answers.push(("a.test".into(), Err("no".into())));
        lookups.collect_answered(now);
        assert!(
            lookups.look_up("a.test", now + Duration::from_secs(1)).is_none(),
            "from the beginning again"
        );
    }

    fn answer(lookups: &mut NameLookups, name: &str, ttl: Option<u32>, now: Instant) {
        let ttl = ttl.map(|seconds| Duration::from_secs(seconds.into()));
        let meaning = NameAddresses { addresses: vec![[192, 0, 2, 1].into()], own: Arc::new([]), ttl };
        lookups.shared.lock().answers.push((name.to_owned(), Ok(meaning)));
        lookups.collect_answered(now);
    }

    #[test]
    fn an_answer_is_kept_for_as_long_as_it_says_within_bounds() {
        let mut lookups = NameLookups::new(Some([127, 0, 0, 1].into())).unwrap();
        // Nobody is asked here.
        lookups.shared.lock().threads = MOST_THREADS;
        let now = Instant::now();
        let cases =
            [(Some(0), 30), (Some(29), 30), (Some(31), 31), (Some(299), 299), (Some(301), 300), (None, 30)];
        for (ttl, kept) in cases.into_iter().chain([(Some(u32::MAX >> 1), 300)]) {
            answer(&mut lookups, "a.test", ttl, now);
            let just_before = now + Duration::from_millis(kept * 1000 - 1);
            assert!(lookups.look_up("a.test", just_before).is_some(), "{ttl:?}");
            assert!(lookups.look_up("a.test", now + Duration::from_secs(kept)).is_none(), "{ttl:?}");
        }
    }

    #[test]
    fn an_answer_where_nobody_is_to_be_found_is_asked_for_anew_before_long_but_not_at_once() {
        let mut lookups = NameLookups::new(Some([127, 0, 0, 1].into())).unwrap();
        lookups.shared.lock().threads = MOST_THREADS;
        let now = Instant::now();
        answer(&mut lookups, "a.test", Some(300), now);
        lookups.doubt("a.test", now);
        lookups.doubt("a.test", now + KEPT / 2);
        lookups.doubt("b.test", now);
        assert!(lookups.look_up("a.test", now + KEPT / 2).is_some());
        assert!(lookups.look_up("a.test", now + KEPT).is_none());
        lookups.doubt("a.test", now);
        assert!(lookups.look_up("a.test", now + KEPT).is_none(), "asked once");
        assert_eq!(lookups.shared.lock().names.len(), 1);
    }

    /// A machine can be given an address while an answer is kept that leads there.
    #[test]
    fn this_machines_addresses_are_those_of_the_dial_not_of_the_answer() {
        let mut lookups = NameLookups::new(Some([127, 0, 0, 1].into())).unwrap();
        let now = Instant::now();
        answer(&mut lookups, "a.test", Some(300), now);
        let own = |lookups: &mut NameLookups, at| lookups.look_up("a.test", at).unwrap().unwrap().own;
        assert!(own(&mut lookups, now + OWN_KEPT / 2).is_empty(), "as they were a moment ago");
        assert_eq!(own(&mut lookups, now + OWN_KEPT), own_addresses().unwrap());
        assert_eq!(lookups.known.len(), 1, "nobody was asked again");
    }

    #[test]
    fn names_that_wait_are_not_asked_for_when_the_run_is_over() {
        let mut lookups = NameLookups::new(Some([127, 0, 0, 1].into())).unwrap();
        let shared = Arc::clone(&lookups.shared);
        // As if all threads waited for a resolver that does not answer.
        shared.lock().threads = MOST_THREADS;
        assert!(lookups.look_up("a.test", Instant::now()).is_none());
        assert_eq!(shared.lock().names.len(), 1);
        drop(lookups);
        assert!(shared.lock().names.is_empty());
    }

    #[test]
    fn an_answer_is_kept_and_a_failure_for_a_moment() {
        let mut lookups = NameLookups::new(Some([127, 0, 0, 1].into())).unwrap();
        let now = Instant::now();
        lookups.shared.lock().answers.push(("a.test".into(), Err("no".into())));
        let meaning = NameAddresses { addresses: vec![[192, 0, 2, 1].into()], own: Arc::new([]), ttl: None };
        lookups.shared.lock().answers.push(("b.test".into(), Ok(meaning)));
        assert_eq!(lookups.collect_answered(now), ["a.test", "b.test"]);
        assert!(lookups.look_up("a.test", now).unwrap().is_err());
        assert!(lookups.look_up("b.test", now + KEPT / 2).unwrap().is_ok());
        assert!(lookups.collect_answered(now).is_empty());
    }
}
