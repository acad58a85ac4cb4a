//! Version 2, on the kernel that is played.

use std::fs;

use super::super::kernel::CgroupKernel as _;
use super::fake::FakeKernel;
use super::*;

const MIB: u64 = 1 << 20;
const ALL: GroupLimits =
    GroupLimits { memory: Some(64 * MIB), processes: Some(8), cpu_percent: Some(50), counts_cpu: false };

/// Why version 2 was not to be had.
fn reason(host: &CgroupHost, wanted: &GroupLimits) -> String {
    let unavailable = ControlGroup::create_in(host, wanted).unwrap_err();
    let (mechanism, reason) = unavailable.tried[0].clone();
    assert_eq!(mechanism, LimitMechanism::CgroupV2);
    reason
}

fn said(group: &ControlGroup, file: &str) -> String {
    fs::read_to_string(group.folders()[0].join(file)).unwrap()
}

#[test]
fn in_our_own_group_where_it_is_the_root() {
    let fake = FakeKernel::unified("cpuset cpu io memory hugetlb pids");
    let group = ControlGroup::create_in(&fake.host("/"), &ALL).unwrap();
    assert_eq!(group.mechanism(), LimitMechanism::CgroupV2);
    assert_eq!(fake.groups("").len(), 1);
    for (file, expected) in [
        ("memory.max", "67108864"),
        ("memory.swap.max", "0"),
        ("memory.oom.group", "1"),
        ("pids.max", "8"),
        ("cpu.max", "50000 100000"),
        ("cgroup.max.descendants", "0"),
        ("hugetlb.2MB.max", "0"),
        ("hugetlb.2MB.rsvd.max", "0"),
    ] {
        assert_eq!(said(&group, file), expected, "{file}");
    }
    assert_eq!(group.join().len(), 1);
    drop(group);
    assert!(fake.groups("").is_empty());
}

#[test]
fn in_our_own_group_where_somebody_enabled_the_controllers() {
    // Possible only as long as no process was there: then ours came.
    let fake = FakeKernel::unified("cpu memory pids");
    fake.write(&fake.root.join("cgroup.subtree_control"), "+cpu +memory +pids").unwrap();
    let own = fake.group("service", "+cpu +memory +pids", "");
    fs::write(own.join("cgroup.procs"), "77\n").unwrap();
    let group = ControlGroup::create_in(&fake.host("/service"), &ALL).unwrap();
    assert!(group.folders()[1].starts_with(&own));
}

#[test]
fn beside_our_own_group_where_processes_are_in_it() {
    let fake = FakeKernel::unified("cpu memory pids");
    fake.write(&fake.root.join("cgroup.subtree_control"), "+cpu +memory +pids").unwrap();
    let slice = fake.group("app.slice", "+memory +pids", "");
    fake.group("app.slice/terminal.scope", "", "77\n78\n");
    let group = ControlGroup::create_in(&fake.host("/app.slice/terminal.scope"), &ALL).unwrap();
    assert_eq!(group.folders()[1].parent().unwrap(), slice);
    // The one that was missing was enabled.
    assert_eq!(said(&group, "cpu.max"), "50000 100000");
    drop(group);
    assert_eq!(fake.groups("app.slice"), ["terminal.scope"]);
}

#[test]
fn only_one_step_up() {
    let fake = FakeKernel::unified("cpu memory pids");
    fake.write(&fake.root.join("cgroup.subtree_control"), "+cpu +memory +pids").unwrap();
    fake.group("a", "+cpu +memory +pids", "");
    let parent = fake.group("a/b", "", "5\n");
    fake.group("a/b/c", "", "77\n");
    // Nothing reaches c, and b has processes.
    let reason = reason(&fake.host("/a/b/c"), &ALL);
    assert!(reason.contains("a/b/c/cgroup.controllers: no memory, pids, cpu controller"), "{reason}");
    assert!(
        reason.contains("a/b/cgroup.subtree_control: enabling memory, pids, cpu: the group has processes"),
        "{reason}"
    );
    assert_eq!(fake.groups("a/b"), ["c"]);
    assert!(parent.exists());
}

#[test]
fn never_above_the_mount() {
    // A container: what is mounted is our own group, and what is above it is not ours even if the folder could be written.
    let fake = FakeKernel::unified("cpu memory pids");
    fake.write(&fake.root.join("cgroup.subtree_control"), "+cpu +memory +pids").unwrap();
    let own = fake.group("container", "", "1\n");
    let mountinfo = format!("31 23 0:28 / {} rw - cgroup2 cgroup2 rw", own.display());
    let host = CgroupHost::parse(mountinfo.as_bytes(), b"0::/\n", fake.clone());
    let reason = reason(&host, &ALL);
    assert!(reason.contains("has processes of its own"), "{reason}");
    assert_eq!(fake.groups(""), ["container"]);
}

#[test]
fn limits_on_us_are_limits_on_a_group_beside_us() {
    let fake = FakeKernel::unified("cpu memory pids");
    fake.write(&fake.root.join("cgroup.subtree_control"), "+cpu +memory +pids").unwrap();
    let own = fake.group("service", "", "77\n");
    for (file, text) in [("memory.max", "33554432\n"), ("pids.max", "max\n"), ("cpu.max", "20000 50000\n")] {
        fs::write(own.join(file), text).unwrap();
    }
    let wanted = GroupLimits { cpu_percent: None, ..ALL };
    let group = ControlGroup::create_in(&fake.host("/service"), &wanted).unwrap();
    assert_eq!(said(&group, "memory.max"), "33554432");
    assert_eq!(said(&group, "pids.max"), "8");
    assert_eq!(said(&group, "cpu.max"), "40000 100000");
}

#[test]
fn controllers_cannot_be_taken_away_from_under_the_limits() {
    let fake = FakeKernel::unified("cpu memory pids");
    let group = ControlGroup::create_in(&fake.host("/"), &ALL).unwrap();
    for controller in ["cpu", "memory", "pids"] {
        let taken = fake.write(&fake.root.join("cgroup.subtree_control"), &format!("-{controller}"));
        assert_eq!(taken.unwrap_err().raw_os_error(), Some(rustix::io::Errno::BUSY.raw_os_error()));
    }
    drop(group);
    // The control: it is our group that kept them.
    fake.write(&fake.root.join("cgroup.subtree_control"), "-cpu").unwrap();
}

#[test]
fn only_what_is_asked_for_is_needed() {
    let fake = FakeKernel::unified("pids");
    let only = GroupLimits { memory: None, cpu_percent: None, ..ALL };
    let group = ControlGroup::create_in(&fake.host("/"), &only).unwrap();
    assert_eq!(said(&group, "pids.max"), "8");
    assert_eq!((group.hits(), group.usage().peak_memory), (LimitHitCounts::default(), None));
    let reason = reason(&fake.host("/"), &ALL);
    assert!(reason.contains("cgroup.controllers: no memory, cpu controller is offered here"), "{reason}");
    // Nothing at all is a group too: it can be ended as one.
    drop(ControlGroup::create_in(&fake.host("/"), &GroupLimits::default()).unwrap());
}

#[test]
fn refusals_name_the_file_and_leave_nothing() {
    for (denied, expected) in [
        ("cgroup.procs", "/cgroup.procs: Permission denied"),
        ("cgroup.subtree_control", "/cgroup.subtree_control: enabling memory, pids, cpu: Permission denied"),
        ("", "making a group: Permission denied"),
    ] {
        let fake = FakeKernel::unified("cpu memory pids");
        let path = if denied.is_empty() { fake.root.clone() } else { fake.root.join(denied) };
        fake.odd.lock().unwrap().denied.insert(path);
        let reason = reason(&fake.host("/"), &ALL);
        assert!(reason.contains(expected), "{reason}");
        assert!(fake.groups("").is_empty());
    }
}

#[test]
fn a_limit_that_the_kernel_did_not_take_is_none() {
    for file in ["memory.max", "pids.max", "cpu.max"] {
        let fake = FakeKernel::unified("cpu memory pids");
        fake.odd.lock().unwrap().deaf.insert(file);
        let reason = reason(&fake.host("/"), &ALL);
        assert!(reason.contains(file) && reason.contains("was written, but it says \"max"), "{reason}");
        assert!(fake.groups("").is_empty(), "{file}");
    }
}

#[test]
fn older_kernels_have_fewer_files() {
    let fake = FakeKernel::unified("cpu memory pids");
    fake.odd.lock().unwrap().absent.extend([
        "memory.swap.max",
        "memory.oom.group",
        "memory.peak",
        "cgroup.kill",
        "cgroup.type",
        "cgroup.max.descendants",
    ]);
    let group = ControlGroup::create_in(&fake.host("/"), &ALL).unwrap();
    assert_eq!(group.usage().peak_memory, None);
    drop(group);
    assert!(fake.groups("").is_empty());
    // But not without the limits themselves.
    fake.odd.lock().unwrap().absent.insert("memory.max");
    let reason = reason(&fake.host("/"), &ALL);
    assert!(reason.contains("memory.max: writing \"67108864\": No such file"), "{reason}");
    assert!(fake.groups("").is_empty());
}

#[test]
fn below_a_threaded_group_nothing_holds() {
    let fake = FakeKernel::unified("cpu memory pids");
    fake.odd.lock().unwrap().kind = Some("domain invalid");
    let reason = reason(&fake.host("/"), &ALL);
    assert!(reason.contains("the group is \"domain invalid\", not a domain"), "{reason}");
    assert!(fake.groups("").is_empty());
}

#[test]
fn hits_and_usage_are_read() {
    let fake = FakeKernel::unified("cpu memory pids");
    let group = ControlGroup::create_in(&fake.host("/"), &ALL).unwrap();
    let file = |name: &str, text: &str| fs::write(group.folders()[0].join(name), text).unwrap();
    file("memory.events", "low 0\nhigh 0\nmax 17\noom 4\noom_kill 3\noom_group_kill 1\n");
    file("memory.peak", "67108864\n");
    file("pids.events", "max 5\n");
    file("cpu.stat", "usage_usec 2500000\nuser_usec 1\nnr_periods 9\nnr_throttled 7\nthrottled_usec 70\n");
    assert_eq!(group.hits(), LimitHitCounts { memory: 1, processes: 5, cpu_throttled: 7 });
    file("memory.events", "low 0\nhigh 0\nmax 17\noom 4\noom_kill 3\n");
    assert_eq!(group.hits().memory, 3);
    let usage = ResourceUsage { peak_memory: Some(64 * MIB), cpu: Some(Duration::from_millis(2500)) };
    assert_eq!(group.usage(), usage);
}

#[test]
fn what_is_left_in_a_group_is_ended_with_it() {
    let fake = FakeKernel::unified("cpu memory pids");
    let group = ControlGroup::create_in(&fake.host("/"), &ALL).unwrap();
    fs::write(group.folders()[0].join("cgroup.procs"), "123456\n").unwrap();
    drop(group);
    assert!(fake.groups("").is_empty());
    assert!(fake.writes().contains(&"cgroup.kill 1".to_owned()), "{:?}", fake.writes());
}

#[test]
fn numbers_beyond_the_kernels_are_brought_down() {
    let fake = FakeKernel::unified("cpu memory pids");
    let wanted = GroupLimits {
        memory: Some(u64::MAX),
        processes: Some(u32::MAX),
        cpu_percent: Some(u32::MAX),
        counts_cpu: false,
    };
    let group = ControlGroup::create_in(&fake.host("/"), &wanted).unwrap();
    assert_eq!(said(&group, "pids.max"), "4194304");
    assert_eq!(said(&group, "cpu.max"), "4294967295000 100000");
}

#[test]
fn many_at_once_share_nothing() {
    let fake = FakeKernel::unified("cpu memory pids");
    let host = fake.host("/");
    let groups: Vec<ControlGroup> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=64)
            .map(|count| {
                let wanted = GroupLimits { processes: Some(count), ..ALL };
                let host = &host;
                scope.spawn(move || ControlGroup::create_in(host, &wanted).unwrap())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(fake.groups("").len(), 64);
    for (index, group) in groups.into_iter().enumerate() {
        assert_eq!(said(&group, "pids.max"), (index + 1).to_string());
        drop(group);
        assert_eq!(fake.groups("").len(), 63 - index);
    }
}

#[test]
fn a_process_that_did_not_join_is_not_let_go_on() {
    let fake = FakeKernel::unified("cpu memory pids");
    let mut group = ControlGroup::create_in(&fake.host("/"), &ALL).unwrap();
    let procs = group.folders()[0].join("cgroup.procs");
    for (members, adopted) in [("", false), ("12345\n", false), ("1\n1234\n", true)] {
        fs::write(&procs, members).unwrap();
        let result = group.adopt(1234);
        assert_eq!(result.is_ok(), adopted, "{members:?}: {result:?}");
        if let Err(error) = result {
            assert!(error.to_string().contains("cgroup.procs: process 1234 is not in the group"), "{error}");
        }
    }
}
