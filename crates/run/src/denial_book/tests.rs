use skillsandbox_tracer::NetConnection;

use super::*;

fn denied(kind: EventKind) -> Event {
    Event::new(kind).with_verdict(EventVerdict::Denied, "not granted".to_owned())
}

fn read(path: &str) -> Event {
    denied(EventKind::File { operation: FileOperation::Read, path: path.to_owned(), to: None })
}

fn reach(name: &str) -> Event {
    let mut to = NetConnection::default();
    (to.name, to.port, to.transport) = (Some(name.into()), 443, "tcp".into());
    to.reason = Some("not_granted".into());
    denied(EventKind::NetConnect(to))
}

/// All of it, each with its place, classified as a run would be.
fn list(events: impl IntoIterator<Item = Event>) -> DenialList {
    let (mut book, mut classifier) = (DenialBook::new(), skillsandbox_tracer::Classifier::new());
    for (place, mut event) in (0..).zip(events) {
        event.sequence = place;
        let class = classifier.observe(&event);
        book.observe(&event, class);
    }
    book.finish_trace(&classifier.finish())
}

fn whats(list: &DenialList) -> Vec<&str> {
    list.denials.iter().map(|denial| denial.what.as_str()).collect()
}

#[test]
fn repeats_are_counted_and_few_files_of_a_folder_stay_apart() {
    let mut events: Vec<Event> = ["/x/a", "/x/b", "/x/a", "/x/c"].map(read).into();
    events[2].count = 5;
    let few = list(events);
    assert_eq!(whats(&few), ["read /x/a", "read /x/b", "read /x/c"]);
    assert_eq!(few.denials[0].count, 6);
    assert_eq!(few.denials[0].hint.as_deref(), Some("permissions.filesystem.read: - /x/a"));
    let many = list((0..9).map(|number| read(&format!("/x/{{}}/{number}"))));
    assert_eq!(whats(&many), ["read 9 files in /x/{}"]);
    assert_eq!((many.denials[0].count, many.denials[0].distinct), (9, 9));
}

#[test]
fn what_matters_is_not_hidden_below_what_does_not() {
    // A thief who first trips thousands of harmless refusals, each in a folder of its own.
    let noise = || (0..5_000).map(|number| read(&format!("/srv/{number}/x")));
    let theft = list(noise().chain([read("/home/a/.ssh/id_rsa")]));
    assert_eq!(theft.denials[0].what, "read /home/a/.ssh/id_rsa");
    assert!(theft.denials.len() <= MOST && theft.omitted > 4_000, "{}", theft.omitted);
    // One that nobody classifies has its place among the first, since it is of another kind.
    let reached = list(noise().chain([reach("quiet.test")]));
    assert!(whats(&reached)[..2].contains(&"connect to quiet.test port 443 by tcp"), "{:?}", whats(&reached));
    // A flood of sensitive places hides no other class.
    let flood = (0..5_000).map(|number| read(&format!("/home/{number}/.aws/credentials")));
    let both = list(flood.chain([denied(EventKind::File {
        operation: FileOperation::Write,
        path: "/home/a/.config/autostart/x.desktop".into(),
        to: None,
    })]));
    assert!(
        whats(&both)[..3].contains(&"write /home/a/.config/autostart/x.desktop"),
        "{:?}",
        &whats(&both)[..5]
    );
}

#[test]
fn what_proves_something_only_later_comes_first_all_the_same() {
    // Refused before credentials were touched, and again afterwards.
    let mut first = reach("drop.test");
    first.elapsed_us = 1;
    let mut key = read("/home/a/.ssh/id_rsa");
    key.elapsed_us = 2;
    let mut again = reach("drop.test");
    (again.elapsed_us, again.last_elapsed_us) = (3, Some(3));
    let noise = (0..300).map(|number| read(&format!("/srv/{number}/x")));
    let found = list([first].into_iter().chain(noise).chain([key, again]));
    let place = whats(&found).iter().position(|what| what.contains("drop.test")).unwrap();
    assert!(place < 3, "{:?}", &whats(&found)[..5]);
    assert!(found.denials.iter().all(|denial| denial.hint.is_none()), "an attack gets no hint");
}

#[test]
fn what_programs_do_without_is_counted_unless_the_command_line_names_it() {
    let events = || [read("/etc/os-release"), read("/sys/fs/cgroup/memory.max"), read("/etc/os-release")];
    let counted = list(events());
    assert!(counted.denials.is_empty(), "{:?}", whats(&counted));
    assert_eq!(counted.expected.iter().map(|expected| expected.count).collect::<Vec<_>>(), [2, 1]);
    let command = ["cat", "/etc/os-release"].map(str::to_owned).to_vec();
    let named = list([Event::new(EventKind::RunStarted { command })].into_iter().chain(events()));
    assert_eq!(whats(&named), ["read /etc/os-release"]);
    assert_eq!(named.denials[0].hint.as_deref(), Some("permissions.filesystem.read: - /etc/os-release"));
}

#[test]
fn names_below_one_parent_are_folded() {
    let tunnel = list((0..50).map(|number| {
        let name = Some(format!("x{number}.a.drop.test"));
        Event::new(EventKind::DnsQuery { name, server: None })
            .with_verdict(EventVerdict::Denied, "not_granted".to_owned())
    }));
    assert_eq!(whats(&tunnel), ["look up 50 names below drop.test"]);
    assert_eq!(tunnel.denials[0].hint, None, "no grant is for all of them");
}

#[test]
fn different_ones_are_counted_up_to_a_bound_that_is_said() {
    let many = list((0..100_000).map(|number| read(&format!("/srv/x/{number}"))));
    assert_eq!(whats(&many), ["read at least 4096 files in /srv/x"]);
    assert_eq!(many.denials[0].count, 100_000);
    assert_eq!(many.omitted, 0);
}

#[test]
fn a_host_that_could_not_be_reached_is_told_with_the_reason() {
    let mut to = NetConnection::default();
    (to.name, to.port, to.transport) = (Some("a.test".into()), 443, "tcp".into());
    (to.reason, to.detail) = (Some("not_resolved".into()), Some("no such name".into()));
    let failed = || Event::new(EventKind::NetConnect(to.clone())).with_verdict(EventVerdict::Failed, None);
    let found = list([failed(), failed()]);
    assert!(found.denials.is_empty());
    let [host] = found.unreached.as_slice() else { panic!("{:?}", found.unreached) };
    assert_eq!((host.host.as_str(), host.why.as_str(), host.count), ("a.test:443", "no such name", 2));
}

#[test]
fn what_is_kept_is_bounded_however_many_folders_and_classes_there_are() {
    let mut book = DenialBook::new();
    for folder in 0..100 {
        for number in 0..2_000 {
            book.observe(&read(&format!("/srv/{folder}/{number}")), None);
        }
    }
    let groups: Vec<&Group> = book.buckets.values().flatten().collect();
    assert!(groups.len() <= MOST_GROUPS && book.omitted > 0);
    let marks: usize = groups.iter().map(|group| group.seen.len()).sum();
    assert!(marks <= MOST_MARKS + MOST_ALONE * groups.len(), "{marks}");
    let list = book.finish_trace(&[]);
    assert!(list.denials.iter().any(|denial| denial.what.starts_with("read at least ")));
    assert!(list.denials.iter().all(|denial| denial.count == 2_000));
}
