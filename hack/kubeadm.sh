#!/bin/bash
# Unmodified kubeadm with the agent as its kubelet, on two machines made for it: "first" gets the control plane, "second" joins.
#   hack/kubeadm.sh                       the whole story, as the tests tell it: hack/test.sh kubeadm
#   hack/kubeadm.sh up DIR                makes both machines, fresh, each with an engine, kubeadm, and the agent as unit kubelet.service
#   hack/kubeadm.sh init DIR              kubeadm init on the first, until it says that the control plane is initialized
#   hack/kubeadm.sh network DIR           connects pods of all nodes that the cluster has: what a network add-on does
#   hack/kubeadm.sh join DIR              kubeadm token create on the first, and the command that it prints on the second
#   hack/kubeadm.sh reset DIR MACHINE     kubeadm reset
#   hack/kubeadm.sh on DIR MACHINE COMMAND...   runs a command there, such as: kubectl get nodes
#   hack/kubeadm.sh down DIR              stops both machines; images and logs stay in DIR
#   hack/kubeadm.sh clean DIR             removes these as well
#   hack/kubeadm.sh build                 builds Kubernetes' programs where they are missing, with all that hack/kube.sh wants
# A machine is a set of namespaces: network, host name, processes, and a file system whose /etc, /opt, /run, /usr, /var/lib and /var/log are
# its own and forgotten when it stops, so kubeadm has its usual paths and ports and touches nothing outside. The two are
# connected by a cable; there is no way to anywhere else. Needs root and Debian 12.
#
# What differs from two machines of their own, and why:
#   - systemd is not process 1 here: hack/kubeadm/systemctl runs the unit and the drop-in of manifests/systemd in its place;
#   - preflight check KubeletVersion is ignored at init: the agent answers as the kubelet of today's Kubernetes, kubeadm is 1.20's;
#   - preflight check ImagePull is ignored at init, and add-on CoreDNS is left out: Debian has no CoreDNS. All other images are made here from
#     the programs that were built, and Debian's etcd, and are in the engine before kubeadm looks;
#   - kube-proxy leaves the size of the connection table alone: only a machine's first network namespace may set it;
#   - certificates of nodes last for two minutes (seven, five of which have passed when they are issued), so that one sees them renewed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { echo "kubeadm.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. "$here/kube-binaries.sh"
. "$here/root-fs.sh"
usage() { sed -n '2,/^# A machine/{/^# A machine/d;s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
PATH=$PATH:/usr/sbin:/sbin
VERSION=v1.20.2
MACHINES=(first second)
declare -A ADDRESS=([first]=172.30.0.11 [second]=172.30.0.12)
POD_SUBNET=10.244.0.0/16

# --- what runs inside, as process 1 of a machine

machine() { # NAME
  local name=$1 pid folder
  # As it is called outside.
  read -r pid _ </proc/self/stat
  mount --make-rshared /
  mount -t proc proc /proc
  mount -t tmpfs -o mode=755 tmpfs /run
  mkdir /run/own /run/fresh
  mount --bind "$DIR/$name" /run/own
  mount -t tmpfs -o mode=755 tmpfs /run/fresh
  # What other engines have mounted is not to be held here.
  awk '$2 ~ "^/(etc|opt|usr|var/lib|var/log)/" { print $2 }' /proc/mounts | sort -r | while read -r folder; do umount --lazy "$folder" || true; done
  for folder in etc opt usr var/lib var/log; do
    mkdir -p "/run/fresh/$folder" "/run/fresh/work/$folder"
    chmod --reference="/$folder" "/run/fresh/$folder"
    mount -t overlay -o "lowerdir=/$folder,upperdir=/run/fresh/$folder,workdir=/run/fresh/work/$folder" overlay "/$folder"
  done
  # Where it lay below one of these.
  mkdir -p "$DIR/$name"
  mount --bind /run/own "$DIR/$name"
  # Fresh, whatever the machine outside has.
  rm -rf /etc/kubernetes /etc/cni /etc/default/kubelet /opt/cni /var/lib/{kubelet,etcd,cni,dockershim} /var/log/{pods,containers}
  rm -rf /etc/resolv.conf /etc/systemd/system/{docker,kubelet}.service*
  echo "$name" >/proc/sys/kernel/hostname
  echo 'nameserver 127.0.0.1' >/etc/resolv.conf
  echo '127.0.0.1 localhost' >/etc/hosts
  for folder in "${MACHINES[@]}"; do echo "${ADDRESS[$folder]} $folder" >>/etc/hosts; done
  echo 1 >/proc/sys/net/ipv4/ip_forward
  ip link set lo up

  mkdir -p /opt/cni /etc/systemd/system
  ln -s /usr/lib/cni /opt/cni/bin
  cp -r "$here"/../manifests/systemd/kubelet.service* /etc/systemd/system/
  ln -sf "$here/../bin/rxlet" /usr/bin/kubelet
  ln -sf "$here/kubeadm/systemctl" /usr/bin/systemctl
  ln -sf "$PROGRAMS/kubeadm" /usr/bin/kubeadm
  [ "$KUBECTL" -ef /usr/bin/kubectl ] || ln -sf "$KUBECTL" /usr/bin/kubectl
  ln -s "$DIR/$name/kubelet.log" /var/log/kubelet.log
  ln -s "$DIR/$name/engine/docker.sock" /run/docker.sock
  echo "$pid" >"$DIR/$name/pid"
  # And takes care of processes whose parent has ended.
  while :; do sleep 3600 & wait; done
}

# --- machines, from outside

# A process id may have been given to another process since.
pid_of() { # NAME: prints its process 1 as seen here
  local pid; pid=$(cat "$DIR/$1/pid" 2>/dev/null) && grep -qszxF "$DIR" "/proc/$pid/cmdline" && echo "$pid"
}
on() { # NAME COMMAND...
  local pid; pid=$(pid_of "$1") || die "machine $1 does not run: hack/kubeadm.sh up $DIR"
  shift
  nsenter --target "$pid" --mount --net --uts --ipc --pid -- env -i -C / PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    KUBECONFIG=/etc/kubernetes/admin.conf "$@"
}
start_machine() { # NAME
  mkdir -p "$DIR/$1"
  rm -f "$DIR/$1/pid" "$DIR/$1/kubelet.log"
  env -i PATH="$PATH" HOME=/root PROGRAMS="$PROGRAMS" KUBECTL="$KUBECTL" setsid unshare --mount --net --uts --ipc --pid --fork --kill-child "$here/kubeadm.sh" machine "$DIR" "$1" \
    >"$DIR/$1/machine.log" 2>&1 </dev/null &
  local starter=$!
  for _ in $(seq 100); do
    ! pid_of "$1" >/dev/null || return 0
    kill -0 $starter 2>/dev/null || break
    sleep 0.1
  done
  cat "$DIR/$1/machine.log" >&2
  die "machine $1 did not come up"
}
connect() {
  local name
  ip link add eth0 netns "$(pid_of first)" type veth peer name eth0 netns "$(pid_of second)"
  for name in "${MACHINES[@]}"; do
    on "$name" ip addr add "${ADDRESS[$name]}/24" dev eth0
    on "$name" ip link set eth0 up
    # kubeadm and kubelets look for the machine's address there.
    on "$name" ip route add default dev eth0
  done
}
start_engine() { # NAME
  on "$1" "$here/docker.sh" up "$DIR/$1/engine" >/dev/null
  on "$1" sh -c 'docker ps -aq | xargs -r docker rm -f' >/dev/null
  load_images "$1"
}
stop_machine() { # NAME
  local pid; pid=$(pid_of "$1") || return 0
  # What is left of it ends with its process 1; the engine's images are to be whole.
  on "$1" timeout 60 bash -c 'systemctl stop kubelet; docker ps -aq | xargs -r docker rm -f; "$@"' stop "$here/docker.sh" stop "$DIR/$1/engine" >"$DIR/$1/stop.log" 2>&1 || say "machine $1 was cut off; see $DIR/$1/stop.log"
  kill -KILL "$pid"
  for _ in $(seq 100); do [ -e "/proc/$pid" ] || { rm -f "$DIR/$1/pid"; return; }; sleep 0.1; done
  die "machine $1 (pid $pid) does not end"
}

# --- images

root_proxy() { # FOLDER
  local tool
  cp "$PROGRAMS/kube-proxy" "$1/usr/local/bin/"
  for tool in {ip,ip6}tables{,-save,-restore} conntrack; do program "$1" $tool; done
  # Where iptables finds its extensions.
  cp -r --parents /usr/lib/*/xtables "$1/"
  libraries "$1" /usr/lib/*/xtables/*.so
}
root_control_plane() { # FOLDER
  cp "$PROGRAMS"/kube-{apiserver,controller-manager,scheduler} "$1/usr/local/bin/"
  program "$1" etcd
}
has_image() { on "$1" docker image inspect "$2" >/dev/null 2>&1; } # NAME IMAGE
import() { # NAME ROOT IMAGE
  local root=$work/$1/$2
  base "$root"
  mkdir -p "$root/usr/local/bin"
  "root_$2" "$root"
  tar -C "$root" -c . | on "$1" docker import -c 'ENV PATH=/usr/local/bin:/usr/bin:/bin' - "$3" >/dev/null
  rm -rf "$root"
  say "made image $3 on machine $1"
}
# What kubeadm asks for, under its names; the control plane's are one image. The second machine runs kube-proxy alone.
load_images() { # NAME
  local name=$1 image
  for image in $("$PROGRAMS/kubeadm" config images list --kubernetes-version=$VERSION); do
    [[ $image != */coredns:* ]] && ! has_image "$name" "$image" || continue
    case $image in
      */pause:*) on "$name" docker tag rxlet/pause:1 "$image" ;;
      */kube-proxy:*) import "$name" proxy "$image" ;;
      *)
        [ "$name" = first ] || continue
        has_image "$name" rxlet/control-plane:$VERSION || import "$name" control_plane rxlet/control-plane:$VERSION
        on "$name" docker tag rxlet/control-plane:$VERSION "$image"
        ;;
    esac
  done
}

# --- verbs

build() { need_groups bin kubeadm; }
up() {
  local name pid starting=()
  [ "$(id -u)" = 0 ] || die "needs root"
  for name in "${MACHINES[@]}"; do stop_machine "$name"; done
  need_engine_packages
  command -v conntrack >/dev/null || apt_install conntrack
  [ -x /usr/lib/cni/bridge ] || apt_install containernetworking-plugins
  need_groups kubeadm
  PROGRAMS=$(find_group kubeadm) KUBECTL=$(find_binary kubectl)
  [ "$("$PROGRAMS/kubeadm" version -o short)" = $VERSION ] || die "$PROGRAMS/kubeadm is not $VERSION"
  umask 022
  # Where the next one finds what one that was killed has left: hundreds of megabytes.
  work=$DIR/images
  trap 'rm -rf "$work"' EXIT
  rm -rf "$work"
  for name in "${MACHINES[@]}"; do start_machine "$name"; done
  connect
  # The first makes all images, the second few.
  for name in "${MACHINES[@]}"; do start_engine "$name" & starting+=($!); done
  for pid in "${starting[@]}"; do wait "$pid" || die "an engine did not come up; its log is in $DIR"; done
  say "machines are up: hack/kubeadm.sh init $DIR"
}
init() {
  on first sh -c 'cat >/etc/kubeadm.yaml' <<Y
apiVersion: kubeadm.k8s.io/v1beta2
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: ${ADDRESS[first]}}
---
apiVersion: kubeadm.k8s.io/v1beta2
kind: ClusterConfiguration
kubernetesVersion: $VERSION
networking: {podSubnet: $POD_SUBNET, serviceSubnet: 10.96.0.0/16}
controllerManager: {extraArgs: {cluster-signing-duration: 7m}}
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
conntrack: {maxPerCore: 0}
Y
  on first kubeadm init --config=/etc/kubeadm.yaml --ignore-preflight-errors=KubeletVersion,ImagePull --skip-phases=addon/coredns
}
# The controller manager hands subnets out a moment after nodes have come.
subnet_of() { # NAME
  local subnet
  for _ in $(seq 120); do
    subnet=$(on first kubectl get node "$1" -o 'jsonpath={.spec.podCIDR}')
    [ -z "$subnet" ] || { echo "$subnet"; return; }
    sleep 0.5
  done
  die "node $1 has no subnet for its pods"
}
network() {
  local name subnet other
  for name in "${MACHINES[@]}"; do
    [ -n "$(on first kubectl get node "$name" --ignore-not-found -o name)" ] || continue
    subnet=$(subnet_of "$name")
    on "$name" sh -c 'mkdir -p /etc/cni/net.d && cat >/etc/cni/net.d/10-bridge.conflist' <<J
{
  "cniVersion": "0.3.1",
  "name": "pods",
  "plugins": [
    {"type": "bridge", "bridge": "cni0", "isDefaultGateway": true, "hairpinMode": true, "ipam": {"type": "host-local", "ranges": [[{"subnet": "$subnet"}]]}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
J
    for other in "${MACHINES[@]}"; do [ "$other" = "$name" ] || on "$other" ip route replace "$subnet" via "${ADDRESS[$name]}"; done
  done
}
join() {
  local command; command=$(on first kubeadm token create --print-join-command)
  # shellcheck disable=SC2086
  on second $command
}

command=${1:-}
case $command in
  '') exec "$here/test.sh" kubeadm ;;
  build) build; exit ;;
  up | init | network | join | reset | on | down | clean | machine) ;;
  *) usage ;;
esac
[ $# -ge 2 ] || usage
[ "$command" != up ] || mkdir -p "$2"
[ -d "$2" ] || { [ "$command" != down ] && [ "$command" != clean ] || exit 0; die "there is no folder $2: hack/kubeadm.sh up $2"; }
DIR=$(cd "$2" && pwd -P)
shift 2
case $command in
  machine) machine "$1" ;;
  up | init | network | join) $command ;;
  reset) [ $# = 1 ] || usage; on "$1" kubeadm reset --force ;;
  on) [ $# -ge 2 ] || usage; on "$@" ;;
  down | clean)
    for name in "${MACHINES[@]}"; do stop_machine "$name"; done
    [ "$command" = down ] || for name in "${MACHINES[@]}"; do "$here/docker.sh" down "$DIR/$name/engine"; rm -rf "${DIR:?}/$name" "${DIR:?}/images"; done
    ;;
esac
