#!/bin/bash
# Runs tests against today's Docker Engine, whatever this machine has: Docker, containerd and runc of a newer Debian are unpacked into a
# cache and made to run beside the machine's own. Nothing of them is installed. The suite moves: the versions that were met are printed.
#   hack/modern.sh [contract|integration|cluster]...   contract where nothing is named: two minutes, and half a minute for the packages
#   hack/modern.sh cgroup2 [containerd] [TEST]...   these files, or those about cgroups, on a machine with cgroup v2 only (hack/cgroup2.sh), with
#                              Docker, or with containerd by CRI: a minute
#   hack/modern.sh store       the contract suite with containerd's image store in place of the engine's own
# $RXLET_MODERN_SUITE: sid unless set; $RXLET_MODERN_CACHE: where it is unpacked, remove it for newer packages. Needs root and Debian.
#   hack/modern.sh dra         dynamic resource allocation, on today's containerd and with a control plane of 1.34 or later in $KUBEBUILDER_ASSETS
#   hack/modern.sh e2e-node [FOCUS [SKIP]]   specs of Kubernetes 1.36's e2e_node suite, on today's containerd (hack/e2e-node.sh)
#   hack/modern.sh agent       the tests of the agent, but for the few that are about Docker, on today's containerd by CRI: half an hour
#   hack/modern.sh podman      today's Podman (hack/podman.sh): the examples as root and as a user that it makes, and the contract suite
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { echo "modern.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. hack/apt.sh
. hack/unpack.sh

# Inside there is one processor and no network: what is slow or needs either is run outside.
if [ "${1:-}" = cgroup2 ]; then
  shift
  engine=docker
  if [ "${1:-}" = containerd ]; then engine=containerd; shift; fi
  [ $# -gt 0 ] || set -- test/integration/agent/{pod-cgroups,container-memory,cpu-shares}.test.ts
  . hack/setup.sh
  setup_npm
  npm run -s build
  exec hack/cgroup2.sh bash -c '
    set -e
    export RXLET_TEST_IMAGE=busybox:1.35 RXLET_TEST_PAUSE_IMAGE=rxlet/pause:1
    unset RXLET_TEST_DOCKER_ENDPOINT RXLET_TEST_CRI_ENDPOINT
    if [ "$1" = docker ]; then
      RXLET_TEST_DOCKER_ENDPOINT=$(hack/docker.sh up)
      export RXLET_TEST_DOCKER_ENDPOINT
    else
      RXLET_TEST_CRI_ENDPOINT=$(hack/containerd.sh up /var/lib/rxlet-test-containerd)
      export RXLET_TEST_CRI_ENDPOINT
    fi
    echo "$($1 --version), Linux $(uname -r), cgroups $(cat /sys/fs/cgroup/cgroup.controllers)" >&2
    shift
    exec node --test --test-concurrency=1 "$@"' tests "$engine" "$@"
fi

# The examples as root and as an ordinary user, then the contract, which takes many minutes: Podman starts several programs for each call.
if [ "${1:-}" = podman ]; then
  . hack/setup.sh
  setup_npm
  npm run -s build
  export RXLET_TEST_IMAGE=busybox:1.35 RXLET_TEST_PAUSE_IMAGE=rxlet/pause:1
  dir=${RXLET_TEST_PODMAN_DIR:-/var/lib/rxlet-test-podman} user=rxlet-test
  for program in newuidmap:uidmap useradd:passwd curl:curl; do command -v "${program%:*}" >/dev/null || apt_install "${program#*:}"; done
  id "$user" >/dev/null 2>&1 || useradd --create-home --home-dir "/var/lib/$user" --shell /bin/sh "$user"
  # As udev leaves it, which not all machines have.
  [ ! -e /dev/net/tun ] || chmod 666 /dev/net/tun
  as_user() { setpriv --reuid "$user" --regid "$user" --init-groups env -i HOME="/var/lib/$user" PATH="$PATH:/usr/sbin:/sbin" \
    RXLET_TEST_IMAGE=$RXLET_TEST_IMAGE RXLET_TEST_PAUSE_IMAGE=$RXLET_TEST_PAUSE_IMAGE RXLET_TEST_DOCKER_ENDPOINT="${users:-}" "$@"; }
  hack/podman.sh unpack
  trap 'as_user hack/podman.sh down "/var/lib/$user/podman"; hack/podman.sh down "$dir"' EXIT
  users=$(as_user hack/podman.sh up "/var/lib/$user/podman")
  as_user node --test test/podman/examples.test.ts
  RXLET_TEST_DOCKER_ENDPOINT=$(hack/podman.sh up "$dir")
  export RXLET_TEST_DOCKER_ENDPOINT
  node --test test/podman/examples.test.ts
  hack/test.sh contract
  exit
fi

suite=${RXLET_MODERN_SUITE:-sid}
cache=${RXLET_MODERN_CACHE:-/var/cache/rxlet-docker-$suite}
programs=(dockerd docker docker-proxy docker-init containerd containerd-shim-runc-v2 ctr runc)

[ "$(id -u)" = 0 ] || die "needs root"
if [ ! -d "$cache/bin" ]; then
  command -v patchelf >/dev/null || apt_install patchelf
  say "unpacking Docker of Debian's $suite into $cache, once"
  rm -rf "$cache" "$cache.new"
  unpack "$suite" "$cache.new/root" docker.io docker-cli containerd runc iptables
  make_programs "$cache/root" "$cache.new/bin" "$cache.new/root" "${programs[@]}"
  mv "$cache.new" "$cache"
fi
export PATH=$cache/bin:$PATH
say "$(dockerd --version); $(containerd --version); $(runc --version | head -n1)"
[ $# -gt 0 ] || set -- contract
if [ "$1" = agent ]; then
  . hack/setup.sh
  setup_npm
  npm run -s build
  unset RXLET_TEST_DOCKER_ENDPOINT
  dir=${RXLET_TEST_CONTAINERD_DIR:-/var/lib/rxlet-test-modern-containerd}
  trap 'hack/containerd.sh down "$dir"' EXIT
  RXLET_TEST_CRI_ENDPOINT=$(hack/containerd.sh up "$dir")
  export RXLET_TEST_CRI_ENDPOINT
  # Not those of networks that the agent makes for Docker, what Docker keeps on its disk, its stream of events, and another engine.
  mapfile -t files < <(printf '%s\n' test/integration/agent/*.test.ts | grep -vE '/(cni|churn|missed-events|embedded-engine)\.')
  node --test --test-concurrency=1 test/integration/cri/*.test.ts "${files[@]}"
  exit
fi
if [ "$1" = e2e-node ]; then
  shift
  exec hack/e2e-node.sh "$@"
fi
if [ "$1" = dra ]; then
  [ -x "${KUBEBUILDER_ASSETS:-}/kube-apiserver" ] || die "KUBEBUILDER_ASSETS names no folder with kube-apiserver, kube-controller-manager, kube-scheduler and etcd, of Kubernetes 1.34 or later"
  . hack/setup.sh
  setup_npm
  npm run -s build
  unset RXLET_TEST_DOCKER_ENDPOINT
  dir=${RXLET_TEST_CONTAINERD_DIR:-/var/lib/rxlet-test-modern-containerd} cluster=${RXLET_TEST_CLUSTER_DIR:-/var/lib/rxlet-test-modern-cluster}
  trap 'hack/containerd.sh down "$dir"; hack/kube.sh down "$cluster"' EXIT
  RXLET_TEST_CRI_ENDPOINT=$(hack/containerd.sh up "$dir")
  export RXLET_TEST_CRI_ENDPOINT RXLET_TEST_CLUSTER=$cluster
  hack/kube.sh up "$cluster"
  node --test test/cluster/modern/dra.test.ts
  exit
fi
if [ "$1" = store ]; then
  export RXLET_DOCKER_STORE=containerd RXLET_TEST_ENGINE_DIR=${RXLET_TEST_ENGINE_DIR:-/var/lib/rxlet-test-store-engine}
  set -- contract
fi
RXLET_TEST_ENGINE_DIR=${RXLET_TEST_ENGINE_DIR:-/var/lib/rxlet-test-modern-engine} hack/test.sh "$@"
