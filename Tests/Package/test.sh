#!/usr/bin/env bash
# A package outside of the tree depends on Quire, by path and by the address of a repository: it fetches nothing else,
# builds without a warning, and runs the programs of the README and of the article.
#
# From the repository it is built as others build it. By path it is built on what Scripts/test has built: the same
# sources, compiled a second time in the same way, would show nothing new.
#
#     Tests/Package/test.sh     ends with N passed, N failed, N skipped
set -uo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
SWIFT=${SWIFT:-swift}
unset QUIRE_OPTIMIZED  # what others build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

fail() { echo "FAILED: $1" >&2; failed=$((failed + 1)); }

# The first Swift block of the README.
program=$(awk '/^```/ { if (inside) exit; inside = ($0 == "```swift"); next } inside' README.md)
[ -n "$program" ] || fail "README.md: there is no program in Swift"
article=Docs/Quire.docc/FiveMinutesSwift.md
# block MARK: the last block of the article with this mark.
block() {
    awk -v mark="\`\`\`$1" '$0 == mark { on = 1; text = ""; next } /^```/ { on = 0 } on { text = text $0 "\n" }
        END { printf "%s", text }' "$article"
}

# try NAME DEPENDENCY PINS [OPTION...]: with these options of `swift build`.
try() {
    local folder=$work/$1 output pins build bin
    build=($SWIFT build --package-path "$folder" "${@:4}")
    mkdir -p "$folder/Sources/App" "$folder/Sources/Article"
    echo "$program" >"$folder/Sources/App/main.swift"
    block swift >"$folder/Sources/Article/main.swift"
    cat >"$folder/Package.swift" <<END
// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.macOS(.v15)],
    dependencies: [$2],
    targets: [
        .executableTarget(name: "App", dependencies: [.product(name: "Quire", package: "quire")]),
        .executableTarget(name: "Article", dependencies: [.product(name: "Quire", package: "quire")]),
    ]
)
END
    if ! output=$("${build[@]}" 2>&1); then
        echo "$output" >&2
        fail "$1: it does not build"
        return
    fi
    if grep -i "warning" <<<"$output" >&2; then fail "$1: it builds with a warning"; return; fi
    pins=$(grep -c '"identity"' "$folder/Package.resolved" 2>/dev/null || true)
    if [ "${pins:-0}" != "$3" ]; then fail "$1: it fetches ${pins:-0} packages instead of $3"; return; fi
    bin=$("${build[@]}" --show-bin-path)
    output=$(cd "$folder" && "$bin/App" 2>&1) || { fail "$1: $output"; return; }
    grep -q "^ok 1 new$" <<<"$output" || { fail "$1: the program prints: $output"; return; }
    output=$(cd "$folder" && "$bin/Article" 2>&1) || { fail "$1: $output"; return; }
    [ "$output" = "$(block text)" ] || { fail "$article prints: $output"; return; }
    passed=$((passed + 1))
}

QUIRE_OPTIMIZED=1 try path ".package(name: \"quire\", path: \"$root\")" 0 \
    --scratch-path "$root/.build" --disable-build-manifest-caching  # see Scripts/test
git clone --quiet --bare "$root" "$work/quire.git" && git -C "$work/quire.git" branch --force app HEAD
try repository ".package(url: \"file://$work/quire.git\", branch: \"app\")" 1 \
    --disable-index-store -debug-info-format none

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
