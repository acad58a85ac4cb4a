//! A server over the installed skills: by whose manifest they run, and only as they were installed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::json;

use crate::client::{Client, World};

const DOCUMENT: &str =
    "---\nname: notes\ndescription: Keeps notes short\n---\n\n# Notes\n\nRun scripts/show.sh.\n";

/// A world with an installed skill that has no manifest.
fn world() -> World {
    let world = World::new();
    let source = world.path("source/notes");
    fs::create_dir_all(source.join("scripts")).unwrap();
    fs::write(source.join("SKILL.md"), DOCUMENT).unwrap();
    fs::write(source.join("scripts/show.sh"), "echo shown \"$1\"\n").unwrap();
    let installed =
        world.command(&["install", source.to_str().unwrap()]).env_remove("XDG_DATA_HOME").output();
    let installed = installed.unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    world
}

fn serve(world: &World, more: &[&str]) -> Client {
    Client::begin(world.command(&[&["serve"], more].concat()).env_remove("XDG_DATA_HOME"))
}

fn folder(world: &World) -> PathBuf {
    world.path("home/.local/share/skillsandbox/skills/notes")
}

#[test]
fn row_161_a_server_without_roots_has_the_installed_skills() {
    let world = world();
    let mut client = serve(&world, &[]);
    let list = client.call("list_skills", &json!({}));
    let skill = &list.data()["skills"][0];
    assert_eq!((&skill["skill"], &skill["valid"]), (&json!("notes"), &json!(true)), "{list:?}");
    assert_eq!((&skill["permissions_from"], &skill["args_are_command"]), (&json!("defaults"), &json!(true)));
    let call = |args: &[&str]| json!({ "skill": "notes", "args": args });
    let ran = client.call("run_skill", &call(&["sh", "scripts/show.sh", "this"]));
    assert_eq!(ran.stdout(), "shown this\n", "{ran:?}");
    let none = client.call("run_skill", &call(&[]));
    assert!(none.failed() && none.0.to_string().contains("args"), "{none:?}");
    // The user's own manifest counts as soon as it is there.
    let list = world.command(&["list", "--format", "json"]).env_remove("XDG_DATA_HOME").output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let own = world.path("config/skillsandbox/manifests/notes");
    fs::create_dir_all(&own).unwrap();
    let target = json!({ "version": 1, "name": "notes", "source": list[0]["source"], "digest": "0" });
    fs::write(own.join("for.json"), target.to_string()).unwrap();
    let manifest =
        "skill: { name: notes, version: '2' }\nentrypoint: { command: sh, args: [scripts/show.sh, mine] }\n";
    fs::write(own.join("skillsandbox.yaml"), manifest).unwrap();
    for path in
        [&own.join("for.json"), &own.join("skillsandbox.yaml"), &own, &own.parent().unwrap().to_owned()]
    {
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let ran = client.call("run_skill", &call(&[]));
    assert_eq!(ran.stdout(), "shown mine\n", "{ran:?}");
    let inspected = client.call("inspect_skill", &json!({ "skill": "notes" }));
    assert_eq!(inspected.data()["permissions_from"], "user", "{inspected:?}");
}

#[test]
fn row_162_a_server_refuses_what_was_changed_and_what_was_not_installed() {
    let world = world();
    let mut client = serve(&world, &[]);
    let call = json!({ "skill": "notes", "args": ["sh", "scripts/show.sh", "RAN"] });
    assert!(!client.call("run_skill", &call).failed());
    fs::write(folder(&world).join("scripts/show.sh"), "echo other RAN\n").unwrap();
    let refused = client.call("run_skill", &call);
    assert!(refused.failed() && refused.0.to_string().contains("show.sh (changed)"), "{refused:?}");
    assert!(!refused.0.to_string().contains("RAN\\n"), "{refused:?}");
    // What somebody put beside it is no skill of the store's.
    let planted = folder(&world).with_file_name("planted");
    fs::create_dir(&planted).unwrap();
    fs::write(planted.join("SKILL.md"), DOCUMENT).unwrap();
    let refused = client.call("run_skill", &json!({ "skill": "planted", "args": ["echo", "RAN"] }));
    assert!(
        refused.failed() && refused.0.to_string().contains("packages.lock knows nothing of it"),
        "{refused:?}"
    );
}

#[test]
fn a_servers_workspace_is_where_its_skills_work() {
    let world = world();
    let work = world.path("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("in.txt"), "in\n").unwrap();
    let mut client = serve(&world, &["--workspace", &format!("{}:ro", work.display())]);
    let script = "pwd; cat in.txt; echo x > new 2>/dev/null || echo read-only";
    let ran = client.call("run_skill", &json!({ "skill": "notes", "args": ["sh", "-c", script] }));
    assert_eq!(ran.stdout(), format!("{}\nin\nread-only\n", work.display()), "{ran:?}");
    let home = world.path("home");
    let output = world.command(&["serve", "--workspace", home.to_str().unwrap()]).output().unwrap();
    assert!(!output.status.success(), "the home is no workspace");
}
