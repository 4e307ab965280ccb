#!/bin/bash
# Runs tests against today's Docker Engine, whatever this machine has: Docker, containerd and runc of a newer Debian are unpacked into a
# cache and made to run beside the machine's own. Nothing of them is installed. The suite moves: the versions that were met are printed.
#   hack/modern.sh [contract|integration|cluster]...   contract where nothing is named: two minutes, and half a minute for the packages
# $RXLET_MODERN_SUITE: sid unless set; $RXLET_MODERN_CACHE: where it is unpacked, remove it for newer packages. Needs root and Debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { echo "modern.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. hack/apt.sh

suite=${RXLET_MODERN_SUITE:-sid}
cache=${RXLET_MODERN_CACHE:-/var/cache/rxlet-docker-$suite}
programs=(dockerd docker docker-proxy docker-init containerd containerd-shim-runc-v2 ctr runc)

# Packages with all that they depend on; no maintainer script runs, and the machine's own apt knows nothing of it.
unpack() { # ROOT PACKAGE...
  local root=$1 apt uri deb dir; shift
  apt=$(mktemp -d)
  mkdir -p "$apt"/{lists/partial,sources,cache/archives/partial} "$root"
  : >"$apt/status"
  uri=$(grep -hm1 '^URIs:' /etc/apt/sources.list.d/debian.sources) || die "no Debian mirror in /etc/apt/sources.list.d/debian.sources"
  printf 'Types: deb\n%s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' "$uri" "$suite" >"$apt/sources/modern.sources"
  local get=(apt-get -qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/sources" -o "Dir::State::Lists=$apt/lists"
    -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  { "${get[@]}" update && "${get[@]}" install -y --no-install-recommends --download-only "$@"; } >"$apt/log" 2>&1 \
    || { tail -n 20 "$apt/log" >&2; rm -rf "$apt"; die "could not get $* of Debian's $suite"; }
  for dir in bin sbin lib lib64; do mkdir -p "$root/usr/$dir"; ln -sfn "usr/$dir" "$root/$dir"; done
  for deb in "$apt"/cache/archives/*.deb; do
    dpkg --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*'
  done
  rm -rf "$apt"
}

# A copy of each program that finds the libraries which came with it.
make_programs() { # ROOT BIN FROM: libraries are at ROOT in the end; from FROM into BIN
  local root=$1 bin=$2 from=$3 program file libraries loader
  mkdir -p "$bin"
  libraries=$(basename "$(dirname "$(ls "$from"/usr/lib/*/libc.so.6)")")
  loader=$(basename "$(ls "$from"/usr/lib64/ld-linux-*.so.* "$from"/usr/lib/ld-linux-*.so.* 2>/dev/null | head -n1)")
  for program in "${programs[@]}"; do
    file=$(find "$from/usr/bin" "$from/usr/sbin" "$from/usr/libexec" "$from/usr/lib" -name "$program" \( -type f -o -type l \) 2>/dev/null | head -n1)
    [ -n "$file" ] || die "Debian's $suite has no $program where it was looked for: update hack/modern.sh"
    cp -L "$file" "$bin/$program"
    if patchelf --print-interpreter "$bin/$program" >/dev/null 2>&1; then
      patchelf --set-interpreter "$root/usr/lib/$libraries/$loader" --force-rpath --set-rpath "$root/usr/lib/$libraries:$root/usr/lib/$libraries/systemd" "$bin/$program"
    fi
  done
}

[ "$(id -u)" = 0 ] || die "needs root"
if [ ! -d "$cache/bin" ]; then
  command -v patchelf >/dev/null || apt_install patchelf
  say "unpacking Docker of Debian's $suite into $cache, once"
  rm -rf "$cache" "$cache.new"
  unpack "$cache.new/root" docker.io docker-cli containerd runc iptables
  make_programs "$cache/root" "$cache.new/bin" "$cache.new/root"
  mv "$cache.new" "$cache"
fi
export PATH=$cache/bin:$PATH
say "$(dockerd --version); $(containerd --version); $(runc --version | head -n1)"
[ $# -gt 0 ] || set -- contract
RXLET_TEST_ENGINE_DIR=${RXLET_TEST_ENGINE_DIR:-/var/lib/rxlet-test-modern-engine} hack/test.sh "$@"
