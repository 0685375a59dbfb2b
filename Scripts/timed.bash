# Sourced: timed NAME COMMAND... runs the command. Where QUIRE_TIMES names a file, it gets a line: seconds, name.
timed() {
    local name=$1 began=$EPOCHSECONDS status=0
    shift
    "$@" || status=$?
    [ -z "${QUIRE_TIMES:-}" ] || printf '%d\t%s\n' $((EPOCHSECONDS - began)) "$name" >>"$QUIRE_TIMES"
    return "$status"
}
