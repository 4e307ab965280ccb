#!/bin/bash
# Makes what is installed, into out/ or the folder that RXLET_OUT names:
#   hack/package.sh npm        rxlet-VERSION.tgz, for npm install -g
#   hack/package.sh deb        rxlet_VERSION_ARCH.deb, and rxlet-kubelet_VERSION_all.deb, which makes it the machine's kubelet
#   hack/package.sh binary     rxlet-linux-ARCH, one file that runs where it lies
#   hack/package.sh image      rxlet-image-ARCH.tar, for docker load and other engines
#   hack/package.sh            all of them, with a bill of materials (CycloneDX) and SHA256SUMS
# The same checkout makes the same bytes on the same release of Debian: times are those of its last commit, or SOURCE_DATE_EPOCH.
# RXLET_MAINTAINER is who answers for the Debian packages: "Jane Doe <jane@example.org>".
# RXLET_PACKAGE_LEVEL is how hard is compressed: 1 fast, 9 small.
. "$(dirname "$0")/setup.sh"
say() { echo "package.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. hack/apt.sh
. hack/root-fs.sh
. hack/packages/stage.sh
. hack/packages/deb.sh
. hack/packages/binary.sh
. hack/packages/image.sh

[ $# -gt 0 ] || set -- npm deb binary image release
for kind; do
  case $kind in npm | deb | binary | image | release) ;; *) echo "usage: hack/package.sh [npm|deb|binary|image]..." >&2; exit 2 ;; esac
done
[ -n "${RXLET_TEST_BUILT:-}" ] || { setup_npm; npm run -s build >/dev/null; }

version=$(node -p 'require("./package.json").version')
case $(uname -m) in
  x86_64) arch=x64 debian_arch=amd64 image_arch=amd64 ;;
  aarch64) arch=arm64 debian_arch=arm64 image_arch=arm64 ;;
  *) die "there is no Node.js for $(uname -m) among the npm packages" ;;
esac
level=${RXLET_PACKAGE_LEVEL:-6}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022
out=${RXLET_OUT:-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_npm() { npm pack --ignore-scripts --silent --pack-destination "$out" >/dev/null; }
make_release() {
  node hack/bill-of-materials.ts "$arch" >"$out/rxlet-$version.cdx.json"
  (cd "$out" && rm -f SHA256SUMS && sha256sum -- * >"$work/SHA256SUMS" && cp "$work/SHA256SUMS" SHA256SUMS)
}
for kind; do "make_$kind"; done
(cd "$out" && ls -l --block-size=K -- *) >&2
