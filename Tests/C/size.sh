#!/bin/sh
# The libraries come into apps whole, so they stay small. Prints their sizes, and fails above the limits.
set -eu
cd "$(dirname "$0")/../.."
words='' failed=0
for entry in libquire-profiles:18000000 libquire:10000000; do
    library=${1:-build}/${entry%:*}.so.0 limit=${entry#*:}
    size=$(wc -c <"$library")
    words="$words${words:+, }${entry%:*} $size of $limit bytes"
    [ "$size" -le "$limit" ] || failed=1
done
echo "$words"
exit "$failed"
