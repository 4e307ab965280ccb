#!/bin/bash
# Brings up a Docker Engine and the two small images that examples and tests use.
#   hack/docker.sh up            the machine's own engine: used as it is where it answers, installed and started where not
#   hack/docker.sh up DIR        a private engine that keeps everything under DIR (socket: DIR/docker.sock)
#   hack/docker.sh stop DIR      stops a private engine, keeping its data; start DIR starts it again
#   hack/docker.sh down DIR      stops a private engine and removes its data
# $RXLET_DOCKER_STORE=containerd: with containerd's image store (Docker 28), else with the engine's own.
# Needs root. Installs Debian's packages docker.io, busybox-static and iproute2 where they are missing.
set -euo pipefail
say() { echo "docker.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
. "$(dirname "${BASH_SOURCE[0]}")/root-fs.sh"
. "$(dirname "${BASH_SOURCE[0]}")/oci-runtime.sh"

# "another" is a second name of the default runtime, for tests that choose one.
engine_config() { # FILE
  local features=
  [ "${RXLET_DOCKER_STORE:-}" != containerd ] || features='"features":{"containerd-snapshotter":true},'
  if has_sys_resource; then echo "{$features\"runtimes\":{\"another\":{\"path\":\"runc\"}}}" >"$1"; return; fi
  local wrapper; wrapper=$(dirname "$1")/runc-clamped
  clamped_runtime "$wrapper" runc
  printf '{%s"runtimes":{"clamped":{"path":"%s"},"another":{"path":"%s"}},"default-runtime":"clamped"}\n' "$features" "$wrapper" "$wrapper" >"$1"
}

answers() { DOCKER_HOST=$1 timeout 10 docker version >/dev/null 2>&1; }
wait_for() { # HOST PID LOG
  for _ in $(seq 150); do
    answers "$1" && return
    kill -0 "$2" 2>/dev/null || break
    sleep 0.2
  done
  tail -n 20 "$3" >&2 || true
  die "dockerd did not come up; its log is $3"
}

start_machine_engine() {
  [ "$(id -u)" = 0 ] || die "no Docker Engine answers, and starting one needs root"
  if [ -d /run/systemd/system ] && has_sys_resource && systemctl start docker 2>/dev/null && answers "$HOST"; then return; fi
  mkdir -p /var/lib/rxlet-engine
  local config=() log=/var/lib/rxlet-engine/dockerd.log
  [ -e /etc/docker/daemon.json ] || { engine_config /var/lib/rxlet-engine/daemon.json; config=(--config-file /var/lib/rxlet-engine/daemon.json); }
  rm -f /var/run/docker.pid
  setsid dockerd "${config[@]}" --host "$HOST" >"$log" 2>&1 </dev/null &
  wait_for "$HOST" $! "$log"
}

# A private engine has a bridge of its own, named and numbered after its folder, so that it neither shares nor disturbs the machine's.
bridge_of() { local sum; sum=$(cksum <<<"$1" | cut -d' ' -f1); echo "rxlet$((sum % 10000)) 10.$((100 + sum % 100)).$((sum / 100 % 250)).1/24"; }
# What is left of a private engine that was killed: its containerd's socket and state keep the next one from starting, and containers
# without a shim are nobody's. A process id may have been given to another process since: ours has this folder in its arguments, and a
# container its id in its cgroup.
clear_remains() {
  local pid file id
  for pid in $(pgrep -f -- "$DIR/"); do
    case $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in dockerd\ * | containerd\ * | */containerd-shim*) kill -KILL "$pid" 2>/dev/null || true ;; esac
  done
  for file in "$DIR"/exec/containerd/daemon/io.containerd.runtime.v*/moby/*/init.pid; do
    [ -s "$file" ] || continue
    id=$(basename "$(dirname "$file")") pid=$(cat "$file")
    ! grep -qsF "$id" "/proc/$pid/cgroup" || kill -KILL "$pid" 2>/dev/null || true
  done
  unmount_below "$DIR/exec"
  # An engine that ends while a container starts leaves its file system mounted, and the next one mounts its data over that: then the container
  # can never be removed.
  unmount_below "$DIR/data"
  rm -rf "$DIR/exec" "$DIR/docker.pid" "$DIR/docker.sock"
}
# What is hidden below another mount can be unmounted once that one is gone: with the second round.
unmount_below() {
  local round mount
  for round in first second; do
    awk -v dir="$1/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do
      umount "$mount" 2>/dev/null || [ $round = first ] || say "cannot unmount $mount"
    done
  done
}
start_private_engine() {
  [ "$(id -u)" = 0 ] || die "a private engine needs root"
  mkdir -p "$DIR"
  engine_config "$DIR/daemon.json"
  local bridge address; read -r bridge address < <(bridge_of "$DIR")
  ip link show "$bridge" >/dev/null 2>&1 || ip link add "$bridge" type bridge
  ip addr replace "$address" dev "$bridge"
  ip link set "$bridge" up
  clear_remains
  # One after the other: of two that make the machine's chains of iptables at once, one fails ("Chain already exists").
  exec 8>/run/rxlet-dockerd.lock
  flock 8
  setsid dockerd --config-file "$DIR/daemon.json" --host "$HOST" --data-root "$DIR/data" --exec-root "$DIR/exec" --pidfile "$DIR/docker.pid" \
    --bridge "$bridge" >>"$DIR/dockerd.log" 2>&1 </dev/null 8>&- &
  wait_for "$HOST" $! "$DIR/dockerd.log"
  exec 8>&-
}
stop_private_engine() {
  local pid; pid=$(cat "$DIR/docker.pid" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 150); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.2; done
  die "dockerd (pid $pid) did not stop within 30 s"
}

# busybox:1.35 from its registry where one can be reached, else made from Debian's busybox; the pause image is always made here.
# Its entry point is a shell that reaps orphans and ends at once on SIGTERM, which is all that a pause container has to do.
make_images() {
  export DOCKER_HOST=$HOST
  local root=
  has_image() { docker image inspect "$1" >/dev/null 2>&1; }
  rootfs() {
    [ -z "$root" ] || return 0
    root=$(mktemp -d)
    base "$root"
  }
  import() { rootfs; tar -C "$root" -c . | docker import "${@:2}" - "$1" >/dev/null; say "made image $1"; }
  local path='ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  has_image busybox:1.35 || timeout 60 docker pull -q busybox:1.35 >/dev/null 2>&1 || import busybox:1.35 -c "$path" -c 'CMD ["sh"]'
  has_image rxlet/pause:1 || import rxlet/pause:1 -c "$path" -c 'ENTRYPOINT ["/bin/sh", "-c", "trap \"exit 0\" TERM INT; while :; do sleep 86400 & wait; done"]'
  [ -z "$root" ] || rm -rf "$root"
}

command=${1:-up}
DIR=${2:-}
if [ -n "$DIR" ]; then mkdir -p "$DIR"; DIR=$(cd "$DIR" && pwd); HOST=unix://$DIR/docker.sock; else HOST=${DOCKER_HOST:-unix:///var/run/docker.sock}; fi
PATH=$PATH:/usr/sbin:/sbin
case $command in
  up | start)
    command -v docker >/dev/null && answers "$HOST" || { need_engine_packages; if [ -n "$DIR" ]; then start_private_engine; else answers "$HOST" || start_machine_engine; fi; }
    [ "$command" = start ] || { command -v busybox >/dev/null || need_engine_packages; make_images; }
    echo "$HOST"
    ;;
  stop | down)
    [ -n "$DIR" ] || die "only a private engine is ever stopped: name its folder"
    stop_private_engine
    [ "$command" = stop ] || { read -r bridge _ < <(bridge_of "$DIR"); ip link del "$bridge" 2>/dev/null || true
      # The engine leaves network namespaces mounted there.
      unmount_below "$DIR"
      rm -rf "$DIR"; }
    ;;
  *) die "usage: hack/docker.sh up|start|stop|down [DIR]" ;;
esac
