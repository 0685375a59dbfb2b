#!/usr/bin/env bash
# Installs the package as its users do, into a fresh environment, and runs its tests.
# Ends with "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1

if ! python3 -m venv "$work/venv" >"$work/log" 2>&1; then
    cat "$work/log"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if ! "$work/venv/bin/pip" install --quiet '.[test]' >"$work/log" 2>&1; then
    cat "$work/log"
    # without the package index cffi cannot be had; anything else is a failure
    if "$work/venv/bin/pip" download --quiet --no-deps --dest "$work" cffi >/dev/null 2>&1; then
        echo "0 passed, 1 failed, 0 skipped"
        exit 1
    fi
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider tests 2>&1 | tee "$work/log"
status=${PIPESTATUS[0]}
number() { grep -oE "[0-9]+ $1" "$work/log" | tail -1 | tr -dc 0-9 | sed 's/^$/0/'; }
passed=$(number passed) failed=$(number failed) errors=$(number error) skipped=$(number skipped)
failed=$((${failed:-0} + ${errors:-0}))
# A process that was ended says nothing of failures.
[ "$status" = 0 ] || [ $failed -gt 0 ] || failed=1
echo "${passed:-0} passed, $failed failed, ${skipped:-0} skipped"
[ $failed = 0 ]
