# Packs and unpacks a tree with the compressor that is named.
set -eu
mkdir -p tree/sub out
seq 1000 > tree/numbers
echo text > tree/sub/text
chmod 750 tree/sub/text
ln -s numbers tree/link
tar --create "--$1" --file packed.tar tree
tar --extract --file packed.tar --directory out
diff -r tree out/tree && echo same
echo "listed $(tar --list --file packed.tar | grep -vc '/$')"
echo "mode $(stat -c %a out/tree/sub/text)"
test "$(readlink out/tree/link)" = numbers && echo "link kept"
