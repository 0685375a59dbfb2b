#!/bin/sh
# Installs into an empty folder, builds a C program there with plain gcc through pkg-config, and runs it
# where there is nothing but the C library and what quire.pc names. Also: the archive, CMake, DESTDIR.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/usr
PREFIX=$prefix Packaging/install-library
PREFIX=/opt/quire DESTDIR=$work/stage Packaging/install-library
test -f "$work/stage/opt/quire/lib/libquire.so.0"
grep -q '^prefix=/opt/quire$' "$work/stage/opt/quire/lib/pkgconfig/quire.pc"
test -f "$prefix/share/man/man3/quire.3"
test -f "$prefix/share/quire/quire.supp"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# shellcheck disable=SC2046
gcc -std=c99 -o "$work/shared" Bindings/c/walkthrough.c $(pkg-config --cflags --libs quire)
# shellcheck disable=SC2046
gcc -std=c99 -o "$work/archive" -Wl,--gc-sections $(pkg-config --cflags quire) \
    Bindings/c/walkthrough.c "$prefix/lib/libquire.a" \
    $(sed -n 's/^Libs.private: //p' "$prefix/lib/pkgconfig/quire.pc")

# shellcheck disable=SC2046
gcc -std=c11 -D_GNU_SOURCE -o "$work/profiles" Tests/C/profiles.c $(pkg-config --cflags --libs quire-profiles quire)
LD_LIBRARY_PATH=$prefix/lib "$work/profiles" "$work" >/dev/null

# A root with the program, the loader and the libraries, and nothing else.
root=$work/root
mkdir -p "$root/lib64" "$root/lib" "$root/tmp"
cp "$prefix/lib/libquire.so.0" "$root/lib/"
ldd "$prefix/lib/libquire.so.0" | grep -oE '/[^ ]+' | while read -r library; do
    case $library in
    */ld-linux*) cp "$library" "$root$library" ;;
    *) cp "$library" "$root/lib/" ;;
    esac
done
cp "$work/shared" "$work/archive" "$root/"
for program in shared archive; do
    if command -v bwrap >/dev/null && bwrap --ro-bind / / true 2>/dev/null; then
        how=bwrap
        bwrap --bind "$root" / --setenv LD_LIBRARY_PATH /lib --unshare-all \
            "/$program" "/tmp/$program.quire" >"$work/output"
    elif [ "$(id -u)" = 0 ]; then
        how=chroot
        LD_LIBRARY_PATH=/lib chroot "$root" "/$program" "/tmp/$program.quire" >"$work/output"
    else
        how="the usual environment"
        LD_LIBRARY_PATH=$prefix/lib "$work/$program" "$work/$program.quire" >"$work/output"
    fi
    grep -q '^0 findings$' "$work/output"
    echo "$program: runs in $how"
done

if command -v cmake >/dev/null; then
    mkdir "$work/cmake"
    cat >"$work/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(walk C)
find_package(Quire 0.1 REQUIRED)
add_executable(walk $PWD/Bindings/c/walkthrough.c)
target_link_libraries(walk Quire::quire)
add_executable(walk-static $PWD/Bindings/c/walkthrough.c)
target_link_libraries(walk-static Quire::static)
add_executable(profiles $PWD/Tests/C/profiles.c)
target_link_libraries(profiles Quire::quire Quire::profiles)
add_executable(profiles-static $PWD/Tests/C/profiles.c)
target_link_libraries(profiles-static Quire::profiles_static)
END
    cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
        cmake --build "$work/cmake/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$work/cmake/build/walk" "$work/cmake.quire" >/dev/null
    "$work/cmake/build/walk-static" "$work/cmake-static.quire" >/dev/null
    "$work/cmake/build/profiles" "$work" >/dev/null
    "$work/cmake/build/profiles-static" "$work" >/dev/null
    echo "find_package: shared and archive"
fi
