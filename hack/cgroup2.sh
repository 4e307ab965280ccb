#!/bin/bash
# Runs a command as root on a machine with cgroup v2 only, 256 MiB of swap and today's Docker Engine, whatever cgroups this machine has.
#   hack/cgroup2.sh COMMAND [ARG]...
# The machine is a user-mode Linux: an ordinary process with one processor and no network to the outside. Its kernel and tools are Debian
# packages, unpacked once into $RXLET_CGROUP2_CACHE (/var/cache/rxlet-cgroup2; remove it for newer ones); what a run writes goes with it. This
# checkout is seen inside, and so is PATH with the variables RXLET_*. The exit status is COMMAND's, or 125 where the machine failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { echo "cgroup2.sh: $*" >&2; }
die() { say "$*"; exit 125; }
. hack/apt.sh
. hack/unpack.sh
[ $# -gt 0 ] || die "no command"
[ "$(id -u)" = 0 ] || die "needs root"
suite=${RXLET_MODERN_SUITE:-sid}
cache=${RXLET_CGROUP2_CACHE:-/var/cache/rxlet-cgroup2}
packages=(docker.io docker-cli containerd runc containernetworking-plugins iptables iproute2 kmod busybox-static bash dash coreutils util-linux mount procps findutils grep
  sed gawk tar gzip diffutils hostname ca-certificates libstdc++6 libatomic1)
kernel=$cache/kernel image=$cache/root-$suite-$(cksum <<<"${packages[*]}" | cut -d' ' -f1).img

# It runs on this machine, with the libraries it was built with, and finds its loader in the directory that it is started in.
make_kernel() {
  local root=$cache/kernel.root new=$cache/kernel.new
  rm -rf "$root" "$new"; mkdir -p "$new"
  unpack "$suite" "$root" user-mode-linux
  LC_ALL=C sed 's#/lib64/ld-linux-x86-64\.so\.2#./ld-linux-x86-64.so.2\x00\x00\x00\x00\x00#' "$root/usr/bin/linux.uml" >"$new/linux"
  chmod +x "$new/linux"
  cp -L "$root"/usr/lib/x86_64-linux-gnu/{ld-linux-x86-64.so.2,lib{c,m,rt,dl,util,pthread}.so.?} "$new/"
  mv "$root/usr/lib/uml/modules" "$new/"
  rm -rf "$root"; mv "$new" "$kernel"
}

# The rest is what the packages' scripts would have done.
make_image() {
  local root=$cache/root.new tool
  rm -rf "$root"
  unpack "$suite" "$root" "${packages[@]}"
  mkdir -p "$root"/{dev,proc,sys,run,tmp,host,root,etc/ssl/certs,usr/lib/modules,var/lib/docker}
  ln -sfn /run "$root/var/run"; chmod 1777 "$root/tmp"
  for tool in iptables{,-save,-restore} ip6tables{,-save,-restore}; do ln -sf xtables-legacy-multi "$root/usr/sbin/$tool"; done
  ln -sf gawk "$root/usr/bin/awk"; ln -sf dash "$root/usr/bin/sh"
  printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\ndocker:x:999:\nnogroup:x:65534:\n' >"$root/etc/group"
  printf '127.0.0.1 localhost\n::1 localhost\n10.0.2.15 cgroup2\n' >"$root/etc/hosts"
  echo 'nameserver 127.0.0.1' >"$root/etc/resolv.conf"
  printf '#!/bin/bash\nmount -t proc proc /proc; read -r -a line </proc/cmdline\nfor word in "${line[@]}"; do case $word in host=*) busybox mount -t hostfs -o "${word#host=}" host /host ;; esac; done\nexec /bin/bash /host/init\n' >"$root/sbin/host-init"
  chmod +x "$root/sbin/host-init"
  truncate -s 20G "$image.new"
  mke2fs -q -t ext4 -O ^has_journal -E root_owner=0:0 -d "$root" "$image.new"
  mv "$image.new" "$image"; rm -rf "$root"
}

mkdir -p "$cache"
exec 9>"$cache/lock"; flock 9
[ -e "$kernel/linux" ] || { say "unpacking a kernel of Debian's $suite, once"; make_kernel; }
[ -e "$image" ] || { say "making a machine of Debian's $suite, once"; make_image; }
exec 9>&-

run=$(mktemp -d "$cache/run.XXXXXX") machine=
trap '[ -z "$machine" ] || { kill -KILL "$machine"; wait "$machine"; } 2>/dev/null || true; rm -rf "$run"' EXIT
trap 'exit 143' TERM INT HUP
printf '%s\0' "$@" >"$run/command"
{ declare -p PATH $(compgen -v RXLET_) | sed 's/^declare -[^ ]*/export/'; printf 'cd %q\n' "$PWD"; } >"$run/environment"
# Packages may be a link to another checkout's.
printf '%s\n' "$PWD" "$(realpath node_modules)" | sort -u >"$run/shares"
echo "$kernel/modules" >"$run/modules"
cat >"$run/init" <<'INIT'
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8
mount -t sysfs sys /sys; mountpoint -q /dev || mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /dev/mqueue; mount -t devpts -o ptmxmode=666 pts /dev/pts; mount -t tmpfs shm /dev/shm; mount -t mqueue mq /dev/mqueue
ln -sf /proc/self/fd /dev/fd; ln -sf fd/0 /dev/stdin; ln -sf fd/1 /dev/stdout; ln -sf fd/2 /dev/stderr
busybox mount -t hostfs -o "$(cat /host/modules)" modules /usr/lib/modules; mount -t tmpfs -o mode=755 run /run; mount -t tmpfs tmp /tmp; mount --make-rshared /
mount -t cgroup2 -o nsdelegate cgroup /sys/fs/cgroup
# As systemd leaves it: processes in a leaf, all controllers handed down.
mkdir /sys/fs/cgroup/init; echo 1 >/sys/fs/cgroup/init/cgroup.procs
for c in $(cat /sys/fs/cgroup/cgroup.controllers); do echo "+$c" >/sys/fs/cgroup/cgroup.subtree_control; done
fallocate -l 256M /swap; chmod 600 /swap; mkswap /swap >/dev/null; swapon /swap
# Its shared pages upset this kernel ("Bad page map", then anything may happen): libuv and others go without.
echo 2 >/proc/sys/kernel/io_uring_disabled
hostname cgroup2; ip link set lo up; ip link add eth0 type dummy; ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up; ip route add default via 10.0.2.2
while read -r dir; do mkdir -p "$dir"; busybox mount -t hostfs -o "$dir" host "$dir"; done </host/shares
stty -F /dev/tty1 raw -echo; stty -F /dev/tty2 raw -echo
finish() { echo "$1" >/host/rc; sync; sleep 0.1; echo o >/proc/sysrq-trigger; sleep 9; busybox poweroff -f; }
iptables -t nat -L >/dev/null 2>&1 || flags="--iptables=false --ip6tables=false"
setsid dockerd $flags --host unix:///var/run/docker.sock >/host/dockerd.log 2>&1 </dev/null &
for i in $(seq 600); do docker version >/dev/null 2>&1 && break; kill -0 $! || break; sleep 0.1; done
docker version >/dev/null || { tail -n 20 /host/dockerd.log >/dev/tty2; finish 125; }
mapfile -d '' -t command </host/command
(. /host/environment; exec setsid "${command[@]}") </dev/null >/dev/tty1 2>/dev/tty2
finish $?
INIT
# The kernel makes what it writes to non-blocking: not on descriptors that are somebody else's as well.
exec 5> >(exec cat) 6> >(exec cat >&2)
(cd "$kernel"; exec env LD_LIBRARY_PATH=. TMPDIR=/dev/shm ./linux mem=3G seccomp=on ubd0="$run/cow,$image" root=/dev/ubda rw init=/sbin/host-init \
  host="$run" uml_dir="$run" umid=machine con=null con0=null,fd:7 con1=null,fd:5 con2=null,fd:6 quiet </dev/null 7>"$run/console" >>"$run/console" 2>&1) &
machine=$!
wait "$machine" || true
machine=
exec 5>&- 6>&-; wait
[ -s "$run/rc" ] || { tail -n 20 "$run/console" >&2; die "the machine went down"; }
exit "$(cat "$run/rc")"
