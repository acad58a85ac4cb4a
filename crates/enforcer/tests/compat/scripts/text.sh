set -eu
echo "awk $(seq 10 | awk '{ sum += $1 } END { print sum }')"
echo "sed $(echo 'hello world' | sed 's/hello/HELLO/')"
echo "sort" $(printf 'c\nb\na\n' | sort)
echo "uniq" $(printf 'x\nx\n' | uniq -c)
echo "join $(join <(echo '1 a') <(echo '1 b'))"
echo "json $(echo '{"n": [1, 2]}' | jq -c '[.n[] * 2]')"
echo "keys" $(echo '{"b": 1, "a": 2}' | jq -r 'keys[]')
printf 'one\n' > old
printf 'two\n' > new
diff -u old new > change || true
patch --quiet old < change
echo "patch $(cat old)"
sed -i 's/two/1 2/' old
echo "column $(cut -d ' ' -f 2 old)"
echo "base64 $(printf hello | base64)"
