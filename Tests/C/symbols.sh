#!/bin/sh
# The library exports exactly the functions of the header, needs nothing of Swift, and is small.
set -eu
cd "$(dirname "$0")/../.."
library=build/libquire.so.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

grep -oE '\bquire_[a-z_]+\(' Include/quire.h | tr -d '(' | sort -u >"$work/mentioned"
# a declaration begins a line with its type; comments only mention functions
grep -oE '^(quire_status|quire_bytes|void|uint32_t|const char \*QUIRE_NONNULL) quire_[a-z_]+\(|^const char \*QUIRE_NONNULL quire_[a-z_]+\(' \
    Include/quire.h | grep -oE 'quire_[a-z_]+\(' | tr -d '(' | sort -u >"$work/declared"
nm -D -g --defined-only "$library" | awk '$2 ~ /[A-Z]/ { print $3 }' | sort -u |
    while read -r name; do
        # gold leaves local names in the table of dynamic symbols; they are not exported
        readelf --dyn-syms -W "$library" | awk -v n="$name" '$8 == n && $5 != "LOCAL" { print n }'
    done | sort -u >"$work/exported"
nm -g --defined-only build/libquire.a 2>/dev/null | awk '$2 == "T" && $3 ~ /^quire_/ { print $3 }' |
    sort -u >"$work/archived"

diff "$work/declared" "$work/exported"
diff "$work/declared" "$work/archived"
if nm -u build/libquire.a 2>/dev/null | grep ' \$s'; then
    echo "the archive lacks a part of the Swift runtime" >&2
    exit 1
fi
if comm -23 "$work/mentioned" "$work/declared" | grep -v '^quire_batch$'; then
    echo "the header speaks of functions that do not exist" >&2
    exit 1
fi
if ldd "$library" | grep -vE 'linux-vdso|ld-linux|lib(c|m|pthread|dl|gcc_s|stdc\+\+|lmdb)\.so'; then
    echo "the library needs more than libc, libm, libgcc_s, libstdc++ and liblmdb" >&2
    exit 1
fi
size=$(wc -c <"$library")
echo "$(wc -l <"$work/declared") functions, $size bytes"
[ "$size" -lt 9000000 ]
