#!/bin/sh
# Sets the stage, as root of new namespaces that the caller made (user, mounts, network, processes):
#
#   sh stage.sh FOLDER SKILLSANDBOX DEMO ARGUMENTS...
#
# FOLDER becomes /home/demo, and the two programs lie in its bin. Nothing but loopback leads anywhere, names are looked up on the stage, and the homes and temporary files
# of the machine are out of sight. Then DEMO has it. Whatever is wrong ends it before that.
set -eu
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
folder=$1
skillsandbox=$2
demo=$3
shift 3

# The network: 9.9.0.0/16 plays the Internet. With no address but 127.0.0.1 glibc would not even ask for names.
ip link set lo up
ip address add 10.99.0.1/32 dev lo
ip route add local 9.9.0.0/16 dev lo
others=$(ip -o link show up | grep -v ' lo: ' || true)
if [ -n "$others" ]; then
    echo "the stage leads out: $others" >&2
    exit 1
fi

# Mounts are this namespace's own.
mount --make-rprivate /
mount --bind "$skillsandbox" "$folder/bin/skillsandbox"
mount --bind "$demo" "$folder/bin/skillsandbox-demo"
mount --rbind "$folder" /mnt
for place in /tmp /var/tmp /home /root; do
    if [ -d "$place" ] && [ ! -L "$place" ]; then
        mount -t tmpfs -o mode=1777 demo "$place"
    fi
done
mkdir /home/demo
mount --rbind /mnt /home/demo
umount --lazy /mnt

# Services of the machine that look names up for others: a socket in a folder is in no network namespace.
for place in /run/systemd/resolve /run/nscd /var/run/nscd /run/avahi-daemon; do
    if [ -d "$place" ]; then
        mount -t tmpfs demo "$place"
    fi
done
mkdir -p /tmp/etc
echo "nameserver 127.0.0.1" >/tmp/etc/resolv.conf
echo "127.0.0.1 localhost" >/tmp/etc/hosts
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >/tmp/etc/nsswitch.conf
for file in resolv.conf hosts nsswitch.conf; do
    # A link to what was just covered leads nowhere, and what is not there needs no cover.
    if [ -e "/etc/$file" ]; then
        mount --bind "/tmp/etc/$file" "/etc/$file"
    fi
done

# The authority that everybody on the stage trusts, wherever this distribution keeps such.
trust=/home/demo/authority
if [ -d /etc/ssl/certs ]; then
    mount --bind "$trust" /etc/ssl/certs
fi
for bundle in /etc/pki/tls/certs/ca-bundle.crt /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/cert.pem \
    /etc/ssl/ca-bundle.pem /var/lib/ca-certificates/ca-bundle.pem; do
    if [ -f "$bundle" ]; then
        mount --bind "$trust/ca-certificates.crt" "$bundle"
    fi
done

cd /home/demo
exec bin/skillsandbox-demo "$@"
