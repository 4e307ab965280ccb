# Sourced by package.sh: Debian packages, by dpkg-deb alone.
maintainer=${RXLET_MAINTAINER:-The rxlet authors <packages@rxlet.dev>}
make_deb() {
  local root=$work/deb share=$work/deb/usr/share
  stage_program "$root/usr/lib/rxlet"
  mkdir -p "$root"/usr/bin "$root"/etc/rxlet/manifests
  ln -s ../lib/rxlet/bin/rxlet "$root/usr/bin/rxlet"
  install -D -m 644 hack/packages/debian/config.yaml "$root/etc/rxlet/config.yaml"
  install -D -m 644 hack/packages/debian/default "$root/etc/default/rxlet"
  install -D -m 644 manifests/systemd/rxlet.service "$root/usr/lib/systemd/system/rxlet.service"
  install -D -m 644 manifests/systemd/hardening.conf "$root/usr/lib/systemd/system/rxlet.service.d/10-hardening.conf"
  install -D -m 644 dist/rxlet.8 "$share/man/man8/rxlet.8"
  gzip -9n "$share/man/man8/rxlet.8"
  completion() { mkdir -p "$(dirname "$share/$2")"; node dist/rxlet.js completion "$1" >"$share/$2"; }
  completion bash bash-completion/completions/rxlet
  completion zsh zsh/vendor-completions/_rxlet
  completion fish fish/vendor_completions.d/rxlet.fish
  install -D -m 644 hack/packages/debian/lintian-overrides "$share/lintian/overrides/rxlet"
  mkdir -p "$share/doc/rxlet"
  cp README.md "$share/doc/rxlet/"
  mkdir -p "$share/doc/rxlet/examples"
  cp manifests/examples/*.yaml "$share/doc/rxlet/examples/"
  finish_deb rxlet "$debian_arch" "$root" conffiles postinst prerm postrm

  root=$work/deb-kubelet
  mkdir -p "$root/usr/bin"
  ln -s rxlet "$root/usr/bin/kubelet"
  install -D -m 644 manifests/systemd/kubelet.service "$root/usr/lib/systemd/system/kubelet.service"
  sed -i '/^#   /d; /^# Without kubeadm/d' "$root/usr/lib/systemd/system/kubelet.service"
  install -D -m 644 manifests/systemd/kubelet.service.d/10-kubeadm.conf "$root/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
  sed -i '/^#   /d' "$root/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
  install -D -m 644 manifests/systemd/hardening.conf "$root/usr/lib/systemd/system/kubelet.service.d/20-hardening.conf"
  mkdir -p "$root/usr/share/man/man8"
  ln -s rxlet.8.gz "$root/usr/share/man/man8/kubelet.8.gz"
  finish_deb rxlet-kubelet all "$root"
}
finish_deb() { # NAME ARCH ROOT [CONTROL FILE...]: copyright, changelog, control files, and the package itself
  local name=$1 of=$2 root=$3 kubernetes; shift 3
  # Under this name it says which kubelet it stands for: "Kubernetes v1.36.2".
  kubernetes=$(RXLET_INVOKED_AS=kubelet node dist/rxlet.js --version)
  mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$name"
  cp hack/packages/debian/copyright "$root/usr/share/doc/$name/copyright"
  printf 'rxlet (%s) unstable; urgency=medium\n\n  * Release %s: see CHANGELOG.md of its sources.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$(date -R -u -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$root/usr/share/doc/$name/changelog.gz"
  local file
  for file; do install -m "$([ "$file" = conffiles ] && echo 644 || echo 755)" "hack/packages/debian/$file" "$root/DEBIAN/$file"; done
  (cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  sed -e "s/@VERSION@/$version/; s|@MAINTAINER@|$maintainer|; s/@ARCH@/$of/; s/@KUBERNETES@/${kubernetes#* v}/; s/@SIZE@/$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)/" \
    "hack/packages/debian/$name.control" >"$root/DEBIAN/control"
  # Folders below one that passes its group on do so, too, which dpkg-deb refuses.
  chmod -R g-s,go-w "$root"
  set_times "$root"
  dpkg-deb --root-owner-group --threads-max=2 -Zxz -z"$level" --build "$root" "$out/${name}_${version}_$of.deb" >/dev/null
}
