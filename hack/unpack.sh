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
