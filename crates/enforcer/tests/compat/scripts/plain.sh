# What every POSIX shell can do.
set -u
printf 'c\na\nb\n' | sort | grep -c . | while read -r n; do echo "pipeline $n"; done
n=3
cat <<END
here-doc: expanded $n
END
cat <<'END'
here-doc: $literal
END
echo "substitution $(expr 6 \* 7)"
true &
wait $!
echo "background $?"
(exit 7)
echo "status $?"
mkfifo pipe
echo through > pipe &
read -r line < pipe
echo "fifo $line"
wait
IFS=' ' read -r first rest <<END
one two three
END
echo "read $first|$rest"
double() { echo $(($1 * 2)); }
echo "function $(double 3)"
{ echo out; echo err >&2; } > both.txt 2> error.txt
echo "redirected $(cat both.txt) $(cat error.txt)"
all=
for i in 1 2 3; do all="$all $i"; done
echo "loop$all"
where=outer
inner=$(where=inner; echo $where)
echo "subshell $inner $where"
trap 'echo "trapped TERM"' TERM
kill -TERM $$
trap - TERM
mkdir glob
: > glob/a.txt
: > glob/b.txt
(cd glob && echo "glob" *.txt)
case text in t*t) echo "case match" ;; *) echo "case no match" ;; esac
umask 077
: > private
echo "umask $(stat -c %a private)"
trap 'echo "exit trap"' EXIT
