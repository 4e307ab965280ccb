# Sourced by test.sh: what test/packages wants.
prepare_packages() {
  local dir=${RXLET_TEST_PACKAGES_DIR:-/var/lib/rxlet-test-packages} missing=() deb
  command -v lintian >/dev/null || missing+=(lintian)
  # Completions are for them, too.
  command -v zsh >/dev/null || missing+=(zsh)
  command -v fish >/dev/null || missing+=(fish)
  command -v man >/dev/null || missing+=(man-db)
  command -v busybox >/dev/null || missing+=(busybox-static)
  command -v strip >/dev/null || missing+=(binutils)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
  at_exit+=("umount '$dir/debian/proc' 2>/dev/null")
  umount "$dir/debian/proc" 2>/dev/null || true
  rm -rf "$dir/out" "$dir/next" "$dir/tree"
  mkdir -p "$dir/next"
  # A commit meanwhile changes no time.
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
  export SOURCE_DATE_EPOCH RXLET_PACKAGE_LEVEL=1 RXLET_TEST_PACKAGES=$dir/out RXLET_TEST_NEXT_PACKAGES=$dir/next RXLET_TEST_DEBIAN=$dir/debian
  RXLET_TEST_BUILT=yes RXLET_OUT=$RXLET_TEST_PACKAGES hack/package.sh
  deb=$(ls "$RXLET_TEST_PACKAGES"/rxlet_*.deb)
  dpkg-deb -R "$deb" "$dir/tree"
  sed -i 's/^Version: .*/&+next/' "$dir/tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Znone -b "$dir/tree" "$dir/next" >/dev/null
  rm -rf "$dir/tree"
  bare_debian "$RXLET_TEST_DEBIAN"
}
# No maintainer script of Debian's has run there: what they would have made is made here, as far as it is wanted.
bare_debian() { # FOLDER
  local root=$1
  rm -rf "$root"
  unpack bookworm "$root" base-files base-passwd dpkg dash bash coreutils tar gzip sed grep findutils diffutils libc-bin libstdc++6 mount util-linux perl-base init-system-helpers
  [ -e "$root/bin/sh" ] || ln -s dash "$root/bin/sh"
  cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
  cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
  mkdir -p "$root"/{dev,proc,tmp,root,usr/local/bin,var/cache} "$root"/var/lib/dpkg/{info,updates,triggers}
  touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
  echo 'nameserver 127.0.0.1' >"$root/etc/resolv.conf"
  mknod -m 666 "$root/dev/null" c 1 3
  mknod -m 666 "$root/dev/urandom" c 1 9
  mount -t proc proc "$root/proc"
}
