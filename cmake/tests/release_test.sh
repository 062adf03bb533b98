#!/bin/sh
# The tarball of cmake/release.sh has the same bytes whenever and however it is packed, and everything that lnbench
# needs. (bare_debian_test.sh compares builds in two folders.)
# usage: release_test.sh SOURCE BUILD
set -eu
source=$1 build=$2
for program in dpkg-query readelf; do
    command -v $program >/dev/null || { echo "skipped: $program is not there" && exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000
(umask 077 && TZ=Asia/Tokyo "$source/cmake/release.sh" --pack "$build" "$work/one")
LC_ALL=C.UTF-8 "$source/cmake/release.sh" --pack "$build" "$work/another folder"
cmp "$work"/one/*.tar.gz "$work/another folder"/*.tar.gz

cd "$work"
tar -xf one/*.tar.gz
cd lnbench-*
[ "$(stat -c %Y bin/lnbench)" = $SOURCE_DATE_EPOCH ]
# Every library but libc's is in the tarball, where the program looks for it, and none is taken from this machine.
LD_LIBRARY_PATH=$PWD/lib ldd bin/* | awk '$2 == "=>" && $1 !~ /^lib(c|m|dl|rt|pthread)\.so/ { print $3 }' |
    grep -v "^$PWD/" && echo "these are not of the tarball" && exit 1
for file in layernorm.h layernorm_plugin.h; do [ -s include/$file ]; done
ls share/doc/lnbench/libmpfr6.copyright share/doc/lnbench/libstdc++6.copyright
LNBENCH_PEERS=0 bin/lnbench list kernels | grep '^two_pass_f32_scalar '
mkdir elsewhere && cd elsewhere
LNBENCH_PEERS=0 ../bin/lnbench run --plan quick --only accuracy --kernels two_pass_f32_scalar --shapes 4x64 \
    --conventions torch --inputs normal --db r.db
[ -s charts/index.html ] || [ -s results/charts/index.html ]
