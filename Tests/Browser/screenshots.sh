#!/usr/bin/env bash
# Makes Docs/images anew. Usage: Tests/Browser/screenshots.sh QUIRE
set -euo pipefail
cd "$(dirname "$0")"
. ./browser.bash
browser=$(find_browser) || { echo "screenshots: no Chromium, and it cannot be installed here" >&2; exit 1; }
python3 screenshots.py "$1" "$browser" ../../Docs/images
ls -l ../../Docs/images
