#!/bin/sh
# The C program in README.md compiles without a warning, runs, and finds its post.
set -eu
folder=$1
root=$PWD
sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```' >"$folder/readme.c"
gcc -std=c99 -pedantic -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-missing-braces \
    -IInclude -o "$folder/readme" "$folder/readme.c" -Lbuild -l:libquire.so.0 -Wl,-rpath,"$root/build"
cd "$folder"
output=$(./readme)
[ "$output" = "ok: 1 new" ]
echo "$output"
