//! Git.

use crate::case::Case;

#[test]
fn a_repository_from_init_to_merge_and_clone() {
    let expected = "branch main\nmerged one two three\ncommits 4\nclone one two three\nhook ran\ntag v1\n\
                    archive 3\nstash back\nblame Skill\nclean\nfsck ok\npatch applied\nbundle one two three\n";
    let case =
        Case::script("bash", "repository.sh", include_str!("scripts/repository.sh")).needs(["git", "tar"]);
    let Some(work) = case.prints(expected) else { return };
    assert!(work.path().join("repository/.git/HEAD").is_file(), "the repository is on the host");
}

/// The same by git itself as the program, which asks who owns the folder.
#[test]
fn git_is_at_home_in_a_folder_of_the_host() {
    Case::new("git").args(["init", "--quiet", "."]).prints("");
    Case::new("git").args(["config", "--global", "user.name", "Skill"]).prints("");
}
