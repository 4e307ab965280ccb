#!/bin/bash
# Brings up a containerd of one's own, with CRI and a network of pods, and the two small images that examples and tests use.
#   hack/containerd.sh up DIR     everything under DIR (socket: DIR/containerd.sock); prints its endpoint
#   hack/containerd.sh stop DIR   stops it, keeping its data and its containers
#   hack/containerd.sh down DIR   stops it with all its containers, and removes its data
# Needs root. Takes the containerd, ctr and runc on PATH; installs Debian's packages containerd, runc, containernetworking-plugins,
# busybox-static and iproute2 where they are missing.
set -euo pipefail
say() { echo "containerd.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
. "$(dirname "${BASH_SOURCE[0]}")/root-fs.sh"
PATH=$PATH:/usr/sbin:/sbin
CNI_BIN=/usr/lib/cni

need_packages() {
  local missing=()
  command -v containerd >/dev/null || missing+=(containerd)
  command -v runc >/dev/null || missing+=(runc)
  command -v busybox >/dev/null || missing+=(busybox-static)
  command -v ip >/dev/null || missing+=(iproute2)
  [ -x "$CNI_BIN/bridge" ] || missing+=(containernetworking-plugins)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
}

# As hack/docker.sh has it: without this capability the kernel refuses two of runc's wishes.
has_sys_resource() { (( (0x$(sed -n 's/^CapBnd:\s*//p' /proc/self/status) >> 24) & 1 )); }
runc_of_machine() { # prints the program to run containers with
  if has_sys_resource; then command -v runc; return; fi
  cat >"$DIR/runc-clamped" <<'R'
#!/bin/sh
bundle= last=
for arg in "$@"; do [ "$last" = --bundle ] && bundle=$arg; last=$arg; done
[ -n "$bundle" ] && [ -f "$bundle/config.json" ] && sed -i -e 's/"oomScoreAdj":-[0-9]*/"oomScoreAdj":0/' -e 's/"CAP_SYS_RESOURCE",//g' -e 's/,"CAP_SYS_RESOURCE"\]/]/g' "$bundle/config.json"
PATH=$PATH:/usr/sbin:/sbin exec runc "$@"
R
  chmod +x "$DIR/runc-clamped"
  echo "$DIR/runc-clamped"
}

# A bridge of its own, named and numbered after the folder, past a firewall that a Docker Engine on the machine has closed, where the kernel has
# one; "another" is a second handler, for tests that choose one.
write_config() {
  local masquerade=true further=',
 {"type":"portmap","capabilities":{"portMappings":true}},
 {"type":"firewall"}'
  iptables -t nat -L -n >/dev/null 2>&1 || masquerade=false further=
  local sum runc version; sum=$(cksum <<<"$DIR" | cut -d' ' -f1) runc=$(runc_of_machine)
  mkdir -p "$DIR/cni"
  cat >"$DIR/cni/10-pods.conflist" <<C
{"cniVersion":"0.4.0","name":"pods","plugins":[
 {"type":"bridge","bridge":"rxctr$((sum % 10000))","isGateway":true,"ipMasq":$masquerade,"hairpinMode":true,"ipam":{"type":"host-local","dataDir":"$DIR/ipam","ranges":[[{"subnet":"10.$((20 + sum % 70)).$((sum / 100 % 250)).0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}}$further]}
C
  version=$(containerd --version | grep -oE '[0-9]+\.[0-9]+' | head -n1)
  local cri=io.containerd.grpc.v1.cri images='' format=2
  # The second configuration split what is about images off.
  case $version in 2.*) format=3 cri=io.containerd.cri.v1.runtime images=io.containerd.cri.v1.images ;; esac
  {
    cat <<C
version = $format
root = "$DIR/root"
state = "$DIR/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "$DIR/containerd.sock"
[plugins."$cri"]
  disable_apparmor = true
  restrict_oom_score_adj = true
C
    if [ -z "$images" ]; then
      printf '  sandbox_image = "docker.io/rxlet/pause:1"\n  stream_server_address = "127.0.0.1"\n  stream_server_port = "0"\n'
      printf '  [plugins."%s".cni]\n    bin_dir = "%s"\n    conf_dir = "%s"\n' "$cri" "$CNI_BIN" "$DIR/cni"
    else
      printf '  [plugins."%s".cni]\n    bin_dirs = ["%s"]\n    conf_dir = "%s"\n' "$cri" "$CNI_BIN" "$DIR/cni"
    fi
    printf '  [plugins."%s".containerd]\n    default_runtime_name = "runc"\n' "$cri"
    for handler in runc another; do
      printf '    [plugins."%s".containerd.runtimes.%s]\n      runtime_type = "io.containerd.runc.v2"\n' "$cri" "$handler"
      printf '      [plugins."%s".containerd.runtimes.%s.options]\n        BinaryName = "%s"\n' "$cri" "$handler" "$runc"
    done
    if [ -n "$images" ]; then
      printf '[plugins."%s".pinned_images]\n  sandbox = "docker.io/rxlet/pause:1"\n' "$images"
      printf '[plugins."io.containerd.grpc.v1.cri"]\n  stream_server_address = "127.0.0.1"\n  stream_server_port = "0"\n'
    fi
  } >"$DIR/config.toml"
}

answers() { timeout 10 ctr -a "$DIR/containerd.sock" version >/dev/null 2>&1; }
start() {
  [ "$(id -u)" = 0 ] || die "a containerd of one's own needs root"
  write_config
  setsid containerd --config "$DIR/config.toml" >>"$DIR/containerd.log" 2>&1 </dev/null &
  echo $! >"$DIR/containerd.pid"
  for _ in $(seq 150); do
    answers && return
    kill -0 "$(cat "$DIR/containerd.pid")" 2>/dev/null || break
    sleep 0.2
  done
  tail -n 20 "$DIR/containerd.log" >&2
  die "containerd did not come up; its log is $DIR/containerd.log"
}

stop() {
  local pid; pid=$(cat "$DIR/containerd.pid" 2>/dev/null) || return 0
  # A process id may have been given to another process since.
  case $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in containerd\ --config\ "$DIR"/*) ;; *) return 0 ;; esac
  kill "$pid"
  for _ in $(seq 150); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.2; done
  die "containerd (pid $pid) did not stop within 30 s"
}

# Both from the machine's busybox, as an archive of "docker save" that needs no registry. The pause image's entry point is a shell that reaps
# orphans and ends at once on SIGTERM, which is all that a pause container has to do.
make_images() {
  local work image=(); mapfile -t image < <(ctr -a "$DIR/containerd.sock" -n k8s.io images ls -q)
  case " ${image[*]} " in *" docker.io/rxlet/pause:1 "*) return ;; esac
  work=$(mktemp -d)
  mkdir -p "$work/archive"
  base "$work/root"
  tar -C "$work/root" -c . >"$work/archive/layer.tar"
  local digest path='"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]'
  digest=$(sha256sum "$work/archive/layer.tar" | cut -d' ' -f1)
  config() { # FILE CONFIG
    local architecture; case $(uname -m) in aarch64) architecture=arm64 ;; *) architecture=amd64 ;; esac
    printf '{"architecture":"%s","os":"linux","config":{%s},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$architecture" "$2" "$digest" >"$work/archive/$1"
  }
  config busybox.json "$path,\"Cmd\":[\"sh\"]"
  config pause.json "$path,\"Entrypoint\":[\"/bin/sh\",\"-c\",\"trap \\\"exit 0\\\" TERM INT; while :; do sleep 86400 & wait; done\"]"
  printf '[{"Config":"busybox.json","RepoTags":["docker.io/library/busybox:1.35"],"Layers":["layer.tar"]},{"Config":"pause.json","RepoTags":["docker.io/rxlet/pause:1"],"Layers":["layer.tar"]}]' >"$work/archive/manifest.json"
  tar -C "$work/archive" -c . | ctr -a "$DIR/containerd.sock" -n k8s.io images import - >&2
  rm -rf "$work"
}

remove_containers() {
  local ctr=(ctr -a "$DIR/containerd.sock" -n k8s.io) id
  for id in $("${ctr[@]}" tasks ls -q); do "${ctr[@]}" tasks kill -s SIGKILL -a "$id" || true; done
  for id in $("${ctr[@]}" tasks ls -q); do "${ctr[@]}" tasks delete -f "$id" >/dev/null 2>&1 || true; done
  for id in $("${ctr[@]}" containers ls -q); do "${ctr[@]}" containers rm "$id" || true; done
}
unmount_below() { awk -v dir="$1/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do umount "$mount"; done; }

command=${1:-} DIR=${2:-}
[ -n "$DIR" ] || die "usage: hack/containerd.sh up|stop|down DIR"
mkdir -p "$DIR"; DIR=$(cd "$DIR" && pwd)
case $command in
  up)
    answers || { need_packages; start; }
    make_images
    echo "unix://$DIR/containerd.sock"
    ;;
  stop) stop ;;
  down)
    ! answers || remove_containers >&2
    stop
    sum=$(cksum <<<"$DIR" | cut -d' ' -f1)
    ip link del "rxctr$((sum % 10000))" 2>/dev/null || true
    unmount_below "$DIR"
    rm -rf "$DIR"
    ;;
  *) die "usage: hack/containerd.sh up|stop|down DIR" ;;
esac
