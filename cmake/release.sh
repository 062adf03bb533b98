#!/bin/sh
# Makes a release: Debian packages, a tarball with all its libraries but libc, and their hashes. The bytes depend only
# on the commit, not on folder or time.
#     cmake/release.sh OUT [COMMIT]          (default: HEAD; OUT/build is temporary)
#     cmake/release.sh --pack BUILD OUT      only the tarball, from an existing build
# Needs the packages that build lnbench, and dpkg-dev, git, help2man.
set -eu
umask 022
export TZ=UTC

stop() {
    echo "release.sh: $*" >&2
    exit 7
}

# own_libraries PROGRAM...: prints the libraries that the program needs, except those of libc and of the build.
own_libraries() {
    ldd "$@" | sed -n 's/^\t[^ ]* => \(.*\) (0x[0-9a-f]*)$/\1/p' | sort -u |
        grep -v -e "^$build/" -e "^$tree/" -e '/lib\(c\|m\|dl\|rt\|pthread\|resolv\)\.so[.0-9]*$'
}

# Copies the program and its libraries from the build, where it finds all files relative to itself; installs the rest;
# copies other libraries with their licences.
fill() {
    cmake --install "$build" --prefix "$tree" >"$out/install.log"
    rm -r "${tree:?}/lib" "$tree/libexec" "${tree:?}/bin"
    mkdir -p "$tree/bin" "$tree/lib" "$tree/share/doc/lnbench"
    cp "$build/bin/lnbench" "$build/bin/lnbench-worker" "$tree/bin"
    cp -P "$build"/lib/lib*.so* "$tree/lib"
    own_libraries "$tree"/bin/* "$tree"/lib/lib*.so | while read -r library; do
        [ -f "$library" ] || stop "$library was not found"
        cp -L "$library" "$tree/lib"
        package=$({ dpkg-query -S "$library" "/usr$library" 2>/dev/null || :; } | sed 's/:.*//;q')
        cp -L "/usr/share/doc/$package/copyright" "$tree/share/doc/lnbench/$package.copyright"
    done
    end_paths
    strip --strip-unneeded "$tree"/bin/* "$tree"/lib/lib*.so.*
    gzip -9nf "$tree"/share/man/man*/*
}

# CMake ends the RPATH of a build with a colon; the empty path behind it would mean the current folder.
end_paths() {
    # shellcheck disable=SC2016 # the loader's word
    for file in "$tree"/bin/* "$tree"/lib/lib*.so.*.*; do
        ! readelf -d "$file" | grep -q 'ORIGIN/../lib:' ||
            echo "file(RPATH_CHANGE FILE \"$file\" OLD_RPATH \"\$ORIGIN/../lib:\" NEW_RPATH \"\$ORIGIN/../lib\")"
    done >"$out/paths.cmake"
    cmake -P "$out/paths.cmake" >>"$out/install.log"
    rm "$out/paths.cmake"
}

# Makes the tarball with sorted names, the commit's time and no owners.
pack() {
    name=lnbench-$version-linux-$(uname -m)
    tree=$out/$name
    rm -rf "$tree"
    fill
    tar --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u=rwX,go=rX -C "$out" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
    rm -r "$tree" "$out/install.log"
}

root=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^project(lnbench VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
if [ "${1-}" = --pack ]; then
    [ $# = 3 ] || stop "usage: release.sh --pack BUILD OUT"
    build=$(cd "$2" && pwd)
    mkdir -p "$3"
    out=$(cd "$3" && pwd)
    : "${SOURCE_DATE_EPOCH:=0}"
    export LC_ALL=C
    pack
    exit
fi
case $#${1-} in [12][!-]*) ;; *) stop "usage: release.sh OUT [COMMIT]" ;; esac
mkdir -p "$1"
out=$(cd "$1" && pwd)
commit=$(git -C "$root" rev-parse "${2-HEAD}^{commit}")
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
rm -rf "$out/build"
git clone -q --no-checkout "$root" "$out/build"
git -C "$out/build" checkout -q --detach "$commit"
build=$out/build/build/packages
(cd "$out/build" && cmake --preset packages && cmake --build --preset packages) >"$out/build.log" 2>&1 ||
    stop "the build failed: $out/build.log"
export LC_ALL=C # not for the build: ccache distinguishes locales
(cd "$build" && cpack) >>"$out/build.log" 2>&1 || stop "cpack failed: $out/build.log"
cp "$build"/*.deb "$out"
pack
rm -rf "$out/build" "$out/build.log"
(cd "$out" && sha256sum ./*.deb ./*.tar.gz >SHA256SUMS)
cat "$out/SHA256SUMS"
