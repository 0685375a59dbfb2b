#!/bin/sh
# With the argument cluster: of libquire-cluster, else of the others.
# Each library exports exactly the functions of its header and no other name, and needs nothing of Swift.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# test_library NAME HEADER LIBRARIES: those that it may need besides that of C and C++.
test_library() {
    library=build/$1.so.0
    grep -oE '\bquire_[a-z_]+\(' "$2" | tr -d '(' | sort -u >"$work/mentioned"
    # a declaration begins a line with its type; comments only mention functions
    grep -oE '^(quire_status|quire_bytes|void|uint32_t|const char \*QUIRE_NONNULL) quire_[a-z_]+\(|^const char \*QUIRE_NONNULL quire_[a-z_]+\(' \
        "$2" | grep -oE 'quire_[a-z_]+\(' | tr -d '(' | sort -u >"$work/$1"
    nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u >"$work/exported"
    diff "$work/$1" "$work/exported"
    if comm -23 "$work/mentioned" "$work/$1" | grep -vE '^quire_(batch|ingest|push|crawl_ingest|last_error|feed_open|drop_link)$'; then
        echo "the header speaks of functions that do not exist" >&2
        exit 1
    fi
    if ldd "$library" | grep -vE "linux-vdso|ld-linux|lib(c|m|pthread|dl|gcc_s|stdc\+\+|$3)\.so"; then
        echo "$library needs more than libc, libm, libgcc_s, libstdc++ and $3" >&2
        exit 1
    fi
}

# archived NAME LISTS...: the functions of the archive are those of these libraries.
archived() {
    archive=build/$1.a
    shift
    nm -g --defined-only "$archive" 2>/dev/null | awk '$2 == "T" { print $3 }' | sort -u >"$work/archived"
    sort -u "$@" | diff - "$work/archived"
    if nm -u "$archive" 2>/dev/null | grep ' \$s'; then
        echo "$archive lacks a part of the Swift runtime" >&2
        exit 1
    fi
}

if [ "${1:-}" = cluster ]; then
    cat Include/quire.h Include/quire_cluster.h >"$work/cluster.h"
    test_library libquire-cluster "$work/cluster.h" 'lmdb|nats|ssl|crypto|protobuf-c|sodium'
    archived libquire-cluster "$work/libquire-cluster"
    echo "$(wc -l <"$work/libquire-cluster") functions, nothing else"
    exit
fi
test_library libquire-profiles Include/quire_profiles.h 'lmdb|simdjson'
test_library libquire Include/quire.h lmdb
archived libquire "$work/libquire"
archived libquire-profiles "$work/libquire" "$work/libquire-profiles"
echo "$(wc -l <"$work/libquire") and $(wc -l <"$work/libquire-profiles") functions, nothing else"
