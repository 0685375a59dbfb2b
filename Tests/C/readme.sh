#!/bin/sh
# The C programs in README.md, in the article and in Docs/c.md compile without a warning, run, and print what they should.
set -eu
folder=$1
root=$PWD
article=Docs/Quire.docc/FiveMinutesC.md

# block MARK DOCUMENT: the lines of the last block with this mark.
block() {
    awk -v mark="\`\`\`$1" '$0 == mark { on = 1; text = ""; next } /^```/ { on = 0 } on { text = text $0 "\n" }
        END { printf "%s", text }' "$2"
}

# run NAME DOCUMENT: what its program prints, in a folder of its own.
run() {
    mkdir "$folder/$1"
    block c "$2" >"$folder/$1/main.c"
    gcc -std=c99 -pedantic -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-missing-braces \
        -IInclude -o "$folder/$1/main" "$folder/$1/main.c" -Lbuild -Wl,--as-needed -l:libquire-profiles.so.0 \
        -l:libquire.so.0 -Wl,-rpath,"$root/build"
    (cd "$folder/$1" && ./main)
}

[ "$(run readme README.md)" = "ok: 1 new" ]
[ "$(run article $article)" = "$(block text $article)" ]
[ "$(run profiles Docs/c.md)" = "$(block text Docs/c.md)" ]
echo "README.md, Docs/c.md and $article"
