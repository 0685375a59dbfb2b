#!/bin/sh
# Two nodes in C over a real server of NATS, which dies in the end; the same in Python. Builds libquire-cluster.
# Ends with "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
pid=
trap 'if [ -n "$pid" ]; then kill -9 $pid 2>/dev/null; fi; rm -rf "$work"' EXIT
. Tests/C/check.sh

# The server chooses a free port and writes it down.
start() {
    server=$(Cluster/install-dependencies server) || return 1
    "$server" -a 127.0.0.1 -p -1 -js -sd "$work/store" --ports_file_dir "$work" >"$work/server-log" 2>&1 &
    pid=$!
    until port=$(grep -hoE 'nats://127\.0\.0\.1:[0-9]+' "$work"/nats-server_*.ports 2>/dev/null |
        head -1 | grep -oE '[0-9]+$'); do
        kill -0 $pid || return 1
        sleep 0.1
    done
}

nodes() {
    start || { cat "$work/server-log" && return 1; }
    mkdir "$work/nodes"
    "$work/cluster" "$work/nodes" "$port" $pid
}

python() {
    python3 -m venv "$work/venv" || return 1
    # What pip leaves in the folder would be taken for a package without clusters, and the other way round.
    rm -rf Bindings/python/build
    QUIRE_CLUSTER=1 "$work/venv/bin/pip" install --quiet --disable-pip-version-check './Bindings/python[test]'
    built=$?
    rm -rf Bindings/python/build
    [ $built = 0 ] && NATS_SERVER=$(Cluster/install-dependencies server) &&
        export NATS_SERVER &&
        "$work/venv/bin/python" -m pytest -q -p no:cacheprovider Bindings/python/tests/test_cluster.py
}

check "build of libquire-cluster" Packaging/build-cluster-library
check "symbols" Tests/C/symbols.sh cluster
check "build of two nodes" gcc -std=c11 -g -IInclude -D_GNU_SOURCE -Wall -Wextra -Werror Tests/C/cluster.c -Lbuild \
    -l:libquire-cluster.so.0 -Wl,-rpath,"$PWD/build" -o "$work/cluster"
check "two nodes in C" nodes
if command -v python3 >/dev/null && [ -e build/libquire-profiles.so.0 ]; then
    check "two nodes in Python" python
else
    skip "two nodes in Python" "no python3, or libquire-profiles is not built"
fi
finish
