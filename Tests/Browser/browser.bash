# find_browser: prints Chromium's path; installs it where apt-get can.
find_browser() {
    local name as_root=
    for name in chromium chromium-browser google-chrome; do
        if command -v $name; then return; fi
    done
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    {
        $as_root apt-get install -y --no-install-recommends chromium ||
            { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends chromium; }
    } >/dev/null 2>&1
    command -v chromium
}
