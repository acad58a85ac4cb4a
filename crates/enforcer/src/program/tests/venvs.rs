//! Python's virtual environments.

use super::world::World;

fn venv(world: &World, place: &str, home: &str, python: &std::path::Path) {
    world.text(
        &format!("{place}/pyvenv.cfg"),
        format!("home = {home}\ninclude-system-site-packages = false\n"),
    );
    world.link(&format!("{place}/bin/python"), python);
    world.link(&format!("{place}/bin/python3"), "python");
    world.text(&format!("{place}/lib/python3.11/site-packages/x.py"), "");
    world.link(&format!("{place}/lib64"), "lib");
}

#[test]
fn an_environment_is_entered_by_its_own_path_and_brings_its_base() {
    let mut world = World::new();
    let prefix = "~/.pyenv/versions/3.11.7";
    let python = world.python(prefix, "3.11");
    venv(&world, "~/work/.venv", world.at(prefix).join("bin").to_str().unwrap(), &python);
    world.on_path("~/work/.venv/bin");
    world.assert("python3", "~/work/.venv/bin/python3", &["~/work/.venv", prefix], &["~/work/.venv/bin"]);
    world.script("~/work/.venv/bin/black", format!("#!{}\n", world.at("~/work/.venv/bin/python3").display()));
    world.assert("black", "~/work/.venv/bin/black", &["~/work/.venv", prefix], &["~/work/.venv/bin"]);
    // Reached by a link: still by its own path.
    world.link("~/.local/bin/black", world.at("~/work/.venv/bin/black"));
    world.path = vec![world.at("~/.local/bin")];
    world.assert("black", "~/work/.venv/bin/black", &["~/work/.venv", prefix], &["~/work/.venv/bin"]);
}

#[test]
fn an_environment_of_the_systems_python_needs_itself_only() {
    let world = World::new();
    // Any program of the system will do here: what is asked is where it lies.
    venv(&world, "~/work/.venv", "/usr/bin", std::path::Path::new("/usr/bin/env"));
    world.assert(
        world.at("~/work/.venv/bin/python3"),
        "~/work/.venv/bin/python3",
        &["~/work/.venv"],
        &["~/work/.venv/bin"],
    );
    venv(&world, "@/.venv", "/usr/bin", std::path::Path::new("/usr/bin/env"));
    world.assert(".venv/bin/python3", "@/.venv/bin/python3", &[], &["@/.venv/bin"]);
}

#[test]
fn an_environment_in_the_middle_of_a_project_gives_only_its_own_parts() {
    let world = World::new();
    venv(&world, "~/work", "/usr/bin", std::path::Path::new("/usr/bin/env"));
    world.text("~/work/secret.txt", "");
    world.assert(
        world.at("~/work/bin/python3"),
        "~/work/bin/python3",
        &["~/work/bin", "~/work/lib/python3.11", "~/work/pyvenv.cfg"],
        &["~/work/bin"],
    );
}

#[test]
fn an_environment_in_the_home_folder_itself_gives_only_its_own_parts() {
    let world = World::new();
    venv(&world, "~", "/usr/bin", std::path::Path::new("/usr/bin/env"));
    let found = world.find(world.at("~/bin/python3")).unwrap();
    world.laws(&found);
    assert!(found.needs.iter().all(|need| need.path != world.at("~/bin")), "{found:?}");
}

#[test]
fn uvs_links_between_installations_come_along() {
    let world = World::new();
    let uv = "~/.local/share/uv/python";
    world.python(&format!("{uv}/cpython-3.11.7-linux"), "3.11");
    world.link(&format!("{uv}/cpython-3.11-linux"), "cpython-3.11.7-linux");
    let through = world.at(uv).join("cpython-3.11-linux/bin");
    venv(&world, "@/.venv", through.to_str().unwrap(), &through.join("python3.11"));
    world.assert(".venv/bin/python", "@/.venv/bin/python", &[uv], &["@/.venv/bin"]);
}

#[test]
fn a_base_is_believed_only_where_an_installation_lies() {
    for (home, wanted) in [
        ("/", "no Python there"),
        ("/root", "no Python there"),
        ("/etc", "no Python there"),
        ("/no/such/folder", "nothing there"),
        ("bin", "not an absolute path"),
        ("HOME", "no Python there"),
        ("HOME/.ssh", "no Python there"),
        ("HOME/bin", "no installation is known there"),
        ("HOME/work/bin", "no installation is known there"),
        ("HOME/other/bin", "no installation is known there"),
        ("HOME/tricky/bin", "no installation is known there"),
    ] {
        let world = World::new();
        let home = home.replace("HOME", world.home().to_str().unwrap());
        world.text("~/.ssh/id_ed25519", "secret");
        // A Python straight in the home folder; one without a library; a virtual environment; a link to a real one.
        world.python("~", "3.11");
        world.program("~/work/bin/python3");
        world.program("~/other/bin/python3");
        world.text("~/other/lib/python3.11/os.py", "");
        world.text("~/other/pyvenv.cfg", "home = /usr/bin\n");
        world.python("~/.pyenv/versions/3.11.7", "3.11");
        world.link("~/tricky/bin/python3", world.at("~/.pyenv/versions/3.11.7/bin/python3"));
        venv(&world, "@/.venv", &home, std::path::Path::new("/usr/bin/env"));
        let text = world.refusal(".venv/bin/python3");
        assert!(text.contains(wanted) && text.contains("make the environment again"), "{home}: {text}");
    }
}

#[test]
fn a_pyvenv_cfg_that_is_a_link_a_pipe_or_without_home_counts_for_nothing() {
    let world = World::new();
    world.text("~/.aws/credentials", "home = SECRET\n");
    world.program("@/.venv/bin/python3");
    world.link("@/.venv/pyvenv.cfg", world.at("~/.aws/credentials"));
    world.assert(".venv/bin/python3", "@/.venv/bin/python3", &[], &[]);
    std::fs::remove_file(world.at("@/.venv/pyvenv.cfg")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.at("@/.venv/pyvenv.cfg"),
        rustix::fs::FileType::Fifo,
        0o644.into(),
        0,
    )
    .unwrap();
    world.assert(".venv/bin/python3", "@/.venv/bin/python3", &[], &[]);
    std::fs::remove_file(world.at("@/.venv/pyvenv.cfg")).unwrap();
    world.text("@/.venv/pyvenv.cfg", "homes = /root\n = /\nhome\n");
    world.assert(".venv/bin/python3", "@/.venv/bin/python3", &[], &[]);
}
