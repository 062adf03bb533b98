#!/bin/sh
# Tests the Debian packages, and the commands of docs/python.md, in a bare Debian that debootstrap makes. Takes ten
# minutes, and needs root and LNBENCH_FULL. exit code 77: skipped
# usage: bare_debian_test.sh SOURCE [DEBIAN]   (DEBIAN: a root made earlier by debootstrap)
set -eu
source=$1 given=${2-}
skip() {
    echo "skipped: $*"
    exit 77
}
[ -n "${LNBENCH_FULL-}" ] || skip "takes minutes (./run-tests --full)"
[ "$(id -u)" = 0 ] || skip "needs root, for chroot"
for program in cpack dpkg-shlibdeps help2man debootstrap unshare; do
    command -v $program >/dev/null || skip "$program is not there"
done
unshare --mount true || skip "mounts of one's own are not allowed here"
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
said() {
    "$@" >"$work/log" 2>&1 || {
        echo "failed: $*"
        tail -n 40 "$work/log"
        exit 1
    }
}

# in_debian ROOT COMMAND...: unmounts when the command ends, and passes only PATH to it.
in_debian() {
    # shellcheck disable=SC2016 # these are the inner shell's
    unshare --mount --propagation private sh -euc '
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount -t sysfs sysfs "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
        cp /etc/resolv.conf "$root/etc/resolv.conf"
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin HOME=/root \
            DEBIAN_FRONTEND=noninteractive "$@"' sh "$@"
}

if [ -z "$given" ]; then
    given=$work/bare
    debootstrap --variant=minbase bookworm "$given" >"$work/log" 2>&1 ||
        skip "debootstrap failed: $(tail -n 1 "$work/log")"
fi

# ---- packages ----

# One commit gives the same bytes in two folders.
said env CCACHE_DISABLE=1 "$source/cmake/release.sh" "$work/release"
said env CCACHE_DISABLE=1 "$source/cmake/release.sh" "$work/in another/folder"
diff "$work/release/SHA256SUMS" "$work/in another/folder/SHA256SUMS"
cd "$work/release"
said sha256sum -c SHA256SUMS
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning ./*.deb
fi
cp -a "$given" "$work/debian"
cp ./*.deb "$source"/lnjudge/examples/* "$work/debian/tmp"
cat >"$work/debian/tmp/packages.sh" <<'END'
set -eux
cd /tmp
apt-get update
apt-get install -y --no-install-recommends ./lnbench_*.deb ./lib*[0-9]_*.deb
cd /root
lnbench run --plan quick
test -s results/charts/index.html
lnbench report --verify results/charts/index.html
cd /tmp
apt-get install -y --no-install-recommends ./*.deb gcc g++ libc6-dev cmake make pkg-config
cmake -S . -B build
cmake --build build
ldd build/unit_test | grep 'liblnjudge.so.0 => /lib/'
build/unit_test | grep ^pass
cc -o by_pkg_config unit_test.c $(pkg-config --cflags --libs lnjudge layernorm hayai) -lm
./by_pkg_config | grep ^pass
dpkg --purge liblnjudge-dev libhayai-dev liblayernorm-dev liblnjudge0 lnbench libhayai0.2 liblayernorm0
test -z "$(find /usr -name '*layernorm*' -o -name '*lnjudge*' -o -name '*hayai*' -o -name '*lnbench*')"
END
said in_debian "$work/debian" sh /tmp/packages.sh
rm -rf --one-file-system "$work/debian"

# The tarball runs where nothing was installed.
cp -a "$given" "$work/debian"
tar -C "$work/debian/root" -xf ./*.tar.gz
said in_debian "$work/debian" sh -euxc 'cd /root && lnbench-*/bin/lnbench run --plan quick
    lnbench-*/bin/lnbench report --verify results/charts/index.html'
grep 'gnuplot was not found' "$work/log"
rm -rf --one-file-system "$work/debian"

# ---- Python ----

cp -a "$given" "$work/python"
mkdir "$work/python/source"
git -C "$source" ls-files -z | tar -C "$source" --null -T - -cf - | tar -C "$work/python/source" -xf -
{
    echo 'set -eux; cd /source'
    sed -n 's/^    \(apt-get update\|python3 -m venv\) /\1 /p' "$source/docs/python.md"
    echo '/source/env/bin/python python/tests/run_notebook.py docs/lnbench.ipynb'
    echo '/source/env/bin/python -m lnbench list kernels | grep two_pass'
} >"$work/python/tmp/python.sh"
said in_debian "$work/python" sh /tmp/python.sh
grep '^Successfully installed lnbench' "$work/log"
