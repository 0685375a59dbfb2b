#!/bin/sh
# Everything about the C API that Swift's own tests cannot show. Needs build/libquire.so.0 and .a
# (Packaging/build-library). Prints one line per test and ends with "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/../.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. Tests/C/check.sh

# fresh COMMAND...: runs it with an empty folder as its last argument.
fresh() {
    rm -rf "$work/folder"
    mkdir "$work/folder"
    "$@" "$work/folder"
}

# link OUTPUT FLAGS... FILES...: against the shared libraries where they were built.
link() {
    output=$1
    shift
    gcc "$@" -IInclude -D_GNU_SOURCE -Wall -Wextra -Werror -Lbuild -Wl,--as-needed -l:libquire-profiles.so.0 \
        -l:libquire.so.0 -lpthread -Wl,-rpath,"$root/build" -o "$work/$output"
}

strict="-pedantic -Wall -Wextra -Werror -IInclude -c -o $work/header.o"
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then
        # shellcheck disable=SC2086
        check "header: $compiler, C99" "$compiler" -std=c99 $strict Tests/C/header.c
        # shellcheck disable=SC2086
        check "header: $compiler, C++11" "$compiler" -x c++ -std=c++11 $strict Tests/C/header.cpp
    else
        skip "header: $compiler" "not installed"
    fi
done
check "layout of the structs" gcc -std=c11 -IInclude -c -o "$work/layout.o" Sources/CQuire/layout.c
check "symbols, dependencies" Tests/C/symbols.sh
check "sizes" Tests/C/size.sh
check "installed tree" Tests/C/install.sh
check "README" fresh Tests/C/readme.sh
if command -v valgrind >/dev/null && [ -d Tools/.build/release/Modules ]; then
    check "instructions, C against Swift" fresh Tests/C/instructions.sh
else
    skip "instructions, C against Swift" "needs valgrind and the build of the library"
fi

check "build: misuse" link misuse -std=c11 -g Tests/C/misuse*.c
check "misuse" fresh "$work/misuse"
check "build: misuse, sanitized" link misuse-asan -std=c11 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined Tests/C/misuse*.c
check "misuse, sanitized" fresh "$work/misuse-asan"
if command -v valgrind >/dev/null; then
    check "misuse, valgrind" fresh valgrind -q --error-exitcode=9 --leak-check=full \
        --errors-for-leak-kinds=definite --show-leak-kinds=definite "$work/misuse"
else
    skip "misuse, valgrind" "not installed"
fi

check "build: windows" link windows -std=c11 -g Tests/C/windows.c
check "windows" fresh "$work/windows"
check "build: windows, sanitized" link windows-asan -std=c11 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined Tests/C/windows.c
check "windows, sanitized" fresh "$work/windows-asan"

check "build: profiles" link profiles -std=c11 -g Tests/C/profiles.c
check "profiles" fresh "$work/profiles"
check "build: profiles, sanitized" link profiles-asan -std=c11 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined Tests/C/profiles.c
check "profiles, sanitized" fresh "$work/profiles-asan"
check "build: profiles, from the archive" gcc -std=c11 -IInclude -D_GNU_SOURCE -Wall -Wextra -Werror \
    -Wl,--gc-sections -o "$work/profiles-archive" Tests/C/profiles.c build/libquire-profiles.a -lsimdjson -lstdc++ \
    -lm -ldl -lpthread -llmdb
check "profiles, from the archive" fresh "$work/profiles-archive"
if command -v valgrind >/dev/null; then
    # With the file of suppressions nothing is left to report, not even memory that is still reachable.
    check "profiles, valgrind" fresh valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=all \
        --errors-for-leak-kinds=all --suppressions=Packaging/quire.supp "$work/profiles"
else
    skip "profiles, valgrind" "not installed"
fi
check "build: read-only" link readonly -std=c11 -g Tests/C/readonly.c
if [ "$(id -u)" = 0 ]; then
    check "read-only, as another user" "$work/readonly"
else
    skip "read-only, as another user" "only root can become another user"
fi

for program in walkthrough client; do
    check "build: $program" link "$program" -std=c99 -pedantic "Bindings/c/$program.c"
    check "$program" "$work/$program" "$work/$program.quire"
done
check "build: conformance" link conformance -std=c99 -pedantic -g Bindings/c/conformance.c
check "conformance" fresh "$work/conformance" Bindings/conformance.json
check "conformance.json is up to date" Bindings/make-conformance.py --check

check "build: two copies" gcc -std=c11 -IInclude -D_GNU_SOURCE -Wall -Wextra -Werror Tests/C/copies.c \
    -ldl -o "$work/copies"
check "two copies in a process" fresh "$work/copies" build/libquire.so.0
check "build: budget" link budget -std=c11 Tests/C/budget.c
check "a budget of two processes" fresh "$work/budget"
check "build: a file that outgrows a map" link grown -std=c11 Tests/C/grown.c
check "a file that outgrows a map" fresh "$work/grown"
check "build: two processes" link twoproc -std=c11 Tests/C/twoproc.c
check "build: check" link check -std=c11 Tests/C/check.c
check "two processes" Tests/C/twoproc.sh "$work/twoproc" "$work/check"
if [ -n "${QUIRE_SWIFT_TESTS:-}" ]; then
    QUIRE_TWOPROC="$work/twoproc" check "a C and a Swift process" \
        "$QUIRE_SWIFT_TESTS" --testing-library swift-testing --filter TwoProcess
else
    skip "a C and a Swift process" "QUIRE_SWIFT_TESTS names the program of the tests: make test"
fi

finish
