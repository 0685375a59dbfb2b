#!/bin/sh
# Reading through C costs no more instructions than the same reading in Swift, where rows are values that may be
# kept. A page of 30 posts, read in a snapshot of its own, costs at most 18,000, and rows upwards cost at most
# half more than downwards. Counted by callgrind as the difference between 2 and 6 rounds over 3,000 posts, so that
# starting up does not count.
set -eu
folder=$1
root=$PWD
build=$root/Tools/.build/release
swiftc=${SWIFT:-swift}c

# of the sources that there are: objects of others may still lie there
objects=$(find Sources/Quire -name '*.swift' | sed "s|.*/|$build/Quire.build/|; s|\$|.o|")
# shellcheck disable=SC2086
"$swiftc" -O -swift-version 6 -I "$build/Modules" \
    -Xcc -fmodule-map-file="$root/Sources/CLMDB/module.modulemap" -o "$folder/swift" \
    Tests/C/reading/read.swift $objects -llmdb
gcc -O2 -std=c11 -Wall -Wextra -Werror -IInclude -o "$folder/c" Tests/C/reading/read.c \
    -Lbuild -l:libquire.so.0 -Wl,-rpath,"$root/build"
"$folder/swift" "$folder/feed.quire" fill
[ "$("$folder/swift" "$folder/feed.quire" 3)" = "$("$folder/c" "$folder/feed.quire" 3)" ]
for how in up pages; do
    [ "$("$folder/c" "$folder/feed.quire" 3)" = "$("$folder/c" "$folder/feed.quire" 3 $how)" ]
done

instructions() {
    program=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$folder/$program" "$folder/feed.quire" "$@" \
        2>&1 >/dev/null | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
c=$(($(instructions c 6) - $(instructions c 2)))
swift=$(($(instructions swift 6) - $(instructions swift 2)))
up=$(($(instructions c 6 up) - $(instructions c 2 up)))
page=$((($(instructions c 6 pages) - $(instructions c 2 pages)) / 400))
echo "C $((c / 12000)), upwards $((up / 12000)), Swift $((swift / 12000)) instructions a row: $((c * 100 / swift)) %; a page $page"
[ "$c" -le "$swift" ]
[ "$page" -le 18000 ]
[ "$((up * 2))" -le "$((c * 3))" ]
