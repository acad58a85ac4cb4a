//! Loaders and libraries outside the system's folders.

use super::world::World;
use crate::program::{NEEDED, RPATH, RUNPATH, elf_file};

fn library(world: &World, place: &str, dynamic: &[(u64, &str)]) {
    world.text(place, elf_file(None, dynamic));
}

#[test]
fn libraries_are_found_as_the_loader_finds_them() {
    let mut world = World::new();
    let far = world.at("~/far").display().to_string();
    world.script(
        "~/app/bin/tool",
        elf_file(
            None,
            &[
                (NEEDED, "liba.so"),
                (NEEDED, "libnone.so"),
                (RUNPATH, &format!("relative::$ORIGIN/../lib:{far}")),
            ],
        ),
    );
    library(&world, "~/app/lib/liba.so", &[(NEEDED, "libb.so"), (RUNPATH, "${ORIGIN}/deep")]);
    library(&world, "~/app/lib/deep/libb.so", &[(NEEDED, "libc-far.so")]);
    // A runpath counts for one file only, so this one is not looked for in ~/far.
    library(&world, "~/far/libc-far.so", &[]);
    world.on_path("~/app/bin");
    world.assert(
        "tool",
        "~/app/bin/tool",
        &["~/app/bin/tool", "~/app/lib/liba.so", "~/app/lib/deep/libb.so"],
        &["~/app/bin"],
    );
    // An rpath counts for the libraries' libraries too.
    world.script(
        "~/app/bin/tool",
        elf_file(None, &[(NEEDED, "liba.so"), (RPATH, &format!("$ORIGIN/../lib:{far}"))]),
    );
    library(&world, "~/app/lib/liba.so", &[(NEEDED, "libc-far.so")]);
    world.assert(
        "tool",
        "~/app/bin/tool",
        &["~/app/bin/tool", "~/app/lib/liba.so", "~/far/libc-far.so"],
        &["~/app/bin"],
    );
}

#[test]
fn a_loader_elsewhere_is_given() {
    let mut world = World::new();
    library(&world, "~/glibc/ld.so", &[]);
    world.script("~/bin/tool", elf_file(Some(world.at("~/glibc/ld.so").to_str().unwrap()), &[]));
    world.on_path("~/bin");
    world.assert("tool", "~/bin/tool", &["~/bin/tool", "~/glibc/ld.so"], &["~/bin"]);
}

#[test]
fn libraries_behind_links_come_with_a_folder_that_holds_nothing_else() {
    let mut world = World::new();
    world.script("~/app/tool", elf_file(None, &[(NEEDED, "liba.so.1"), (RUNPATH, "$ORIGIN/lib")]));
    library(&world, "~/app/lib/liba.so.1.2", &[]);
    world.link("~/app/lib/liba.so.1", "liba.so.1.2");
    world.on_path("~/app");
    world.assert("tool", "~/app/tool", &["~/app/tool", "~/app/lib"], &["~/app"]);
    for other in ["passwords.txt", "notes.social", "x.source", "key.so.txt", "a.so.1.pem"] {
        let other = world.text(&format!("~/app/lib/{other}"), "");
        world.assert("tool", "~/app/tool", &["~/app/tool", "~/app/lib/liba.so.1.2"], &["~/app"]);
        std::fs::remove_file(other).unwrap();
    }
}

#[test]
fn what_is_no_library_is_not_given_whatever_it_is_called() {
    let mut world = World::new();
    world.text("~/private/libkey.so", "-----BEGIN OPENSSH PRIVATE KEY-----");
    world.text("~/private/key", "secret");
    library(&world, "~/.ssh/libx.so", &[]);
    let key = world.at("~/private/key").display().to_string();
    let private = format!("{}:{}", world.at("~/private").display(), world.at("~/.ssh").display());
    let dynamic = [
        (NEEDED, "libkey.so"),
        (NEEDED, "key"),
        (NEEDED, key.as_str()),
        (NEEDED, "../private/key"),
        (NEEDED, "libx.so"),
        (RUNPATH, &private),
    ];
    world.script("~/bin/tool", elf_file(Some(&key), &dynamic));
    world.on_path("~/bin");
    world.assert("tool", "~/bin/tool", &["~/bin/tool"], &["~/bin"]);
}

#[test]
fn a_binary_of_the_skill_gets_nothing_outside_by_its_search_path() {
    let world = World::new();
    library(&world, "~/private/lib/libx.so", &[]);
    let lib = world.at("~/private/lib").display().to_string();
    let loader = world.at("~/private/lib/libx.so").display().to_string();
    for dynamic in [
        [(NEEDED, "libx.so"), (RUNPATH, lib.as_str())],
        [(NEEDED, "libx.so"), (RPATH, "$ORIGIN/../../people/ada/private/lib")],
    ] {
        world.script("@/tool", elf_file(Some(&loader), &dynamic));
        world.assert("./tool", "@/tool", &[], &[]);
    }
}

#[test]
fn rings_and_crowds_of_libraries_come_to_an_end() {
    let mut world = World::new();
    let names: Vec<String> = (0..400).map(|number| format!("lib{number}.so")).collect();
    let mut all: Vec<(u64, &str)> = names.iter().map(|name| (NEEDED, name.as_str())).collect();
    all.push((RPATH, "$ORIGIN"));
    for name in &names {
        library(&world, &format!("~/app/{name}"), &all[350..]);
    }
    world.script("~/app/tool", elf_file(None, &all));
    world.on_path("~/app");
    let found = world.find("tool").unwrap();
    world.laws(&found);
    assert!(found.needs.len() > 100);
}
