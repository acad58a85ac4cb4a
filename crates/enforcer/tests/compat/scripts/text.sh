set -eu
echo "awk $(seq 10 | awk '{ sum += $1 } END { print sum }')"
echo "sed $(echo 'hello world' | sed 's/hello/HELLO/')"
echo "sort" $(printf 'c\nb\na\n' | sort)
echo "uniq" $(printf 'x\nx\n' | uniq -c)
echo "join $(join <(echo '1 a') <(echo '1 b'))"
printf 'one\n' > old
printf 'two\n' > new
echo "diff $(diff -u old new | tail -n 1)"
sed -i 's/two/1 2/' new
echo "column $(cut -d ' ' -f 2 new)"
echo "base64 $(printf hello | base64)"
