#!/bin/sh
# Plants FAKE credentials for malicious-weather to find, in a home folder made for it:
#
#   eval "$(sh setup-victim-env.sh /tmp/victim)"
#
# Nothing here opens anything: every value says FAKE, and a random number tells one planting from another. It writes into a folder
# that does not exist, is empty, or was planted by this script before, and refuses every other one: a real home is none of these.
# What it prints are the variables to set; lines that begin with `#` are notes.
set -eu
umask 077

MARK="FAKE credentials, planted by setup-victim-env.sh"

refuse() {
    echo "setup-victim-env.sh: $1" >&2
    exit 1
}

if [ $# -ne 1 ] || [ -z "$1" ]; then
    refuse "one argument is needed: a folder to plant in, for instance /tmp/victim"
fi
case $1 in
    /*) home=$1 ;;
    *) home=$PWD/$1 ;;
esac
# They end up in a shell's `eval`.
case $home in
    *[!A-Za-z0-9/._+-]*) refuse "the folder's path may only have letters, digits and / . _ + -" ;;
esac
while [ "${home%/}" != "$home" ]; do
    home=${home%/}
done
[ -n "$home" ] || refuse "/ is no home to plant in"
[ ! -L "$home" ] || refuse "$home is a link; name the folder itself"

if [ ! -e "$home" ]; then
    mkdir "$home" || refuse "cannot make $home"
fi
[ -d "$home" ] || refuse "$home is not a folder"
# Its own folder: `find` prints it only if it is this user's.
[ -n "$(find "$home" -prune -user "$(id -u)")" ] || refuse "$home belongs to somebody else"

mark=$home/.planted
if [ -f "$mark" ] && [ ! -L "$mark" ] && [ "$(head -n 1 "$mark")" = "$MARK" ]; then
    id=$(sed -n 2p "$mark")
    case $id in
        *[!0-9a-f]* | "") refuse "$mark is damaged; remove $home and start anew" ;;
    esac
else
    [ -z "$(ls -A "$home")" ] || refuse "$home is not empty, and not planted by this script: it may be a real home"
    id=$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')
    mkdir -p "$home/.aws" "$home/.ssh" "$home/.config/gh"
    cat >"$home/.aws/credentials" <<END
# FAKE
[default]
aws_access_key_id = FAKE
aws_secret_access_key = FAKE-file-aws-$id
END
    cat >"$home/.ssh/id_ed25519" <<END
-----BEGIN OPENSSH PRIVATE KEY-----
FAKE-file-ssh-$id
-----END OPENSSH PRIVATE KEY-----
END
    cat >"$home/.config/gh/hosts.yml" <<END
# FAKE
github.com:
    user: victim
    oauth_token: FAKE-file-gh-$id
END
    cat >"$home/.netrc" <<END
machine git.invalid login victim password FAKE-file-netrc-$id
END
    printf '%s\n%s\n' "$MARK" "$id" >"$mark"
fi

cat <<END
# FAKE credentials are planted in $home:
# FAKE-file-aws-$id in .aws/credentials
# FAKE-file-ssh-$id in .ssh/id_ed25519
# FAKE-file-gh-$id in .config/gh/hosts.yml
# FAKE-file-netrc-$id in .netrc
export HOME=$home
export AWS_ACCESS_KEY_ID=FAKE-env-aws-id-$id
export AWS_SECRET_ACCESS_KEY=FAKE-env-aws-$id
export GITHUB_TOKEN=FAKE-env-github-$id
export OPENAI_API_KEY=FAKE-env-openai-$id
export STRIPE_SECRET_KEY=FAKE-env-stripe-$id
export DATABASE_URL=postgres://admin:FAKE-env-database-$id@db.invalid/app
END
