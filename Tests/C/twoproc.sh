#!/bin/sh
# Two processes write and read one cache at once, 10,000 commits or 30 seconds; each must see the other's
# commits, and a check must find nothing. $1: the program of twoproc.c. $2: the check of check.c.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$work/two.quire" a b 5000 30 &
first=$!
"$1" "$work/two.quire" b a 5000 30
wait "$first"
"$2" "$work/two.quire"
