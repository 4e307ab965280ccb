#!/bin/bash
# Sets up and runs every test: unit, contract, vectors, page, integration, cluster, faults, kubeadm, leaks. page runs in the distribution's
# Chromium; contract and all from integration on against a Docker Engine of its own, contract and integration also against a containerd;
# cluster, faults and leaks also against a Kubernetes control plane of its
# own, with the kubectl on PATH and those that RXLET_TEST_KUBECTL names (a:b); kubeadm on machines of hack/kubeadm.sh.
#   hack/test.sh               everything; leaks, faults after it, and packages beside the rest: they mostly wait, measure memory or compress
#   hack/test.sh unit|contract|vectors|page|integration|cluster|faults|kubeadm|leaks|packages ...   some of it, one after the other; faults: of the control plane, 4 minutes
. "$(dirname "$0")/setup.sh"
say() { echo "test.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. hack/apt.sh
. hack/unpack.sh
. hack/packages/test-parts.sh
for part; do
  case $part in unit | contract | vectors | page | integration | cluster | faults | kubeadm | leaks | packages) ;; *) echo "usage: hack/test.sh [unit|contract|vectors|page|integration|cluster|faults|kubeadm|leaks|packages]..." >&2; exit 2 ;; esac
done
[ -n "${RXLET_TEST_BUILT:-}" ] || { setup_npm; npm run -s build; }

at_exit=()
trap 'for command in "${at_exit[@]}"; do eval "$command" || true; done' EXIT

# Kubernetes is built beside the parts that do not want it: it takes as long as they do, and mostly they wait for an engine.
begin_build() {
  build_log=$(mktemp)
  setsid hack/kubeadm.sh build >"$build_log" 2>&1 &
  build_pid=$!
  at_exit+=('[ -z "$build_pid" ] || kill -- -"$build_pid"; rm -f "$build_log"')
}
# Until it is built; at once where nobody asked for it.
end_build() {
  [ -n "${build_pid:-}" ] || return 0
  local status=0
  wait "$build_pid" || status=$?
  build_pid=
  cat "$build_log" >&2
  [ $status = 0 ] || die "Kubernetes could not be built"
}

# Parts that only wait or compress, each on its own, beside the others, to which they give way. What they print is shown at the end.
beside=()
declare -A beside_pid beside_log
begin_beside() { # PART [NAME=VALUE]... [AFTER: a process id]
  local part=$1 settings=() after=
  shift
  for word; do case $word in *=*) settings+=("$word") ;; *) after=$word ;; esac; done
  beside+=("$part")
  beside_log[$part]=$(mktemp)
  env -u RXLET_TEST_DOCKER_ENDPOINT -u RXLET_TEST_CLUSTER RXLET_TEST_BUILT=yes "${settings[@]}" setsid bash -c \
    'echo 10 >/proc/self/autogroup; [ -z "$2" ] || tail --pid="$2" -f /dev/null; exec hack/test.sh "$1"' - "$part" "$after" >"${beside_log[$part]}" 2>&1 &
  beside_pid[$part]=$!
  at_exit+=("[ -z \"\${beside_pid[$part]}\" ] || { kill -- -\"\${beside_pid[$part]}\"; wait \"\${beside_pid[$part]}\"; }; rm -f '${beside_log[$part]}'")
}
end_beside() { # PART
  local status=0
  wait "${beside_pid[$1]}" || status=$?
  beside_pid[$1]=
  cat "${beside_log[$1]}"
  return $status
}

engine_dir=${RXLET_TEST_ENGINE_DIR:-/var/lib/rxlet-test-engine}
start_engine() {
  [ -z "${RXLET_TEST_DOCKER_ENDPOINT:-}" ] || return 0
  local missing=()
  command -v docker-registry >/dev/null || missing+=(docker-registry)
  [ -x /usr/lib/cni/bridge ] || missing+=(containernetworking-plugins)
  # What the shutdown of a machine is delayed and heard by.
  command -v busctl >/dev/null || missing+=(systemd)
  command -v dbus-daemon >/dev/null || missing+=(dbus-daemon)
  # By which an agent hears that another one wants its lock file.
  command -v inotifywait >/dev/null || missing+=(inotify-tools)
  # For a real terminal.
  command -v tmux >/dev/null || missing+=(tmux)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
  at_exit+=('hack/docker.sh stop "$engine_dir"')
  RXLET_TEST_DOCKER_ENDPOINT=$(hack/docker.sh up "$engine_dir")
  export RXLET_TEST_DOCKER_ENDPOINT RXLET_TEST_ENGINE_DIR=$engine_dir RXLET_TEST_IMAGE=busybox:1.35 RXLET_TEST_PAUSE_IMAGE=rxlet/pause:1
}

containerd_dir=${RXLET_TEST_CONTAINERD_DIR:-/var/lib/rxlet-test-containerd}
start_containerd() {
  [ -z "${RXLET_TEST_CRI_ENDPOINT:-}" ] || return 0
  at_exit+=('hack/containerd.sh down "$containerd_dir"')
  RXLET_TEST_CRI_ENDPOINT=$(hack/containerd.sh up "$containerd_dir")
  export RXLET_TEST_CRI_ENDPOINT
}

cluster_dir=${RXLET_TEST_CLUSTER_DIR:-/var/lib/rxlet-test-cluster}
start_cluster() {
  [ -z "${RXLET_TEST_CLUSTER:-}" ] || return 0
  at_exit+=('hack/kube.sh down "$cluster_dir"')
  # Not on what a test run left that was cut short.
  hack/kube.sh down "$cluster_dir"
  end_build
  hack/kube.sh up "$cluster_dir"
  export RXLET_TEST_CLUSTER=$cluster_dir
}

need_browser() {
  command -v chromium >/dev/null || apt_install chromium
}

prepare_machines() {
  end_build
  export RXLET_TEST_KUBEADM=${RXLET_TEST_KUBEADM:-/var/lib/rxlet-test-kubeadm}
  mkdir -p "$RXLET_TEST_KUBEADM"
  at_exit+=('hack/kubeadm.sh down "$RXLET_TEST_KUBEADM"')
}

if [ $# = 0 ]; then
  set -- unit contract vectors page integration cluster kubeadm
  begin_build
  begin_beside leaks RXLET_TEST_ENGINE_DIR=/var/lib/rxlet-test-leaks-engine RXLET_TEST_CLUSTER_DIR=/var/lib/rxlet-test-leaks-cluster "$build_pid"
  begin_beside faults RXLET_TEST_ENGINE_DIR=/var/lib/rxlet-test-faults-engine RXLET_TEST_CLUSTER_DIR=/var/lib/rxlet-test-faults-cluster "${beside_pid[leaks]}"
  begin_beside packages
else
  case " $* " in *" kubeadm "*) begin_build ;; esac
fi
# One that hangs ends, so that the others are seen.
run_part() {
  local within=(timeout --signal=INT --kill-after=60 55m)
  case $1 in
    # Each of its files is a process of its own that loads much of the same.
    unit) NODE_COMPILE_CACHE=$PWD/.cache/compiled "${within[@]}" npm run -s test:unit ;;
    vectors) "${within[@]}" npm run -s vectors -- test/vectors --skip-unknown ;;
    *) "${within[@]}" npm run -s "test:$1" ;;
  esac
}
# What fails stops nothing that is still to be run: one run shows all that is wrong.
failed=()
for part; do
  echo "== $part"
  began=$SECONDS
  case $part in
    contract | integration) start_engine; start_containerd ;;
    cluster | faults | leaks) start_engine; start_cluster ;;
    kubeadm) prepare_machines ;;
    page) need_browser ;;
    packages) prepare_packages ;;
  esac
  run_part "$part" || failed+=("$part")
  echo "== $part took $((SECONDS - began)) s"
done
for part in "${beside[@]}"; do end_beside "$part" || failed+=("$part"); done
[ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}"
