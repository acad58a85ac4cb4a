//! What is given with a program, by where it lies and what stands beside it.

use super::world::World;

/// Program on the PATH, what is needed of it.
const PLACES: &[(&str, &str)] = &[
    ("~/.nvm/versions/node/v20.1.0/bin/node", "~/.nvm/versions/node/v20.1.0"),
    ("~/.local/share/fnm/node-versions/v20/installation/bin/node", "~/.local/share/fnm/node-versions/v20"),
    ("~/.rustup/toolchains/stable-x/bin/cargo", "~/.rustup/toolchains/stable-x"),
    ("~/.asdf/installs/python/3.11.7/bin/python3", "~/.asdf/installs/python/3.11.7"),
    ("~/.asdf/installs/golang/1.22/go/bin/go", "~/.asdf/installs/golang/1.22"),
    ("~/.local/share/mise/installs/node/20/bin/node", "~/.local/share/mise/installs/node/20"),
    ("~/.local/share/uv/python/cpython-3.12/bin/python3.12", "~/.local/share/uv/python/cpython-3.12"),
    ("~/.local/share/uv/tools/ruff/bin/ruff", "~/.local/share/uv/tools/ruff"),
    ("~/.local/share/pipx/venvs/black/bin/black", "~/.local/share/pipx/venvs/black"),
    ("~/.sdkman/candidates/java/21/bin/java", "~/.sdkman/candidates/java/21"),
    ("~/.volta/tools/image/node/20.1.0/bin/node", "~/.volta/tools/image/node/20.1.0"),
    // No rule: the file itself, and nothing of what is beside it.
    ("~/.cargo/bin/ripgrep", "~/.cargo/bin/ripgrep"),
    ("~/.bun/bin/bun", "~/.bun/bin/bun"),
    ("~/.deno/bin/deno", "~/.deno/bin/deno"),
    ("~/.local/bin/tool", "~/.local/bin/tool"),
    ("~/bin/tool", "~/bin/tool"),
    ("~/go/bin/gopls", "~/go/bin/gopls"),
    ("~/work/private/bin/tool", "~/work/private/bin/tool"),
    ("~/tool", "~/tool"),
    ("srv/things/tool", "srv/things/tool"),
    // In a manager's folder, but not in an installation.
    ("~/.nvm/versions/node/stray", "~/.nvm/versions/node/stray"),
    ("~/.pyenv/versions/stray", "~/.pyenv/versions/stray"),
    ("~/.asdf/installs/python/stray", "~/.asdf/installs/python/stray"),
];

#[test]
fn places_say_what_belongs_to_a_program() {
    for (program, need) in PLACES {
        let mut world = World::new();
        world.program(program);
        let (folder, name) = program.rsplit_once('/').unwrap();
        world.on_path(folder);
        world.assert(name, program, &[need], &[folder]);
    }
}

#[test]
fn neighbours_say_what_belongs_to_a_program() {
    let table: &[(&str, &[&str], &str)] = &[
        ("~/miniforge3/bin/python3", &["~/miniforge3/conda-meta/history"], "~/miniforge3"),
        (
            "~/miniforge3/envs/x/bin/tool",
            &["~/miniforge3/conda-meta/h", "~/miniforge3/envs/x/conda-meta/h"],
            "~/miniforge3/envs/x",
        ),
        ("~/rust/stage2/bin/rustc", &["~/rust/stage2/lib/rustlib/x"], "~/rust/stage2"),
        ("~/sdk/go1.22/bin/go", &["~/sdk/go1.22/src/runtime/x", "~/sdk/go1.22/pkg/tool/x"], "~/sdk/go1.22"),
        ("~/jdk/bin/java", &["~/jdk/lib/modules"], "~/jdk"),
        ("~/node-v20/bin/node", &["~/node-v20/lib/node_modules/npm/x"], "~/node-v20"),
        ("~/ruby/bin/ruby", &["~/ruby/lib/ruby/x"], "~/ruby"),
        ("~/py/bin/python3.11", &["~/py/lib/python3.11/os.py"], "~/py"),
        // Not quite.
        ("~/rust/stage2/bin/rustc", &["~/rust/stage2/lib/x"], "~/rust/stage2/bin/rustc"),
        ("~/py/bin/python3.11", &["~/py/lib/python3.11/x"], "~/py/bin/python3.11"),
        ("~/py/tools/python3.11", &["~/py/lib/python3.11/os.py"], "~/py/tools/python3.11"),
    ];
    for (program, beside, need) in table {
        let mut world = World::new();
        world.program(program);
        for file in *beside {
            world.text(file, "");
        }
        let (folder, name) = program.rsplit_once('/').unwrap();
        world.on_path(folder);
        world.assert(name, program, &[need], &[folder]);
    }
}

#[test]
fn an_installation_in_a_home_or_beside_secrets_is_not_given() {
    for (prefix, secret) in [
        ("~", "~/.ssh/id"),
        ("~/.local", "~/x"),
        ("people", "x"),
        ("~/lab", "~/lab/.aws/credentials"),
        ("~/lab", "~/lab/.env"),
    ] {
        for marker in ["conda-meta/history", "lib/rustlib/x"] {
            let mut world = World::new();
            let program = format!("{prefix}/bin/rustc");
            world.program(&program);
            world.text(&format!("{prefix}/{marker}"), "");
            world.text(secret, "");
            world.on_path(&format!("{prefix}/bin"));
            world.assert("rustc", &program, &[&program], &[&format!("{prefix}/bin")]);
        }
    }
}

#[test]
fn a_python_in_dot_local_gets_its_library_and_nothing_beside_it() {
    let mut world = World::new();
    world.python("~/.local", "3.11");
    world.text("~/.local/share/keyrings/login.keyring", "secret");
    world.on_path("~/.local/bin");
    world.assert(
        "python3",
        "~/.local/bin/python3.11",
        &["~/.local/bin/python3.11", "~/.local/lib/python3.11"],
        &["~/.local/bin"],
    );
}

#[test]
fn variables_move_a_managers_folder_but_not_to_where_all_is_given() {
    let mut world = World::new();
    world.program("elsewhere/versions/3.1/bin/python3");
    world.on_path("elsewhere/versions/3.1/bin");
    world.assert(
        "python3",
        "elsewhere/versions/3.1/bin/python3",
        &["elsewhere/versions/3.1/bin/python3"],
        &["elsewhere/versions/3.1/bin"],
    );
    world.set("PYENV_ROOT", world.at("elsewhere"));
    world.assert(
        "python3",
        "elsewhere/versions/3.1/bin/python3",
        &["elsewhere/versions/3.1"],
        &["elsewhere/versions/3.1/bin"],
    );
    world.set("PYENV_ROOT", "elsewhere");
    assert_eq!(world.find("python3").unwrap().needs[0].path, world.at("elsewhere/versions/3.1/bin/python3"));

    // A `versions` that is a link to the folder of homes makes a home an installation, by its place.
    let mut world = World::new();
    world.program("~/bin/python3");
    world.link("elsewhere/versions", world.at("people"));
    world.set("PYENV_ROOT", world.at("elsewhere"));
    world.on_path("elsewhere/versions/ada/bin");
    world.assert("python3", "~/bin/python3", &["~/bin/python3"], &["~/bin"]);
}

#[test]
fn homebrew_gives_programs_and_not_the_data_of_services() {
    let mut world = World::new();
    world.program("brew/Cellar/jq/1.7/bin/jq");
    world.link("brew/bin/jq", "../Cellar/jq/1.7/bin/jq");
    world.folder("brew/opt");
    world.text("brew/var/postgres/data", "");
    world.text("brew/etc/secrets", "");
    world.set("HOMEBREW_PREFIX", world.at("brew"));
    world.on_path("brew/bin");
    world.assert("jq", "brew/bin/jq", &["brew/bin", "brew/Cellar", "brew/opt"], &["brew/bin"]);
}

#[test]
fn links_are_entered_where_the_rest_of_the_way_is_given() {
    let mut world = World::new();
    world.program("~/.nvm/versions/node/v20/bin/node");
    world.text("~/.nvm/versions/node/v20/lib/node_modules/npm/package.json", "{}");
    world.script("~/.nvm/versions/node/v20/lib/node_modules/npm/bin/npm-cli.js", "#!/usr/bin/env node\n");
    world.link("~/.nvm/versions/node/v20/bin/npm", "../lib/node_modules/npm/bin/npm-cli.js");
    world.link("~/.local/bin/npm", world.at("~/.nvm/versions/node/v20/bin/npm"));
    world.on_path("~/.local/bin");
    // The link in ~/.local/bin cannot come along, the one in the installation can; node stands beside it.
    let bin = "~/.nvm/versions/node/v20/bin";
    world.assert("npm", &format!("{bin}/npm"), &["~/.nvm/versions/node/v20"], &[bin]);

    // A link in the installation that leaves it and comes back by a link beside it, which cannot come along.
    world.link("~/.nvm/versions/node/current", "v20");
    world.link("~/.nvm/versions/node/v20/bin/round", "../../current/bin/node");
    world.path = vec![world.at(bin)];
    world.assert("round", &format!("{bin}/node"), &["~/.nvm/versions/node/v20"], &[bin]);

    // A folder that is a link, as those of fnm and SDKMAN.
    world.link("run/fnm/123", world.at("~/.nvm/versions/node/v20"));
    world.path.clear();
    world.on_path("run/fnm/123/bin");
    world.assert("node", &format!("{bin}/node"), &["~/.nvm/versions/node/v20"], &[bin]);
}

#[test]
fn a_global_node_package_is_given_without_its_neighbours() {
    let mut world = World::new();
    for (package, program) in [("tsc", "tsc"), ("@scope/tool", "tool")] {
        world.text(&format!("~/.npm-global/lib/node_modules/{package}/package.json"), "{}");
        world.program(&format!("~/.npm-global/lib/node_modules/{package}/bin/cli"));
        world.link(&format!("~/.npm-global/bin/{program}"), format!("../lib/node_modules/{package}/bin/cli"));
    }
    world.on_path("~/.npm-global/bin");
    let modules = "~/.npm-global/lib/node_modules";
    world.assert(
        "tsc",
        &format!("{modules}/tsc/bin/cli"),
        &[&format!("{modules}/tsc")],
        &[&format!("{modules}/tsc/bin")],
    );
    let scoped = format!("{modules}/@scope/tool");
    world.assert("tool", &format!("{scoped}/bin/cli"), &[&scoped], &[&format!("{scoped}/bin")]);
}

#[test]
fn a_variable_that_calls_the_home_folder_a_shelf_is_not_believed() {
    for (variable, place) in
        [("UV_TOOL_DIR", "~"), ("UV_TOOL_DIR", "people"), ("UV_PYTHON_INSTALL_DIR", "~/.local/share")]
    {
        let mut world = World::new();
        let program = format!("{place}/work/bin/tool");
        world.program(&program);
        world.set(variable, world.at(place));
        world.assert(world.at(&program), &program, &[&program], &[&format!("{place}/work/bin")]);
    }
}

#[test]
fn a_working_copy_is_not_an_installation() {
    let mut world = World::new();
    world.program("~/src/ruby/bin/ruby");
    world.text("~/src/ruby/lib/ruby/x", "");
    world.text("~/src/ruby/.git/config", "url = https://token@host.test");
    world.on_path("~/src/ruby/bin");
    world.assert("ruby", "~/src/ruby/bin/ruby", &["~/src/ruby/bin/ruby"], &["~/src/ruby/bin"]);
}
