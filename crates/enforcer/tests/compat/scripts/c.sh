# Compiles, links against a shared library of its own, and runs; here, and in the private folder for temporary files.
set -eu
build() {
    gcc -O1 -Wall -shared -fPIC -o libanswer.so answer.c
    gcc -O1 -Wall -pthread -c work.c
    ar rcs libwork.a work.o
    gcc -pthread -o work libwork.a -ldl
    ./work
}
echo "here $(build)"
cp work.c answer.c /tmp
cd /tmp
echo "tmp $(build)"
