# For scripts that run checks: they set $work to a folder, source this, and call finish at the end.
# shellcheck shell=sh disable=SC2034,SC2154
passed=0 failed=0 skipped=0

# check NAME COMMAND...: its output is shown only when it fails, its last line always.
check() {
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        printf 'passed   %-34s %s\n' "$name" "$(tail -1 "$work/log")"
    else
        failed=$((failed + 1))
        printf 'FAILED   %s\n' "$name"
        cat "$work/log"
    fi
}

skip() {
    skipped=$((skipped + 1))
    printf 'skipped  %-34s %s\n' "$1" "$2"
}

# Prints the counts, and fails if a check has.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
