set -u
yes() { if "$@" > yes.txt 2>&1; then echo yes; else echo no; cat yes.txt >&2; fi; }
echo "$(whoami) $(id -gn) $(id -u)"
uname -n
echo "home $(stat -c '%a %U' "$HOME")"
echo "tmp $(stat -c %a /tmp)"
# Nobody but this shell and what it starts: no init of the sandbox, nothing of the host.
echo "alone $(test "$(ps -e -o comm= | grep -vcE '^(bash|ps|grep)$')" = 0 && echo yes || ps -e)"
echo "processors $(yes nproc)"
echo "date $(date -u -d @0 +%F)"
echo "disk $(yes df /tmp "$HOME" .)"
timeout 0.2 sleep 1000
echo "timeout $?"
echo "lock $(flock lock sh -c 'flock --nonblock lock true || echo held')"
nohup sh -c 'echo "nohup ran"' 2> nohup.txt
echo "mktemp $(yes test -d "$(mktemp -d)")"
echo "null $(wc -c < /dev/null)"
echo "zero $(head -c 10 /dev/zero | wc -c)"
echo "random $(head -c 16 /dev/urandom | wc -c)"
(echo x > /dev/full) 2> full.txt || echo "full refused"
echo "uptime $(yes cat /proc/uptime /proc/meminfo /proc/cpuinfo /proc/self/status)"
