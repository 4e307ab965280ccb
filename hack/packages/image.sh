# Sourced by package.sh: an OCI layout that docker load takes as well, made without an engine out of what this machine has.
make_image() {
  local root=$work/image layout=$work/layout layer config manifest
  command -v busybox >/dev/null || apt_install busybox-static
  base "$root"
  stage_program "$root/usr/lib/rxlet"
  libraries "$root" "$root/usr/lib/rxlet/node_modules/node-linux-$arch/bin/node"
  # What the agent runs beside the engine; the rest of util-linux is busybox's.
  local name
  for name in nsenter mount umount setpriv; do rm -f "$root/bin/$name"; program "$root" "$name"; done
  ln -s ../lib/rxlet/bin/rxlet "$root/usr/bin/rxlet"
  mkdir -p "$root/etc/rxlet/manifests" "$root/var/cache" "$layout/blobs/sha256"
  find "$root" -type d ! -path "$root/tmp" -exec chmod 755 {} +

  tar_of "$root" >"$work/layer.tar"
  local diff; diff=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
  gzip -n -"$level" "$work/layer.tar"
  layer=$(blob "$work/layer.tar.gz")
  local created; created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
  printf '{"created":"%s","architecture":"%s","os":"linux","config":{"Env":["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],"Entrypoint":["/usr/bin/rxlet"],"Labels":{"org.opencontainers.image.title":"rxlet","org.opencontainers.image.version":"%s","org.opencontainers.image.licenses":"Apache-2.0"}},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"%s","created_by":"hack/package.sh image"}]}' \
    "$created" "$image_arch" "$version" "$diff" "$created" >"$work/config.json"
  config=$(blob "$work/config.json")
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
    "$(descriptor application/vnd.oci.image.config.v1+json "$config")" "$(descriptor application/vnd.oci.image.layer.v1.tar+gzip "$layer")" >"$work/manifest"
  manifest=$(blob "$work/manifest")
  printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
  local about; about=$(descriptor application/vnd.oci.image.manifest.v1+json "$manifest")
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s,"annotations":{"io.containerd.image.name":"docker.io/library/rxlet:%s","org.opencontainers.image.ref.name":"%s"}}]}' \
    "${about%\}}" "$version" "$version" >"$layout/index.json"
  # What docker load of engines before 25 reads.
  printf '[{"Config":"blobs/sha256/%s","RepoTags":["rxlet:%s"],"Layers":["blobs/sha256/%s"]}]' "$config" "$version" "$layer" >"$layout/manifest.json"
  tar_of "$layout" blobs index.json manifest.json oci-layout >"$out/rxlet-image-$arch.tar"
}
blob() { # FILE: into the layout; prints its digest
  local sum; sum=$(sha256sum "$1" | cut -d' ' -f1)
  mv "$1" "$work/layout/blobs/sha256/$sum"
  echo "$sum"
}
descriptor() { printf '{"mediaType":"%s","digest":"sha256:%s","size":%s}' "$1" "$2" "$(stat -c %s "$work/layout/blobs/sha256/$2")"; } # TYPE DIGEST
