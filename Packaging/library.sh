# What build-library and build-cluster-library share: how modules are compiled and libraries linked. They stand in the
# root of the checkout. $targets are built of the tool's package, where the tool itself is built too.

root=$PWD
swift=${SWIFT:-swift}
. Packaging/profile.sh
options="-c release --package-path Tools $profiled"
# shellcheck disable=SC2086,SC2154
for target in $targets; do "$swift" build $options --target "$target"; done
# shellcheck disable=SC2086
bin=$("$swift" build $options --show-bin-path)
runtime=$(dirname "$(dirname "$(readlink -f "$(command -v "$swift")")")")/lib/swift_static/linux
package=$(sed -n 's/.*"-module-name","QuireC".*"-package-name","\([^"]*\)".*/\1/p' \
    "$bin/../../release.yaml" | head -1)

# objects TARGET: of all its sources. Objects of sources that are gone may still lie in the folder of the build.
objects() { find "Sources/$1" -name '*.swift' | sed "s|.*/|$bin/$1.build/|; s|\$|.o|"; }

# link NAME EXPORTS OBJECTS... -- LIBRARIES... -- ARCHIVES...: one library, shared and as an archive. EXPORTS: the
# names that it has. LIBRARIES stay outside; ARCHIVES of the Swift runtime come into the archive. A program can have
# only one such archive, because the linker joins their metadata: libquire-profiles.a holds all of libquire, too.
link() {
    name=$1 map=$2
    shift 2
    files='' libraries='' archives=''
    while [ "$1" != -- ]; do files="$files $1" && shift; done
    shift
    while [ "$1" != -- ]; do libraries="$libraries $1" && shift; done
    shift
    archives=$*
    # Linked here and not by SwiftPM: linker flags in Package.swift would keep others from depending on it. By lld:
    # gold leaves names that are not exported in the table of dynamic symbols. Nothing may be undefined.
    # shellcheck disable=SC2086
    "${swift}c" -emit-library -static-stdlib -use-ld=lld -o "build/$name.so.0" $files -Xlinker --as-needed \
        $libraries -L"$runtime" $archives -Xlinker -z -Xlinker defs -Xlinker --version-script="$root/Packaging/$map.map" -Xlinker --gc-sections \
        -Xlinker -soname="$name.so.0" -Xlinker -s
    ln -sf "$name.so.0" "build/$name.so"
    # One object with everything in it and nothing but the C API visible. The sections of Swift's metadata
    # are kept; --gc-sections of the program drops what it does not use.
    # shellcheck disable=SC2086
    ld -r -o "build/$name.o" $files "$runtime/$(uname -m)/swiftrt.o" -L"$runtime" $archives
    objcopy --wildcard --keep-global-symbol='quire_*' --strip-debug "build/$name.o"
    rm -f "build/$name.a"
    ar rcs "build/$name.a" "build/$name.o"
    rm "build/$name.o"
    ls -l "build/$name.so.0" "build/$name.a" | awk '{ print $5, $NF }'
}

# module NAME SOURCES...: compiles a module into $parts, as one of this package.
module() {
    name=$1
    shift
    # shellcheck disable=SC2086
    "${swift}c" -O -wmo -swift-version 6 -parse-as-library -module-name "$name" -package-name "$package" \
        -I "$parts" -I "$bin/Modules" -Xcc -fmodule-map-file="$root/Sources/CLMDB/module.modulemap" \
        -Xcc -fmodule-map-file="$bin/CQuire.build/module.modulemap" $modules -emit-module \
        -emit-module-path "$parts/$name.swiftmodule" -c -o "$parts/$name.o" "$@"
}
