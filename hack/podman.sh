#!/bin/bash
# Brings up a private Podman of today, whatever this machine has: Podman, conmon, runc and netavark of a newer Debian are unpacked into a
# cache and made to run here; nothing of them is installed. The suite moves: the version that was met is printed.
#   hack/podman.sh up DIR        Podman's API, with everything it keeps under DIR (socket: DIR/podman.sock), and the two small images that
#                                examples and tests use; prints the endpoint
#   hack/podman.sh stop DIR      stops the API; containers go on. start DIR starts it again
#   hack/podman.sh down DIR      ends its containers, stops it and removes its data
#   hack/podman.sh path          prints the folder of its programs, to go first on PATH
# As root it is root's Podman; as another user (first: hack/podman.sh unpack, as root) it is that user's, without root.
# $RXLET_MODERN_SUITE: sid unless set; $RXLET_PODMAN_CACHE: where it is unpacked, remove it for newer packages. Needs Debian.
set -euo pipefail
say() { echo "podman.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
. "$(dirname "${BASH_SOURCE[0]}")/unpack.sh"
. "$(dirname "${BASH_SOURCE[0]}")/root-fs.sh"
. "$(dirname "${BASH_SOURCE[0]}")/oci-runtime.sh"

suite=${RXLET_MODERN_SUITE:-sid}
cache=${RXLET_PODMAN_CACHE:-/var/cache/rxlet-podman-$suite}
packages=(podman runc conmon netavark aardvark-dns nftables passt fuse-overlayfs)
programs=(podman runc conmon netavark aardvark-dns nft pasta fuse-overlayfs rootlessport)

unpack_podman() {
  [ ! -x "$cache/bin/rootlessport" ] || return 0
  [ "$(id -u)" = 0 ] || die "run hack/podman.sh unpack as root first: it puts Podman of Debian's $suite into $cache"
  command -v patchelf >/dev/null || apt_install patchelf
  say "unpacking Podman of Debian's $suite into $cache, once"
  rm -rf "$cache" "$cache.new"
  unpack "$suite" "$cache.new/root" "${packages[@]}"
  make_programs "$cache/root" "$cache.new/bin" "$cache.new/root" "${programs[@]}"
  chmod -R go+rX "$cache.new"
  mv "$cache.new" "$cache"
}

# runc, as crun refuses the hybrid hierarchy of cgroups that older machines have.
# All that Podman would look for in /etc and /usr/share, and where it keeps its own. A subnet of its own, which no other engine of this
# machine has; "another" is a second name of the runtime, for tests that choose one.
write_config() {
  local share="$cache/root/usr/share/containers" runtime="$cache/bin/runc" sum
  sum=$(cksum <<<"$DIR" | cut -d' ' -f1)
  mkdir -p "$DIR"/{home/.config/containers,networks,tmp}
  has_sys_resource || { runtime=$DIR/runc-clamped; clamped_runtime "$runtime" "$cache/bin/runc"; }
  cat >"$DIR/containers.conf" <<C
[containers]
seccomp_profile = "$share/seccomp.json"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
conmon_path = ["$cache/bin/conmon"]
helper_binaries_dir = ["$cache/bin"]
[engine.runtimes]
runc = ["$runtime"]
another = ["$runtime"]
[network]
network_backend = "netavark"
network_config_dir = "$DIR/networks"
default_subnet = "10.$((200 + sum % 50)).$((sum / 100 % 250)).0/24"
C
  echo '{"default":[{"type":"insecureAcceptAnything"}]}' >"$DIR/home/.config/containers/policy.json"
  echo 'unqualified-search-registries = ["docker.io"]' >"$DIR/registries.conf"
  printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s"\n' "$DIR/data" "$DIR/run" >"$DIR/storage.conf"
}
podman() { "${podman[@]}" "$@"; }

answers() { curl -fs -o /dev/null --max-time 10 --unix-socket "$DIR/podman.sock" http://podman/_ping; }
start() {
  ! answers || return 0
  write_config
  rm -f "$DIR/podman.sock"
  setsid "${podman[@]}" system service --time=0 "unix://$DIR/podman.sock" >>"$DIR/podman.log" 2>&1 </dev/null &
  echo $! >"$DIR/podman.pid"
  for _ in $(seq 150); do
    if answers; then return; fi
    kill -0 "$(cat "$DIR/podman.pid")" 2>/dev/null || break
    sleep 0.2
  done
  tail -n 20 "$DIR/podman.log" >&2 || true
  die "podman did not come up; its log is $DIR/podman.log"
}
# A process id may have been given to another process since: ours has this folder in its arguments.
stop() {
  local pid; pid=$(cat "$DIR/podman.pid" 2>/dev/null) || return 0
  grep -qsaF "$DIR/" "/proc/$pid/cmdline" || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 150); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.2; done
  die "podman (pid $pid) did not stop within 30 s"
}

# As hack/docker.sh makes them.
make_images() {
  local root=
  import() { # IMAGE CHANGE...
    local image=$1; shift
    ! podman image exists "$image" || return 0
    [ -n "$root" ] || { root=$(mktemp -d); base "$root"; }
    tar -C "$root" -c . | podman import -q --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' --change "$1" - "$image" >/dev/null
    say "made image $image"
  }
  import docker.io/library/busybox:1.35 'CMD ["sh"]'
  import docker.io/rxlet/pause:1 'ENTRYPOINT ["/bin/sh", "-c", "trap \"exit 0\" TERM INT; while :; do sleep 86400 & wait; done"]'
  [ -z "$root" ] || rm -rf "$root"
}

command=${1:-}
case $command in unpack | path) ;; *) [ -n "${2:-}" ] || command=help; mkdir -p "${2:-/tmp}"; DIR=$(cd "${2:-/tmp}" && pwd) ;; esac
podman=(env HOME="${DIR:-}/home" TMPDIR="${DIR:-}/tmp" PATH="$cache/bin:$PATH:/usr/sbin:/sbin" PODMAN_IGNORE_CGROUPSV1_WARNING=1
  CONTAINERS_CONF="${DIR:-}/containers.conf" CONTAINERS_STORAGE_CONF="${DIR:-}/storage.conf" CONTAINERS_REGISTRIES_CONF="${DIR:-}/registries.conf"
  "$cache/bin/podman" --tmpdir "${DIR:-}/run/libpod")
case $command in
  unpack) unpack_podman ;;
  path) unpack_podman; echo "$cache/bin" ;;
  up | start)
    unpack_podman
    command -v busybox >/dev/null || apt_install busybox-static
    start
    [ "$command" = start ] || make_images
    say "$(podman --version)"
    echo "unix://$DIR/podman.sock"
    ;;
  stop) stop ;;
  down)
    [ ! -e "$DIR/containers.conf" ] || podman rm --all --force --time 0 >/dev/null || say "not all containers could be removed"
    stop
    # Files of other users than root's in its containers are no more this user's own; and what holds its namespaces ends last.
    if [ "$(id -u)" != 0 ] && [ -e "$DIR/containers.conf" ]; then
      podman unshare find "$DIR/data/overlay" -mindepth 1 -delete || say "not all data could be removed"
      podman system migrate >/dev/null 2>&1 || say "what holds its namespaces could not be ended"
    fi
    awk -v dir="$DIR/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do umount "$mount"; done
    rm -rf "$DIR"
    ;;
  *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac
