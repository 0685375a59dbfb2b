#!/usr/bin/env bash
# The package that Packaging/write-swift-package writes builds where liblmdb-dev is not installed, by itself and as a
# dependency, without a warning.
#
#     Tests/Package/swift-package.sh          ends with N passed, N failed, N skipped
#     ENGINE=yes Tests/Package/swift-package.sh    the engine's tests too, many minutes
set -uo pipefail
cd "$(dirname "$0")/../.."
SWIFT=${SWIFT:-swift}
unset QUIRE_OPTIMIZED  # what others build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
package=$work/swift-package

pass() { echo "ok: $1"; passed=$((passed + 1)); }
fail() { echo "FAILED: $1" >&2; failed=$((failed + 1)); }
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
    exit
}

# A changed archive is refused, before anything is written.
head -c 1000 /dev/zero >"$work/other.tar.gz"
if LMDB_ARCHIVE=$work/other.tar.gz Packaging/fetch-lmdb "$work/fetched" >/dev/null 2>"$work/complaint"; then
    fail "another archive is taken for LMDB's"
elif grep -q "another checksum" "$work/complaint"; then
    pass "an archive with another checksum is refused"
else
    fail "an archive with another checksum: $(cat "$work/complaint")"
fi

Packaging/write-swift-package "$package"
status=$?
if [ $status = 77 ]; then
    echo "skipped: LMDB's sources cannot be had here" >&2
    skipped=$((skipped + 3))
    finish
elif [ $status != 0 ]; then
    fail "the package cannot be written"
    finish
fi

# What liblmdb-dev installs cannot be read in a mount namespace of its own.
hidden=()
while read -r file; do [ -f "$file" ] && hidden+=("$file"); done < <(
    ls /usr/include/lmdb.h /usr/lib/*/liblmdb.a /usr/lib/*/liblmdb.so /usr/lib/*/pkgconfig/lmdb.pc 2>/dev/null)
echo '#error "the header of liblmdb-dev"' >"$work/lmdb.h"
# without_lmdb COMMAND...
without_lmdb() {
    # shellcheck disable=SC2016
    unshare --map-root-user --mount bash -c '
        header=$1 count=$2
        for file in "${@:3:count}"; do mount --bind "$header" "$(readlink -f "$file")" || exit 78; done
        for file in "${@:3:count}"; do cmp -s "$header" "$file" || exit 78; done
        exec "${@:3 + count}"' hide "$work/lmdb.h" ${#hidden[@]} "${hidden[@]}" "$@"
}
without_lmdb true 2>/dev/null
case $? in
    0) ;;
    78) fail "liblmdb-dev cannot be hidden"; finish ;;
    *)
        if [ ${#hidden[@]} -gt 0 ]; then
            echo "skipped: no mount namespaces here, liblmdb-dev stays in view" >&2
            skipped=$((skipped + 1))
        fi
        without_lmdb() { "$@"; } ;;
esac

# It holds all that the engine and the pager are made of, as in the tree.
if diff -r Sources/Quire "$package/Sources/Quire" && diff -r Sources/QuirePaging "$package/Sources/QuirePaging" &&
    [ -s "$package/Sources/CLMDB/LICENSE" ]; then
    pass "the sources are those of the tree, with LMDB's licence"
else
    fail "the sources differ from those of the tree"
fi

# A program depends on it.
mkdir -p "$work/App/Sources/App"
awk '/^```/ { if (inside) exit; inside = ($0 == "```swift"); next } inside' README.md >"$work/App/Sources/App/main.swift"
echo 'import QuirePaging' >"$work/App/Sources/App/paging.swift"
cat >"$work/App/Package.swift" <<END
// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "Quire", path: "$package")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Quire", package: "Quire"), .product(name: "QuirePaging", package: "Quire"),
            ])
    ]
)
END
if ! output=$(without_lmdb $SWIFT build --package-path "$work/App" \
    --disable-index-store -debug-info-format none 2>&1); then
    echo "$output" >&2
    fail "a program that depends on it does not build"
elif grep -i "warning" <<<"$output" >&2; then
    fail "it builds with a warning"
elif program=$($SWIFT build --package-path "$work/App" --show-bin-path)/App && ldd "$program" | grep lmdb; then
    fail "the program is linked with the system's LMDB"
elif output=$(cd "$work" && "$program" 2>&1) && grep -q "^ok 1 new$" <<<"$output"; then
    pass "a program that depends on it builds without liblmdb-dev and runs"
else
    fail "the program prints: $output"
fi

if [ -n "${ENGINE:-}" ]; then
    # Optimised, as `make test` does.
    without_lmdb $SWIFT test --package-path "$package" -Xswiftc -O -Xcc -O2 --disable-xctest 2>&1 |
        tee "$work/log" | grep --line-buffered -E "^✘|^✔ Test run|error:|➜"
    if [ "${PIPESTATUS[0]}" = 0 ] && line=$(grep -E "^✔ Test run with [0-9]+ tests" "$work/log"); then
        pass "the engine's tests: $line"
    else
        fail "the engine's tests"
    fi
fi
finish
