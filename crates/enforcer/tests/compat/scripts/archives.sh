set -eu
mkdir -p tree/sub
seq 1000 > tree/numbers
echo text > tree/sub/text
chmod 750 tree/sub/text
ln -s numbers tree/link
for how in gzip bzip2 xz; do
    tar --create "--$how" --file "$how.tar" tree
    rm -rf out
    mkdir out
    tar --extract --file "$how.tar" --directory out
    diff -r tree out/tree && echo "$how same"
done
echo "listed $(tar --list --file gzip.tar | grep -vc '/$')"
echo "mode $(stat -c %a out/tree/sub/text)"
echo "link $(test "$(readlink out/tree/link)" = numbers && echo kept)"
