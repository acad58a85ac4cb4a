//! Version 1, on the kernel that is played: hierarchies apart, together, and mixed with version 2.

use std::fmt::Write as _;
use std::fs;

use super::fake::FakeKernel;
use super::*;

type GroupFiles = &'static [(&'static str, &'static str)];

const MEMORY: GroupFiles = &[
    ("memory.limit_in_bytes", "9223372036854771712"),
    ("memory.memsw.limit_in_bytes", "9223372036854771712"),
    ("memory.swappiness", "60"),
    ("memory.oom_control", ""),
    ("memory.max_usage_in_bytes", "0"),
];
const PIDS: GroupFiles = &[("pids.max", "max"), ("pids.events", "")];
const CPU: GroupFiles =
    &[("cpu.cfs_quota_us", "-1"), ("cpu.cfs_period_us", "100000"), ("cpu.stat", ""), ("cpuacct.usage", "0")];
const ALL: GroupLimits =
    GroupLimits { memory: Some(64 << 20), processes: Some(8), cpu_percent: Some(50), counts_cpu: false };

/// A host with hierarchies of version 1, each with the controllers it is named after, and version 2 without controllers.
fn host(fake: &Arc<FakeKernel>, hierarchies: &[(&str, &[GroupFiles])]) -> CgroupHost {
    let base = fake.root.display();
    let mut mountinfo = format!("41 31 0:38 / {base}/unified rw - cgroup2 cgroup2 rw\n");
    let mut cgroup = String::from("0::/\n");
    fs::create_dir(fake.root.join("unified")).unwrap();
    for (name, text) in
        [("cgroup.controllers", "hugetlb"), ("cgroup.subtree_control", ""), ("cgroup.procs", "1\n")]
    {
        fs::write(fake.root.join("unified").join(name), text).unwrap();
    }
    for (controllers, files) in hierarchies {
        fake.hierarchy(controllers, &files.concat());
        let options = format!("rw,relatime - cgroup cgroup rw,{controllers}");
        writeln!(mountinfo, "32 31 0:29 / {base}/{controllers} {options}").unwrap();
        writeln!(cgroup, "1:{controllers}:/").unwrap();
    }
    CgroupHost::parse(mountinfo.as_bytes(), cgroup.as_bytes(), fake.clone())
}

fn said(group: &ControlGroup, file: &str) -> String {
    group.folders().iter().find_map(|folder| fs::read_to_string(folder.join(file)).ok()).unwrap()
}

#[test]
fn a_group_in_each_hierarchy() {
    let fake = FakeKernel::legacy();
    let host = host(&fake, &[("memory", &[MEMORY]), ("pids", &[PIDS]), ("cpu,cpuacct", &[CPU])]);
    let group = ControlGroup::create_in(&host, &ALL).unwrap();
    assert_eq!(group.mechanism(), LimitMechanism::CgroupV1);
    assert_eq!((group.join().len(), group.folders().len()), (3, 3));
    for (file, expected) in [
        ("memory.limit_in_bytes", "67108864"),
        ("memory.memsw.limit_in_bytes", "67108864"),
        ("pids.max", "8"),
        ("cpu.cfs_quota_us", "50000"),
        ("cpu.cfs_period_us", "100000"),
    ] {
        assert_eq!(said(&group, file), expected, "{file}");
    }
    let write = |file: &str, text: &str| {
        let folder = group.folders().iter().find(|folder| folder.join(file).exists()).unwrap();
        fs::write(folder.join(file), text).unwrap();
    };
    write("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    write("memory.max_usage_in_bytes", "123\n");
    write("pids.events", "max 3\n");
    write("cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 70\n");
    write("cpuacct.usage", "1500000000\n");
    assert_eq!(group.hits(), LimitHitCounts { memory: 2, processes: 3, cpu_throttled: 4 });
    assert_eq!(
        group.usage(),
        ResourceUsage { peak_memory: Some(123), cpu: Some(Duration::from_millis(1500)) }
    );
    drop(group);
    for hierarchy in ["memory", "pids", "cpu,cpuacct"] {
        assert!(fake.groups(hierarchy).is_empty(), "{hierarchy}");
    }
}

#[test]
fn controllers_mounted_together_share_a_group() {
    let fake = FakeKernel::legacy();
    let cpuset: GroupFiles = &[("cpuset.cpus", "0-1\n"), ("cpuset.mems", "0\n")];
    let host = host(&fake, &[("cpuset,cpu,cpuacct,memory,pids", &[cpuset, MEMORY, PIDS, CPU])]);
    let group = ControlGroup::create_in(&host, &ALL).unwrap();
    assert_eq!((group.join().len(), group.folders().len()), (1, 1));
    // Or nobody could join it.
    assert_eq!((said(&group, "cpuset.cpus"), said(&group, "cpuset.mems")), ("0-1".into(), "0".into()));
}

#[test]
fn a_hierarchy_that_is_missing_is_named_and_nothing_is_left_of_the_others() {
    let fake = FakeKernel::legacy();
    let host = host(&fake, &[("memory", &[MEMORY]), ("pids", &[PIDS])]);
    let unavailable = ControlGroup::create_in(&host, &ALL).unwrap_err();
    let message = unavailable.to_string();
    assert!(message.contains("cgroup v1: no hierarchy with the cpu controller is mounted"), "{message}");
    assert!(
        message.contains("cgroup v2: ") && message.contains("no memory, pids, cpu controller"),
        "{message}"
    );
    assert!(!unavailable.cure().is_empty());
    assert!(fake.groups("memory").is_empty() && fake.groups("pids").is_empty());
    // What does not need it works.
    ControlGroup::create_in(&host, &GroupLimits { cpu_percent: None, ..ALL }).unwrap();
}

#[test]
fn a_later_failure_takes_the_first_hierarchies_back() {
    for denied in ["cpu", "pids"] {
        let fake = FakeKernel::legacy();
        let host = host(&fake, &[("memory", &[MEMORY]), ("pids", &[PIDS]), ("cpu", &[CPU])]);
        fake.odd.lock().unwrap().denied.insert(fake.root.join(denied));
        let message = ControlGroup::create_in(&host, &ALL).unwrap_err().to_string();
        assert!(message.contains(&format!("{denied}/skillsandbox-")), "{message}");
        assert!(message.contains("Permission denied"), "{message}");
        for hierarchy in ["memory", "pids", "cpu"] {
            assert!(fake.groups(hierarchy).is_empty(), "{hierarchy}");
        }
    }
}

#[test]
fn without_a_count_of_swap_nothing_is_swapped() {
    let fake = FakeKernel::legacy();
    fake.odd.lock().unwrap().absent.insert("memory.memsw.limit_in_bytes");
    let host = host(&fake, &[("memory", &[MEMORY])]);
    let group =
        ControlGroup::create_in(&host, &GroupLimits { memory: Some(1 << 20), ..GroupLimits::default() })
            .unwrap();
    assert_eq!(said(&group, "memory.swappiness"), "0");
}

#[test]
fn a_tighter_share_above_holds_as_well() {
    for (above, holds) in [("20000", true), ("50000", true)] {
        let fake = FakeKernel::legacy();
        let host = host(&fake, &[("cpu", &[CPU])]);
        fs::write(fake.root.join("cpu/cpu.cfs_quota_us"), above).unwrap();
        let group =
            ControlGroup::create_in(&host, &GroupLimits { cpu_percent: Some(50), ..GroupLimits::default() });
        assert_eq!(group.is_ok(), holds, "{above}");
    }
    // Refused for some other reason: nothing above it explains why.
    let fake = FakeKernel::legacy();
    let host = host(&fake, &[("cpu", &[CPU])]);
    fs::write(fake.root.join("cpu/cpu.cfs_quota_us"), "20000").unwrap();
    fs::write(fake.root.join("cpu/cpu.cfs_period_us"), "10000").unwrap();
    let message =
        ControlGroup::create_in(&host, &GroupLimits { cpu_percent: Some(50), ..GroupLimits::default() })
            .unwrap_err()
            .to_string();
    assert!(message.contains("cpu.cfs_quota_us: writing 50000: Invalid argument"), "{message}");
    assert!(fake.groups("cpu").is_empty());
}

#[test]
fn no_limit_is_no_group() {
    let fake = FakeKernel::legacy();
    let host = host(&fake, &[("memory", &[MEMORY])]);
    fs::remove_file(fake.root.join("unified/cgroup.procs")).unwrap();
    let message = ControlGroup::create_in(&host, &GroupLimits::default()).unwrap_err().to_string();
    assert!(message.contains("cgroup v1: no limit was asked for"), "{message}");
}
