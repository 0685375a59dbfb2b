# Sourced: timed NAME COMMAND... runs the command. Where QUIRE_TIMES names a file, it gets a line: seconds, seconds of
# processors, name.
timed() {
    local name=$1 began=$EPOCHSECONDS status=0 used
    shift
    if [ -z "${QUIRE_TIMES:-}" ]; then "$@"; return; fi
    used=$(mktemp)
    times >"$used"  # of this shell: a subshell has no children yet
    "$@" || status=$?
    times >>"$used"
    awk -v seconds=$((EPOCHSECONDS - began)) -v name="$name" '
        function number(time) { split(time, part, /[ms]/); return part[1] * 60 + part[2] }
        NR % 2 == 0 { before = sum; sum = number($1) + number($2) }
        END { printf "%d\t%.0f\t%s\n", seconds, sum - before, name }' "$used" >>"$QUIRE_TIMES"
    rm -f "$used"
    return "$status"
}
