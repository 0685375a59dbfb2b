#!/usr/bin/env bash
# Compares src/sys with quire.h and with a C compiler, then runs everything that cargo knows: unit tests,
# the walkthrough, the replay of conformance.json, and the examples in the documentation.
#
#     QUIRE_PREFIX=/usr/local Bindings/rust/test.sh     an installed tree
#     Bindings/rust/test.sh                             ../../build and ../../Include
#
# Ends with "N passed, N failed, N skipped": cases of the conformance file, and tests.
set -uo pipefail
cd "$(dirname "$0")"

if [ -n "${QUIRE_PREFIX:-}" ]; then
    include=$QUIRE_PREFIX/include
    library=$(find "$QUIRE_PREFIX"/lib* -name 'libquire-profiles.a' -print -quit)
else
    include=../../Include
    library=../../build/libquire-profiles.a
fi
for needed in "$include/quire.h" "$library" "${QUIRE_CONFORMANCE:-../conformance.json}"; do
    [ -f "$needed" ] || { echo "$needed is missing" >&2; exit 1; }
done
QUIRE_LIB_DIR=$(cd "$(dirname "$library")" && pwd)
export QUIRE_LIB_DIR

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
passed=0 failed=0 skipped=0

one() {
    local title=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        echo "$title: passed" && passed=$((passed + 1))
    else
        echo "$title: failed" && failed=$((failed + 1)) && cat "$work/output"
    fi
}

skip() {
    echo "$1: skipped"
    skipped=$((skipped + 1))
}

# The declarations, by the header's text and by a C compiler.
if command -v python3 >/dev/null; then
    one "src/sys is what quire.h says" ./generate-sys --check "$include/quire.h"
else
    skip "src/sys is what quire.h says"
fi
numbers() {
    cat src/sys/constants.rs src/sys/reading.rs src/sys/windows.rs src/sys/profiles.rs |
        sed -nE 's/^pub const (QUIRE_[A-Z0-9_]+): .* = (-?[0-9]+);$/_Static_assert(\1 == \2, "\1");/p' |
        "${CC:-cc}" -std=c11 -I"$include" -include quire_profiles.h -fsyntax-only -x c -
}
one "the constants are those that C sees" numbers

# All of cargo's tests; the one that replays the conformance file counts as its cases.
cargo test --offline --features profiles --no-fail-fast -- --show-output >"$work/cargo" 2>&1
code=$?
grep -E '^(test .* \.\.\. |FAIL)' "$work/cargo"
counts=$(awk '
    /^test result:/ { passed += $4; failed += $6; skipped += $8 }
    /^conformance: / { passed += $2; failed += $4; if ($4) failed--; else passed-- }
    END { print passed + 0, failed + 0, skipped + 0 }' "$work/cargo")
read -r p f s <<<"$counts"
[ $code = 0 ] || [ "$f" != 0 ] || f=1
[ $code = 0 ] || tail -n 60 "$work/cargo"
passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))

# What must not compile fails for the reason it should; only this switch makes rustdoc look at it.
RUSTC_BOOTSTRAP=1 one "what must not compile fails as it should" \
    cargo test --offline --quiet --doc --target-dir "${CARGO_TARGET_DIR:-target}/codes"
one "the shared libraries" cargo test --offline --quiet --features shared,profiles --test unit --test profiles \
    --target-dir "${CARGO_TARGET_DIR:-target}/shared"
one "no warnings" env RUSTFLAGS=-Dwarnings cargo check --offline --quiet --all-targets --target-dir "${CARGO_TARGET_DIR:-target}/strict"
# block KIND FILE: the last such block of a document.
block() {
    awk -v mark="\`\`\`$1" '$0 == mark { on = 1; text = ""; next } /^```/ { on = 0 } on { text = text $0 "\n" }
        END { printf "%s", text }' "$2"
}
# program NAME DOCUMENT: builds its program as a crate of its own that depends on this one, as a reader would, and runs
# it. The crate has nothing but the line that the documents give.
program() {
    mkdir -p "$work/$1/src"
    block rust "$2" >"$work/$1/src/main.rs"
    printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nquire = { path = "%s" }\n' \
        "$1" "$PWD" >"$work/$1/Cargo.toml"
    (cd "$work/$1" && cargo run --offline --quiet --target-dir "$targets/programs")
}
targets=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
article() {
    block text ../../Docs/Quire.docc/FiveMinutesRust.md >"$work/expected"
    program article ../../Docs/Quire.docc/FiveMinutesRust.md | diff - "$work/expected"
}
readme() { program readme README.md | diff - <(printf 'ok: ["17", "16"]\n5 bytes\n'); }
one "the article's program" article
one "the program of README.md" readme
one "walkthrough" cargo run --offline --quiet --example walkthrough "$work/walk.quire"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
