#!/usr/bin/env bash
# Builds the three kinds of processes and runs `run` with them.
#
#     Tests/Processes/test.sh [--seconds 30] [--seed 7] [--folder FOLDER]
#
# Ends with 77 where a C compiler or Python's packages cannot be had.
set -uo pipefail
cd "$(dirname "$0")/../.."
SWIFT=${SWIFT:-swift}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skip() { echo "processes: skipped, $1" >&2; exit 77; }

command -v gcc >/dev/null && command -v python3 >/dev/null || skip "no gcc or no python3"
bin=${BUILT:-}  # see Scripts/torture
if [ -z "$bin" ]; then
    build=($SWIFT build -c release --package-path Tools)
    "${build[@]}" --product quire-torture >&2 || exit 1
    bin=$("${build[@]}" --show-bin-path)
    SWIFT="$SWIFT" Packaging/build-library >&2 || exit 1
fi
gcc -O1 -g -std=gnu11 -Wall -Wextra -Werror -IInclude Tests/Processes/worker.c -o "$work/worker" \
    -Lbuild -l:libquire.so.0 -Wl,-rpath,"$PWD/build" || exit 1

python3 -m venv "$work/venv" >&2 || skip "no venv"
cp -r Bindings/python "$work/python" && mkdir "$work/Include" && cp Include/quire.h Include/quire_profiles.h "$work/Include"
mkdir "$work/Bindings" && mv "$work/python" "$work/Bindings/python"
QUIRE_LIBRARY="$PWD/build/libquire.so.0" PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$work/venv/bin/pip" install --quiet "$work/Bindings/python" >&2 || skip "the binding could not be installed"
PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" Tests/Processes/run \
    --swift "$bin/quire-torture" --c "$work/worker" "$@"
