//! Scripts and their interpreters.

use super::world::World;

#[test]
fn an_interpreter_of_the_system_needs_nothing() {
    let world = World::new();
    for line in ["#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S sh -e"] {
        world.script("@/run", format!("{line}\n"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = world.find_by("./run", &path).unwrap();
        assert_eq!((found.path, found.needs), (world.at("@/run"), vec![]), "{line}");
    }
}

#[test]
fn an_interpreter_elsewhere_brings_its_installation() {
    let mut world = World::new();
    let python = world.python("~/.pyenv/versions/3.11.7", "3.11");
    world.script("~/.pyenv/shims/python3", "#!/usr/bin/env bash\n");
    world.text("~/.pyenv/version", "3.11.7");
    world.on_path("~/.pyenv/shims");
    let prefix = "~/.pyenv/versions/3.11.7";
    let bin = "~/.pyenv/versions/3.11.7/bin";

    world.script("@/by_env", "#!/usr/bin/env python3\n");
    world.assert("./by_env", "@/by_env", &[prefix], &[bin]);
    world.script("@/by_path", format!("#!{}\n", python.display()));
    world.assert("./by_path", "@/by_path", &[prefix], &[bin]);
    world.script("@/by_link", format!("#!{}/bin/python3\n", world.at(prefix).display()));
    world.assert("./by_link", "@/by_link", &[prefix], &[bin]);
    // A script beside its interpreter, as pip installs them.
    world.script(&format!("{prefix}/bin/black"), format!("#!{}\n", python.display()));
    world.path.insert(0, world.at(bin));
    world.assert("black", &format!("{bin}/black"), &[prefix], &[bin]);

    // The stand-in itself does not exist inside.
    world.script("@/by_shim", format!("#!{}\n", world.at("~/.pyenv/shims/python3").display()));
    let text = world.refusal("./by_shim");
    assert!(text.contains("stands in for") && text.contains("#!/usr/bin/env python3"), "{text}");
}

#[test]
fn a_script_elsewhere_is_given_with_its_interpreter() {
    let mut world = World::new();
    world.program("~/tools/lua");
    world.script("~/bin/report", format!("#!{}\n", world.at("~/tools/lua").display()));
    world.on_path("~/bin");
    world.assert("report", "~/bin/report", &["~/bin/report", "~/tools/lua"], &["~/tools", "~/bin"]);
}

#[test]
fn an_interpreter_behind_a_link_that_cannot_come_along_is_refused_with_the_cure() {
    let world = World::new();
    world.python("~/py/3.11", "3.11");
    world.link("~/py/current", "3.11");
    world.script("@/run", format!("#!{}/bin/python3\n", world.at("~/py/current").display()));
    let text = world.refusal("./run");
    assert!(
        text.contains("py/current/bin/python3, which stands in for")
            && text.contains("name the interpreter as the command"),
        "{text}"
    );
}

#[test]
fn scripts_may_be_run_by_scripts_but_not_for_ever() {
    let mut world = World::new();
    world.program("~/bin/level0");
    for level in 1..=6 {
        world.script(
            &format!("~/bin/level{level}"),
            format!("#!{}\n", world.at(&format!("~/bin/level{}", level - 1)).display()),
        );
    }
    world.on_path("~/bin");
    let needs: Vec<String> = (0..=4).map(|level| format!("~/bin/level{level}")).collect();
    let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
    world.assert("level4", "~/bin/level4", &needs, &["~/bin"]);
    assert!(world.refusal("level5").contains("too many links or scripts"));
    world.script("~/bin/self", format!("#!{}\n", world.at("~/bin/self").display()));
    assert!(world.refusal("self").contains("too many links or scripts"));
    // env that runs itself by name.
    world.script("~/bin/ring", "#!/usr/bin/env ring\n");
    assert!(world.refusal("ring").contains("too many links or scripts"));
}

#[test]
fn first_lines_that_cannot_work_are_explained() {
    let world = World::new();
    for (text, wanted) in [
        ("#!/bin/sh\r\necho\r\n", "Windows line ends"),
        ("#!\n", "names no interpreter"),
        ("#!/no/such/interpreter\n", "its first line names \"/no/such/interpreter\": there is no"),
        ("#!/usr/bin/env no-such-interpreter\n", "its first line names \"no-such-interpreter\": no program"),
        ("#!/usr/bin/env python3 -u\n", "env -S"),
        ("#!/\n", "is a directory"),
        ("#!/etc/passwd\n", "may not be executed"),
    ] {
        world.script("@/run", text);
        let message = world.refusal("./run");
        assert!(message.contains(wanted), "{text:?}: {message}");
    }
}

#[test]
fn a_folder_before_the_path_does_not_change_which_interpreter_env_finds() {
    // The caller's PATH has ~/one first; a python3 beside the script must not come before it inside.
    let mut world = World::new();
    world.program("~/one/python3");
    world.script("~/.asdf/installs/tool/1/bin/tool", "#!/usr/bin/env python3\n");
    world.program("~/.asdf/installs/tool/1/bin/python3");
    world.on_path("~/one");
    world.on_path("~/.asdf/installs/tool/1/bin");
    let prefix = "~/.asdf/installs/tool/1";
    world.assert(
        "tool",
        &format!("{prefix}/bin/tool"),
        &[prefix, "~/one/python3"],
        &["~/one", &format!("{prefix}/bin")],
    );
    // And where the caller's is the system's, the script's folder cannot go first at all.
    world.path[0] = "/usr/bin".into();
    world.script("~/.asdf/installs/tool/1/bin/tool", "#!/usr/bin/env sh\n");
    world.program("~/.asdf/installs/tool/1/bin/sh");
    world.assert("tool", &format!("{prefix}/bin/tool"), &[prefix], &[]);
}
