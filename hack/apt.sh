# Sourced by docker.sh and kube.sh, which say and die in their own names: installs packages of Debian that are missing.
apt_install() {
  command -v apt-get >/dev/null || die "there is no apt-get here: install $* by hand"
  [ "$(id -u)" = 0 ] || die "installing $* needs root"
  say "installing $*"
  local log; log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y --no-install-recommends "$@" >"$log" 2>&1 || { apt-get update >"$log" 2>&1 && apt-get install -y --no-install-recommends "$@" >"$log" 2>&1; } || { tail -n 20 "$log" >&2; die "could not install $*"; }
  rm -f "$log"
}
