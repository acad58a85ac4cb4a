set -eu
git config --global user.name Skill
git config --global user.email skill@skill.test
git config --global init.defaultBranch main
git config --global advice.detachedHead false
git config --global protocol.file.allow always

git init --quiet repository
cd repository
echo one > one
git add .
git commit --quiet --message one
echo "branch $(git rev-parse --abbrev-ref HEAD)"
git switch --quiet --create side
echo two > two
git add .
git commit --quiet --message two
git switch --quiet main
echo three > three
git add .
git commit --quiet --message three
git merge --quiet --no-edit side
echo "merged" $(git ls-files | sort | sed 's/three/3 three/; s/two/2 two/; s/one/1 one/' | sort | cut -d ' ' -f 2)
echo "commits $(git log --oneline | wc -l)"
cd ..
git clone --quiet "file://$PWD/repository" clone
cd clone
echo "clone" $(cat one two three)
printf '#!/bin/sh\necho "hook ran"\n' > .git/hooks/pre-push
chmod +x .git/hooks/pre-push
echo four > four
git add four
git commit --quiet --message four
git push --quiet origin HEAD:pushed
git tag --annotate --message release v1
echo "tag $(git describe)"
git archive HEAD~1 | tar --list | grep -c . | { read -r n; echo "archive $n"; }
echo changed > one
git stash --quiet
git stash pop --quiet
echo "stash $(git diff --quiet || echo back)"
git checkout --quiet one
echo "blame $(git blame --porcelain one | sed -n 's/^author //p')"
test -z "$(git status --porcelain)" && echo clean
git gc --quiet
git fsck --no-progress > /dev/null && echo "fsck ok"
git format-patch --quiet --stdout HEAD~1 > ../four.patch
git reset --quiet --hard HEAD~1
git am --quiet ../four.patch
test "$(cat four)" = four && echo "patch applied"
git bundle create --quiet ../all.bundle main
git clone --quiet --branch main ../all.bundle ../unbundled
echo "bundle" $(cd ../unbundled && cat one two three)
