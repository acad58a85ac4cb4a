//! Where the time of a start goes. It asserts nothing; run it alone, optimised, on a quiet machine:
//! `cargo test --release --package skillsandbox-enforcer --lib where_the_time_goes -- --ignored --nocapture`

use std::time::{Duration, Instant};

use crate::child::Prepared;
use crate::layers::landlock::LandlockLayer;
use crate::layers::mounts::MountsLayer;
use crate::layers::namespaces::AT_CLONE;
use crate::layers::network;
use crate::plan::{Command, Plan};
use crate::prepare::grants::{FolderCreation, Grants};
use crate::prepare::{LocatedPlan, prepare};
use crate::sys::{clone, exec};

const ROUNDS: usize = 200;

/// The median time of making a process, letting it do something, and waiting for its end.
fn median(namespaces: i32, main: impl Fn(&Prepared) -> i32) -> Duration {
    let plan = Plan::builder().build().unwrap();
    let command = Command::new("/bin/true");
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let (prepared, _outside) = prepare(&plan, &command).unwrap();
            let start = Instant::now();
            let child = clone::child(namespaces, || main(&prepared)).unwrap();
            prepared.namespaces.map_from_outside(child.pid).ok();
            child.reap();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
#[ignore = "prints figures; it asserts nothing"]
fn where_the_time_goes() {
    let plan = Plan::builder().build().unwrap();
    let command = Command::new("/bin/true");
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let _made = prepare(&plan, &command).unwrap();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("{:8.3} ms  everything before the child", times[times.len() / 2].as_secs_f64() * 1e3);

    let part = |name: &str, work: &dyn Fn()| {
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                work();
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        println!("{:8.3} ms    of it: {name}", times[times.len() / 2].as_secs_f64() * 1e3);
    };
    let located = LocatedPlan::new(&plan, &command, FolderCreation::Make).unwrap();
    part("the program and the grants", &|| drop(LocatedPlan::new(&plan, &command, FolderCreation::Make)));
    part("the grants", &|| drop(Grants::resolve(&plan, &[], FolderCreation::Make)));
    part("rules of Landlock", &|| drop(LandlockLayer::prepare(&plan, &located.grants, None, false)));
    part("the layout of the root", &|| {
        drop(MountsLayer::prepare(&plan, &located, super::KernelSettings::default(), false, false));
    });

    let mut last = Duration::ZERO;
    let mut row = |name: &str, time: Duration| {
        let more = time.saturating_sub(last);
        println!("{:8.3} ms  {:+8.3}  {name}", time.as_secs_f64() * 1e3, more.as_secs_f64() * 1e3);
        last = time;
    };
    row("a process that ends at once", median(0, |_| 0));
    row("in a user namespace", median(libc::CLONE_NEWUSER, |_| 0));
    row("and all others but the network", median(AT_CLONE & !libc::CLONE_NEWNET, |_| 0));
    row("and the network", median(AT_CLONE, |_| 0));
    let namespaces = |prepared: &Prepared| i32::from(prepared.namespaces.apply().is_err());
    row("maps, host name, keyring", median(AT_CLONE, namespaces));
    let mounts = |prepared: &Prepared| namespaces(prepared) | i32::from(prepared.mounts.apply().is_err());
    row("the new root", median(AT_CLONE, mounts));
    let network = |prepared: &Prepared| mounts(prepared) | i32::from(network::switch_on().is_err());
    row("loopback", median(AT_CLONE, network));
    let executed = |prepared: &Prepared| {
        let _ = network(prepared);
        exec::execute(&prepared.program, &prepared.arguments, &prepared.environment).0
    };
    row("and executing /bin/true", median(AT_CLONE, executed));
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            plan.spawn(&command).unwrap().wait().unwrap();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("{:8.3} ms  a whole run", times[times.len() / 2].as_secs_f64() * 1e3);
}
