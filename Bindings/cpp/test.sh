#!/usr/bin/env bash
# Compiles the walkthrough, the unit tests and the replay of conformance.json with g++ and clang++, runs
# them plainly, under AddressSanitizer, and one of them under valgrind.
#
#     QUIRE_PREFIX=/usr/local Bindings/cpp/test.sh     an installed tree
#     Bindings/cpp/test.sh                             ../../build and ../../Include
#
# Ends with "N passed, N failed, N skipped": cases of the conformance file, tests, and whole runs.
set -uo pipefail
cd "$(dirname "$0")"

conformance=${QUIRE_CONFORMANCE:-../conformance.json}
if [ -n "${QUIRE_PREFIX:-}" ]; then
    include=$QUIRE_PREFIX/include
    library=$(find "$QUIRE_PREFIX"/lib* -name 'libquire.so.0' -print -quit)
else
    include=../../Include
    library=../../build/libquire.so.0
fi
for needed in "$include/quire.h" "$library" "$conformance"; do
    [ -f "$needed" ] || { echo "$needed is missing" >&2; exit 1; }
done
libraries=$(cd "$(dirname "$library")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# Runs a program; adds up what its last line says, or one test if it does not count.
count() {
    local title=$1 output last
    shift
    output=$("$@" 2>&1)
    local code=$?
    last=$(grep -E '^[0-9]+ passed, ' <<<"$output" | tail -n 1)
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        [ $code = 0 ] || [ "${BASH_REMATCH[2]}" != 0 ] || failed=$((failed + 1))
    elif [ $code = 0 ]; then
        passed=$((passed + 1)) last=passed
    else
        failed=$((failed + 1)) last="failed ($code)"
    fi
    echo "$title: $last"
    [ $code = 0 ] || tail -n 40 <<<"$output"
}

skip() {
    echo "$1: skipped"
    skipped=$((skipped + 1))
}

# The programs in README.md compile and run.
readme() { # compiler
    local number=0 source
    awk -v to="$work/readme" '/^```cpp/ { n++; on = 1; next } /^```/ { on = 0 } on { print > to n ".cpp" }' README.md
    for source in "$work"/readme*.cpp; do
        number=$((number + 1))
        "$1" -std=c++17 -Wall -Wextra -Werror -pedantic -Iinclude -isystem "$include" "$source" \
            -o "$work/readme$number" -L"$libraries" -l:libquire.so.0 -Wl,-rpath,"$libraries" &&
            (cd "$work" && "./readme$number") || return 1
    done
    [ $number = 2 ]
}

compile() { # compiler, directory, flags
    local strict="-std=c++17 -Wall -Wextra -Werror -pedantic -Iinclude -isystem $include" to=$work/$2
    local link="-L$libraries -l:libquire.so.0 -Wl,-rpath,$libraries -pthread"
    mkdir -p "$to"
    # shellcheck disable=SC2086
    "$1" $strict $3 walkthrough.cpp -o "$to/walkthrough" $link &&
        "$1" $strict $3 tests/replay.cpp -o "$to/replay" $link &&
        "$1" $strict $3 -fno-exceptions -fno-rtti -c tests/returning.cpp -o "$to/returning.o" &&
        "$1" $strict $3 tests/unit.cpp tests/ranks.cpp tests/windows.cpp tests/views.cpp "$to/returning.o" \
            -o "$to/unit" $link &&
        "$1" $strict $3 tests/profiles.cpp -o "$to/profiles" -L"$libraries" -l:libquire-profiles.so.0 $link
}

for compiler in g++ clang++; do
    if ! command -v $compiler >/dev/null; then
        skip "$compiler"
        continue
    fi
    count "$compiler: README.md" readme $compiler
    for mode in plain sanitized; do
        flags=-O1
        [ $mode = plain ] || flags="-g -O0 -fsanitize=address,undefined -fno-sanitize-recover=all"
        name=$compiler-$mode
        mkdir -p "$work/$name"
        if [ $mode = sanitized ] && ! echo 'int main() {}' |
            $compiler $flags -x c++ - -o "$work/probe" 2>/dev/null; then
            skip "$name"
            continue
        fi
        count "$name: compile" compile $compiler $name "$flags"
        count "$name: walkthrough" "$work/$name/walkthrough" "$work/$name/walk.quire"
        count "$name: unit tests" "$work/$name/unit" "$work/$name"
        count "$name: profiles" "$work/$name/profiles" "$work/$name"
        count "$name: conformance" "$work/$name/replay" "$conformance" "$work/$name"
    done
done

if command -v valgrind >/dev/null && [ -x "$work/g++-plain/unit" ]; then
    rm -f "$work"/g++-plain/*.quire*
    check="valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=9"
    count "valgrind: walkthrough" $check "$work/g++-plain/walkthrough" "$work/g++-plain/walk.quire"
    count "valgrind: unit tests" $check "$work/g++-plain/unit" "$work/g++-plain"
else
    skip "valgrind"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
