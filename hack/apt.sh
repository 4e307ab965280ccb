# Sourced by docker.sh, kube.sh and others, which say and die in their own names: installs packages of Debian that are missing.
apt_install() {
  command -v apt-get >/dev/null || die "there is no apt-get here: install $* by hand"
  [ "$(id -u)" = 0 ] || die "installing $* needs root"
  say "installing $*"
  local log; log=$(mktemp)
  # One script at a time: of two side by side apt would refuse one. What packages start must not keep the lock.
  local apt=(flock --close /run/rxlet-apt.lock apt-get)
  export DEBIAN_FRONTEND=noninteractive
  "${apt[@]}" install -y --no-install-recommends "$@" >"$log" 2>&1 || { "${apt[@]}" update >"$log" 2>&1 && "${apt[@]}" install -y --no-install-recommends "$@" >"$log" 2>&1; } || { tail -n 20 "$log" >&2; die "could not install $*"; }
  rm -f "$log"
}
# What a Docker Engine of one's own wants.
need_engine_packages() {
  local missing=()
  PATH=$PATH:/usr/sbin:/sbin
  command -v dockerd >/dev/null || missing+=(docker.io containerd runc iptables)
  command -v docker >/dev/null || missing+=(docker.io)
  command -v busybox >/dev/null || missing+=(busybox-static)
  command -v ip >/dev/null || missing+=(iproute2)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
}
