# Sourced in the root of the checkout. Sets $profiled: how `swift build` compiles for what Scripts/profile found out, if
# QUIRE_PROFILE names the file that it wrote. It builds in a folder of its own then.

profiled=''
if [ -n "${QUIRE_PROFILE-}" ]; then
    [ -f "$QUIRE_PROFILE" ] || { echo "no file $QUIRE_PROFILE; Scripts/profile writes one" >&2; exit 1; }
    profiled="--scratch-path build/profiled -Xswiftc -Xfrontend"
    profiled="$profiled -Xswiftc -ir-profile-use=$(readlink -f "$QUIRE_PROFILE")"
fi
