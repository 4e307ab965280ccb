# Sourced by those who want Debian packages of another release than this machine's; needs say and die.
# Packages with all that they depend on; no maintainer script runs, and the machine's own apt knows nothing of it.
unpack() { # SUITE ROOT PACKAGE...
  local suite=$1 root=$2 apt uri deb dir; shift 2
  apt=$(mktemp -d)
  mkdir -p "$apt"/{lists/partial,sources,cache/archives/partial} "$root"
  : >"$apt/status"
  uri=$(grep -hm1 '^URIs:' /etc/apt/sources.list.d/debian.sources) || die "no Debian mirror in /etc/apt/sources.list.d/debian.sources"
  printf 'Types: deb\n%s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' "$uri" "$suite" >"$apt/sources/other.sources"
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
make_programs() { # ROOT BIN FROM PROGRAM...: libraries are at ROOT in the end; from FROM into BIN
  local root=$1 bin=$2 from=$3 program file libraries loader; shift 3
  mkdir -p "$bin"
  libraries=$(basename "$(dirname "$(ls "$from"/usr/lib/*/libc.so.6)")")
  loader=$(basename "$(ls "$from"/usr/lib64/ld-linux-*.so.* "$from"/usr/lib/ld-linux-*.so.* 2>/dev/null | head -n1)")
  for program; do
    file=$(find "$from/usr/bin" "$from/usr/sbin" "$from/usr/libexec" "$from/usr/lib" -name "$program" \( -type f -o -type l \) 2>/dev/null | head -n1)
    [ -n "$file" ] || die "Debian's $suite has no $program where it was looked for: update $0"
    cp -L "$file" "$bin/$program"
    if patchelf --print-interpreter "$bin/$program" >/dev/null 2>&1; then
      patchelf --set-interpreter "$root/usr/lib/$libraries/$loader" --force-rpath --set-rpath "$root/usr/lib/$libraries:$root/usr/lib/$libraries/systemd" "$bin/$program"
    fi
  done
}
