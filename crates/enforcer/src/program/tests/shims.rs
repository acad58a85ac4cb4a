//! Stand-ins of version managers.

use super::world::World;

fn pyenv() -> World {
    let mut world = World::new();
    world.script("~/.pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec python3\n");
    world.script("~/.pyenv/shims/pip3.9", "#!/usr/bin/env bash\n");
    for version in ["3.9.18", "3.10.2", "3.11.2", "3.11.7", "3.11.10"] {
        world.python(&format!("~/.pyenv/versions/{version}"), version.rsplit_once('.').unwrap().0);
    }
    world.program("~/.pyenv/versions/3.9.18/bin/pip3.9");
    world.text("~/.pyenv/version", "3.11.7\n");
    world.on_path("~/.pyenv/shims");
    world
}

#[track_caller]
fn assert_version(world: &World, version: &str) {
    let prefix = format!("~/.pyenv/versions/{version}");
    world.assert("python3", &format!("{prefix}/bin/python3"), &[&prefix], &[&format!("{prefix}/bin")]);
}

#[test]
fn pyenv_chooses_by_variable_then_file_then_its_own() {
    let mut world = pyenv();
    assert_version(&world, "3.11.7");
    world.text("skills/.python-version", "3.10.2\n");
    assert_version(&world, "3.10.2");
    world.text("@/.python-version", "# mine\n\npython-3.9.18\n3.10.2\n");
    assert_version(&world, "3.9.18");
    world.set("PYENV_VERSION", "3.11.2:3.10.2");
    assert_version(&world, "3.11.2");
    // By prefix, the newest: 3.11.10, not 3.11.7.
    world.set("PYENV_VERSION", "3.11");
    assert_version(&world, "3.11.10");
    world.set("PYENV_VERSION", "none:3");
    assert_version(&world, "3.11.10");
}

#[test]
fn pyenvs_system_is_what_stands_behind_it_on_the_path() {
    let mut world = pyenv();
    world.set("PYENV_VERSION", "system");
    world.program("~/bin/python3");
    world.on_path("~/.pyenv/shims");
    world.on_path("~/bin");
    world.assert("python3", "~/bin/python3", &["~/bin/python3"], &["~/bin"]);
    std::fs::remove_file(world.at("~/.pyenv/version")).unwrap();
    world.variables.clear();
    world.assert("python3", "~/bin/python3", &["~/bin/python3"], &["~/bin"]);
}

#[test]
fn a_version_without_the_program_says_which_has_it() {
    let world = pyenv();
    let text = world.refusal("pip3.9");
    assert!(
        text.contains("pyenv answers for \"pip3.9\"")
            && text.contains("\"3.11.7\"")
            && text.contains("PYENV_VERSION to one of 3.9.18"),
        "{text}"
    );
}

#[test]
fn settings_of_a_skill_choose_names_and_never_paths() {
    for name in
        ["../../../../etc", "..", ".", "/", "3.11.7/../..", "a/b", "-x", "../shims", "../versions/3.9.18"]
    {
        let world = pyenv();
        world.text("@/.python-version", format!("{name}\n"));
        let text = world.refusal("python3");
        assert!(text.contains("a name that cannot be a version"), "{name}: {text}");
    }
}

#[test]
fn settings_that_are_links_pipes_or_huge_are_not_read() {
    // The first line of a secret would come back in a message.
    let world = pyenv();
    world.text("~/.aws/credentials", "SECRETKEY\n");
    world.link("@/.python-version", world.at("~/.aws/credentials"));
    assert_version(&world, "3.11.7");

    let world = pyenv();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.at("@/.python-version"),
        rustix::fs::FileType::Fifo,
        0o644.into(),
        0,
    )
    .unwrap();
    assert_version(&world, "3.11.7");

    let world = pyenv();
    world.text("@/.python-version", "3.9.18\n".repeat(20_000));
    assert_version(&world, "3.11.7");
}

#[test]
fn a_version_that_is_a_link_elsewhere_gives_what_lies_there() {
    let world = pyenv();
    world.program("~/work/private/bin/python3");
    world.text("~/work/private/notes", "");
    world.link("~/.pyenv/versions/odd", world.at("~/work/private"));
    world.text("@/.python-version", "odd\n");
    world.assert(
        "python3",
        "~/work/private/bin/python3",
        &["~/work/private/bin/python3"],
        &["~/work/private/bin"],
    );
}

#[test]
fn rbenv_nodenv_and_goenv_work_alike() {
    for (root, file, name, text) in [
        ("~/.rbenv", ".ruby-version", "ruby", "ruby-3.1.0"),
        ("~/.nodenv", ".node-version", "node", "v3.1.0"),
        ("~/.goenv", ".go-version", "go", "3.1.0"),
    ] {
        let mut world = World::new();
        world.script(&format!("{root}/shims/{name}"), "#!/bin/sh\n");
        world.program(&format!("{root}/versions/3.1.0/bin/{name}"));
        world.text(&format!("@/{file}"), text);
        world.on_path(&format!("{root}/shims"));
        let prefix = format!("{root}/versions/3.1.0");
        world.assert(name, &format!("{prefix}/bin/{name}"), &[&prefix], &[&format!("{prefix}/bin")]);
    }
}

fn rustup() -> World {
    let mut world = World::new();
    world.program("~/.cargo/bin/rustup");
    world.link("~/.cargo/bin/cargo", "rustup");
    std::fs::hard_link(world.at("~/.cargo/bin/rustup"), world.at("~/.cargo/bin/rustc")).unwrap();
    world.program("~/.cargo/bin/cargo-deny");
    let arch = std::env::consts::ARCH;
    for toolchain in [
        format!("stable-{arch}-unknown-linux-gnu"),
        format!("nightly-{arch}-unknown-linux-gnu"),
        "mine".to_owned(),
    ] {
        for name in ["cargo", "rustc"] {
            world.program(&format!("~/.rustup/toolchains/{toolchain}/bin/{name}"));
        }
    }
    let text = format!(
        "default_toolchain = \"stable-{arch}-unknown-linux-gnu\"\n\n[overrides]\n\"{}\" = \"mine\"\n",
        world.at("own").display()
    );
    world.text("~/.rustup/settings.toml", text);
    world.on_path("~/.cargo/bin");
    world
}

#[track_caller]
fn assert_toolchain(world: &World, toolchain: &str) {
    for name in ["cargo", "rustc"] {
        let arch = std::env::consts::ARCH;
        let folder = if toolchain == "mine" {
            "mine".to_owned()
        } else {
            format!("{toolchain}-{arch}-unknown-linux-gnu")
        };
        let prefix = format!("~/.rustup/toolchains/{folder}");
        world.assert(name, &format!("{prefix}/bin/{name}"), &[&prefix], &[&format!("{prefix}/bin")]);
    }
}

#[test]
fn rustup_chooses_in_its_own_order() {
    let mut world = rustup();
    assert_toolchain(&world, "stable");
    world.text("@/rust-toolchain.toml", "[toolchain]\nchannel = \"nightly\"\ncomponents = [\"x\"]\n");
    assert_toolchain(&world, "nightly");
    world.text("@/rust-toolchain", "mine\n");
    assert_toolchain(&world, "mine");
    world.set("RUSTUP_TOOLCHAIN", "nightly");
    assert_toolchain(&world, "nightly");
    world.variables.clear();
    world.workdir = Some(world.folder("own/project"));
    assert_toolchain(&world, "mine");
    // What cargo itself installed, and rustup itself, stand for themselves.
    world.assert("cargo-deny", "~/.cargo/bin/cargo-deny", &["~/.cargo/bin/cargo-deny"], &["~/.cargo/bin"]);
    world.assert("rustup", "~/.cargo/bin/rustup", &["~/.cargo/bin/rustup"], &["~/.cargo/bin"]);
}

#[test]
fn a_toolchain_file_of_a_skill_names_no_folder() {
    let world = rustup();
    world.text("@/evil/bin/cargo", "");
    for text in ["[toolchain]\npath = \"evil\"\n", "[toolchain]\npath = \"/\"\n"] {
        world.text("@/rust-toolchain.toml", text);
        assert_toolchain(&world, "stable");
    }
    for text in ["../../..", "[toolchain]\nchannel = \"../../../evil\"\n", "[toolchain]\nchannel = \"/\"\n"] {
        world.text("@/rust-toolchain", text);
        assert!(world.refusal("cargo").contains("a name that cannot be a version"), "{text}");
    }
    world.text("@/rust-toolchain", "1.2.3");
    assert!(world.refusal("cargo").contains("rustup toolchain install 1.2.3"));
}

#[test]
fn asdf_reads_tool_versions() {
    let mut world = World::new();
    world.script("~/.asdf/shims/node", "#!/usr/bin/env bash\n# asdf-plugin: nodejs 20.1.0\n");
    for version in ["18.0.0", "20.1.0"] {
        world.program(&format!("~/.asdf/installs/nodejs/{version}/bin/node"));
    }
    world.on_path("~/.asdf/shims");
    assert!(world.refusal("node").contains("no version of nodejs is set"));
    world.text("~/.tool-versions", "python 3.1\nnodejs 18.0.0 # x\n");
    let assert = |world: &World, version: &str| {
        let prefix = format!("~/.asdf/installs/nodejs/{version}");
        world.assert("node", &format!("{prefix}/bin/node"), &[&prefix], &[&format!("{prefix}/bin")]);
    };
    assert(&world, "18.0.0");
    world.text("@/.tool-versions", "nodejs 9.9.9 20.1.0\n");
    assert(&world, "20.1.0");
    world.set("ASDF_NODEJS_VERSION", "18.0.0");
    assert(&world, "18.0.0");
    world.variables.clear();
    world.text("@/.tool-versions", "nodejs ../../../../../etc\n");
    assert!(world.refusal("node").contains("a name that cannot be a version"));
    world.text("@/.tool-versions", "nodejs path:/etc\n");
    assert!(world.refusal("node").contains("a name that cannot be a version"));
}

#[test]
fn mise_reads_its_toml() {
    let mut world = World::new();
    world.program("~/.local/bin/mise");
    world.link("~/.local/share/mise/shims/python3", world.at("~/.local/bin/mise"));
    world.python("~/.local/share/mise/installs/python/3.11.7", "3.11");
    world.link("~/.local/share/mise/installs/python/3.11", "./3.11.7");
    world.on_path("~/.local/share/mise/shims");
    let prefix = "~/.local/share/mise/installs/python/3.11.7";
    for (file, text) in [
        ("~/.config/mise/config.toml", "[tools]\npython = \"3.11\"\n"),
        ("@/mise.toml", "[env]\npython = \"x\"\n[tools]\npython = [\"3.11.7\", \"3.9\"]\n"),
        ("@/.tool-versions", "python 3.11\n"),
    ] {
        world.text(file, text);
        // The link `3.11` cannot come along without its neighbours, so the real folder is meant.
        world.assert("python3", &format!("{prefix}/bin/python3"), &[prefix], &[&format!("{prefix}/bin")]);
        std::fs::remove_file(world.at(file)).unwrap();
    }
}

#[test]
fn volta_reads_package_json_and_its_own_files() {
    let mut world = World::new();
    world.program("~/.volta/bin/volta-shim");
    for name in ["node", "npm", "tsc"] {
        world.link(&format!("~/.volta/bin/{name}"), "volta-shim");
    }
    for version in ["18.0.0", "20.1.0"] {
        world.program(&format!("~/.volta/tools/image/node/{version}/bin/node"));
        world.program(&format!("~/.volta/tools/image/node/{version}/bin/npm"));
    }
    world
        .text("~/.volta/tools/user/platform.json", r#"{"node":{"runtime":"18.0.0","npm":null},"yarn":null}"#);
    world.text("~/.volta/tools/user/bins/tsc.json", r#"{"name":"tsc","package":"typescript","version":"5"}"#);
    world.script("~/.volta/tools/image/packages/typescript/bin/tsc", "#!/usr/bin/env node\n");
    world.on_path("~/.volta/bin");
    let image = "~/.volta/tools/image";
    let assert = |world: &World, name: &str, version: &str| {
        let prefix = format!("{image}/node/{version}");
        world.assert(name, &format!("{prefix}/bin/{name}"), &[&prefix], &[&format!("{prefix}/bin")]);
    };
    assert(&world, "node", "18.0.0");
    assert(&world, "npm", "18.0.0");
    world.text("@/package.json", r#"{"volta":{"node":"20.1.0"}}"#);
    assert(&world, "node", "20.1.0");
    world.assert(
        "tsc",
        &format!("{image}/packages/typescript/bin/tsc"),
        &[&format!("{image}/packages/typescript"), &format!("{image}/node/20.1.0")],
        &[&format!("{image}/node/20.1.0/bin"), &format!("{image}/packages/typescript/bin")],
    );
    world.text("@/package.json", r#"{"volta":{"node":"../../../../.ssh"}}"#);
    assert!(world.refusal("node").contains("a name that cannot be a version"));
    world.text("@/package.json", "[".repeat(10_000));
    assert(&world, "node", "18.0.0");
}

#[test]
fn a_users_own_settings_may_be_links_as_from_a_folder_of_dotfiles() {
    let world = pyenv();
    world.text("~/dotfiles/pyenv-version", "3.9.18");
    std::fs::remove_file(world.at("~/.pyenv/version")).unwrap();
    world.link("~/.pyenv/version", world.at("~/dotfiles/pyenv-version"));
    assert_version(&world, "3.9.18");
}
