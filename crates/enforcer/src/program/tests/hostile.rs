//! A skill that wants to read more than it was granted, by what it puts into its own folder.

use super::world::World;
use crate::program::elf_file;

/// A home with things worth reading, and version managers.
fn world() -> World {
    let mut world = World::new();
    world.text("~/.ssh/id_ed25519", "secret");
    world.text("~/work/plans.txt", "secret");
    world.program("~/work/tool");
    world.script("~/work/deploy.sh", "#!/bin/sh\nTOKEN=secret\n");
    world.python("~/.pyenv/versions/3.11.7", "3.11");
    world.script("~/.pyenv/shims/python3", "#!/bin/sh\n");
    world.text("~/.pyenv/version", "3.11.7");
    world.on_path("~/.pyenv/shims");
    world
}

#[test]
fn a_link_leads_out_only_to_an_installation() {
    let world = world();
    for target in ["~/work/tool", "~/work/deploy.sh"] {
        world.link("@/run", world.at(target));
        let text = world.refusal("./run");
        assert!(
            text.contains("leads out of the skill's own folder")
                && text.contains("name that program as the command"),
            "{text}"
        );
        std::fs::remove_file(world.at("@/run")).unwrap();
        // By a folder that is a link, too.
        world.link("@/folder", world.at("~/work"));
        let text = world.refusal(format!("folder/{}", target.rsplit('/').next().unwrap()));
        assert!(text.contains("leads out of the skill's own folder"), "{text}");
        std::fs::remove_file(world.at("@/folder")).unwrap();
    }
    let prefix = "~/.pyenv/versions/3.11.7";
    for (link, target) in
        [("@/py", format!("{prefix}/bin/python3")), ("@/shim", "~/.pyenv/shims/python3".to_owned())]
    {
        world.link(link, world.at(&target));
        let found = world.find(world.at(link)).unwrap();
        world.laws(&found);
        assert_eq!(found.needs.iter().map(|need| need.path.clone()).collect::<Vec<_>>(), [world.at(prefix)]);
    }
}

#[test]
fn a_first_line_leads_out_only_to_an_installation() {
    let world = world();
    for target in ["~/work/tool", "~/work/deploy.sh"] {
        for line in [
            format!("#!{}\n", world.at(target).display()),
            format!("#!/usr/bin/env {}\n", world.at(target).display()),
        ] {
            world.script("@/run", &line);
            let text = world.refusal("./run");
            assert!(text.contains("leads out of the skill's own folder"), "{line}: {text}");
        }
        // Through a script of its own in between, and a link.
        world.script("@/inner", format!("#!{}\n", world.at(target).display()));
        world.script("@/outer", format!("#!{}\n", world.at("@/inner").display()));
        assert!(world.refusal("./outer").contains("leads out of the skill's own folder"));
    }
}

#[test]
fn marks_of_an_installation_in_the_skill_give_nothing() {
    let world = world();
    world.program("@/bin/python3");
    for mark in ["@/conda-meta/history", "@/lib/rustlib/x", "@/lib/python3.11/os.py"] {
        world.text(mark, "");
    }
    world.assert("bin/python3", "@/bin/python3", &[], &[]);
}

#[test]
fn a_library_folder_that_is_a_link_does_not_carry_the_target_along() {
    // conda-meta in the skill, the program outside by a link: judged where it really lies.
    let world = world();
    world.link("@/env/bin", world.at("~/work"));
    world.text("@/env/conda-meta/history", "");
    assert!(world.refusal("env/bin/tool").contains("leads out of the skill's own folder"));
}

#[test]
fn a_manager_in_the_skills_folder_is_not_asked() {
    let world = world();
    world.script("@/.pyenv/shims/python3", "#!/bin/sh\n");
    world.text("@/.pyenv/version", "../../../people/ada/work");
    world.assert(
        "@/.pyenv/shims/python3".replace('@', world.skill().to_str().unwrap()),
        "@/.pyenv/shims/python3",
        &[],
        &[],
    );
    // The user has rustup as well, but this is not it.
    world.program("~/.rustup/toolchains/stable/bin/cargo");
    world.text("~/.rustup/settings.toml", "default_toolchain = \"stable\"\n");
    world.program("@/rustup");
    world.link("@/cargo", "rustup");
    world.assert("./cargo", "@/cargo", &[], &[]);
}

#[test]
fn a_working_folder_that_holds_the_home_is_not_the_skills() {
    let mut world = world();
    for workdir in ["~", "people", ""] {
        world.workdir = Some(world.at(workdir));
        let prefix = "~/.pyenv/versions/3.11.7";
        world.assert("python3", &format!("{prefix}/bin/python3"), &[prefix], &[&format!("{prefix}/bin")]);
    }
}

#[test]
fn a_skill_reached_by_a_link_is_still_the_skill() {
    let mut world = world();
    world.workdir = Some(world.link("alias", world.skill()));
    world.script("@/run", elf_file(Some(world.at("~/work/tool").to_str().unwrap()), &[]));
    world.assert("./run", "@/run", &[], &[]);
    world.link("@/out", world.at("~/work/tool"));
    assert!(world.refusal("./out").contains("leads out of the skill's own folder"));
}

#[test]
fn a_name_with_dots_is_a_path_like_any_other() {
    let world = world();
    // The file alone: what the manifest names in the open is shown in the plan, and its neighbours stay out.
    world.assert("../../people/ada/work/tool", "~/work/tool", &["~/work/tool"], &["~/work"]);
    world.assert("./../weather/../../people/ada/work/tool", "~/work/tool", &["~/work/tool"], &["~/work"]);
}

#[test]
fn huge_and_broken_files_are_read_within_bounds() {
    let world = world();
    let file = std::fs::File::create(world.at("@/huge")).unwrap();
    // Sparse: 1 TiB of NULs.
    file.set_len(1 << 40).unwrap();
    drop(file);
    std::process::Command::new("chmod").arg("755").arg(world.at("@/huge")).status().unwrap();
    assert!(world.refusal("./huge").contains("neither a program nor a script"));
    for (at, value) in [
        (32, u64::MAX),
        (54, u64::MAX),
        (56, u64::MAX),
        (64 + 56 * 2 + 8, u64::MAX),
        (64 + 56 * 2 + 32, u64::MAX),
    ] {
        let mut bytes = elf_file(Some("/lib64/ld-linux-x86-64.so.2"), &[(1, "libx.so")]);
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        world.script("~/bin/broken", bytes);
        world.assert(world.at("~/bin/broken"), "~/bin/broken", &["~/bin/broken"], &["~/bin"]);
    }
}

#[test]
fn two_skills_whose_names_look_like_an_installation_do_not_open_their_shelf() {
    // Skills are kept side by side under the names they gave themselves.
    let mut world = world();
    world.text("~/.skills/other/notes.txt", "of another skill");
    for (mark, program) in
        [("conda-meta/history", "bin/x"), ("lib/ruby/x", "bin/ruby"), ("lib/python3.11/os.py", "bin/python3")]
    {
        let program = format!("~/.skills/{program}");
        world.program(&program);
        world.text(&format!("~/.skills/{mark}"), "");
        for workdir in [mark.split('/').next().unwrap(), "bin"] {
            world.workdir = Some(world.at(&format!("~/.skills/{workdir}")));
            let found = world.find(world.at(&program)).unwrap();
            world.laws(&found);
            assert!(
                found.needs.iter().all(|need| !world.at("~/.skills/other").starts_with(&need.path)),
                "{found:?}"
            );
        }
        std::fs::remove_dir_all(world.at("~/.skills/bin")).unwrap();
    }
}

#[test]
fn a_skill_in_a_folder_for_many_is_still_the_skill() {
    for place in ["~/.config", "~/Documents", "~/.local/share"] {
        let mut world = world();
        world.folder(place);
        world.workdir = Some(world.at(place));
        world.link(&format!("{place}/run"), world.at("~/work/tool"));
        assert!(world.refusal("./run").contains("leads out of the skill's own folder"), "{place}");
    }
}

#[test]
fn names_with_escape_sequences_do_not_reach_a_terminal() {
    let world = world();
    for name in ["\u{1b}[2Jx", "a\nb", "\u{202e}cod.exe", "\u{9b}31m"] {
        world.text(&format!("@/{name}"), "");
        world.script("@/run", format!("#!{}\n", world.at("@").join(name).display()));
        for asked in [
            format!("./{name}"),
            format!("./{name}/x"),
            format!("./no{name}"),
            name.to_owned(),
            "./run".to_owned(),
        ] {
            let text = world.refusal(&asked);
            let clean = |letter: char| !letter.is_control() && letter != '\u{202e}';
            assert!(text.chars().all(clean), "{text:?}");
        }
    }
}
