#!/usr/bin/env bash
# quire report and quire serve in headless Chromium. Ends with "N passed, N failed, N skipped".
#
#     QUIRE_TOOL=PATH Tests/Browser/test.sh [WORD...]     the tests whose names hold one of the words
set -uo pipefail
cd "$(dirname "$0")"
. ./browser.bash

skip() {
    echo "$1"
    echo "0 passed, 0 failed, $(python3 test_inspector.py --count 2>/dev/null || echo 1) skipped"
    exit 0
}
command -v python3 >/dev/null || skip "no python3"

browser=$(find_browser) || skip "no Chromium, and it cannot be installed here"

tool=${QUIRE_TOOL:-}
if [ -z "$tool" ]; then
    ${SWIFT:-swift} build --package-path ../../Tools --product quire || exit 1
    tool=$(${SWIFT:-swift} build --package-path ../../Tools --show-bin-path)/quire
fi
exec python3 test_inspector.py "$tool" "$browser" "$@"
