#!/usr/bin/env bash
# A package outside of the tree depends on Quire, by path and by the address of a repository: it fetches nothing else,
# builds without a warning, and runs the programs of the README and of the article.
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

# try NAME DEPENDENCY IDENTITY PINS
try() {
    local folder=$work/$1 output pins
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
        .executableTarget(name: "App", dependencies: [.product(name: "Quire", package: "$3")]),
        .executableTarget(name: "Article", dependencies: [.product(name: "Quire", package: "$3")]),
    ]
)
END
    if ! output=$($SWIFT build --package-path "$folder" 2>&1); then
        echo "$output" >&2
        fail "$1: it does not build"
        return
    fi
    if grep -i "warning" <<<"$output" >&2; then fail "$1: it builds with a warning"; return; fi
    pins=$(grep -c '"identity"' "$folder/Package.resolved" 2>/dev/null || true)
    if [ "${pins:-0}" != "$4" ]; then fail "$1: it fetches ${pins:-0} packages instead of $4"; return; fi
    output=$(cd "$folder" && "$($SWIFT build --show-bin-path)/App" 2>&1) || { fail "$1: $output"; return; }
    grep -q "^ok 1 new$" <<<"$output" || { fail "$1: the program prints: $output"; return; }
    output=$(cd "$folder" && "$($SWIFT build --show-bin-path)/Article" 2>&1) || { fail "$1: $output"; return; }
    [ "$output" = "$(block text)" ] || { fail "$article prints: $output"; return; }
    passed=$((passed + 1))
}

try path ".package(name: \"quire\", path: \"$root\")" quire 0
git clone --quiet --bare "$root" "$work/quire.git" && git -C "$work/quire.git" branch --force app HEAD
try repository ".package(url: \"file://$work/quire.git\", branch: \"app\")" quire 1

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
