#!/bin/bash
# Runs Kubernetes' own end-to-end specs against a cluster whose only node is the agent, and prints those that fail.
#   hack/e2e.sh [OPTIONS] [FOCUS]
# FOCUS is a regular expression of specs' names. Without it: the NodeConformance specs, of which all in test/e2e/nodeconformance.txt
# must pass (the list is what the reference kubelet passes on a single node without an outside registry).
#   --full-node       the specs of test/e2e/full-node.txt instead, all of which must pass: resources, preemption, taints, limits, how pods end;
#                     those marked [Serial] one after the other, at the end. Half an hour; two of them want port 10250 to be free
#   --slow            the specs of test/e2e/slow.txt instead, all of which must pass: how long back-offs get, and mistakes in subPathExpr that
#                     are mended later. Half an hour, in which the machine mostly waits
#   --storage         the specs of test/e2e/storage.txt instead, all of which must pass: local volumes, host paths and empty directories, with subPath,
#                     fsGroup, as block devices and as file systems in loop devices. They enter the mounts of the machine's first process, so that
#                     this one becomes the first of a machine that has processes and mounts of its own, which ends with it. Half an hour
#   --skip REGEXP     leaves specs out; without it those that are slow or flaky, and one that waits twelve minutes for an outside registry
#   --engine NAME     what the agent runs containers with: docker (the default) or containerd, then over CRI
#   --nodes N         that many specs at once: 6
#   --reference       afterwards the same with the reference kubelet 1.20 (it wants cgroup v1): prints both durations, and what only it passes
#   --clean           removes all that earlier runs have left, and ends
# Needs root and Debian 12. Engine, registry, control plane and agent are its own, under ${RXLET_E2E_DIR:-/var/lib/rxlet-e2e}, and are
# stopped at the end; images stay for the next run, and so do the specs' logs, in out/. The specs come from $KUBEBUILDER_ASSETS where
# that folder has them, else they are built once, as hack/kube.sh builds a control plane (a quarter of an hour for both). A run of
# NodeConformance takes ten minutes. Ends with 1 where a spec failed that must pass: by the list, or else by the reference kubelet.
. "$(dirname "$0")/setup.sh"
say() { echo "e2e.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. hack/kube-binaries.sh
usage() { sed -n '2,/^\. /{/^\. /d;s/^# \{0,1\}//p}' hack/e2e.sh >&2; exit 2; }

DIR=${RXLET_E2E_DIR:-/var/lib/rxlet-e2e}
quick='\[Slow\]|\[Flaky\]|should be able to pull from private registry with secret'
focus= skip=$quick parallel=6 reference= clean= engine=docker must=test/e2e/nodeconformance.txt
argv=("$@")
while [ $# -gt 0 ]; do
  case $1 in
    --skip) [ $# -ge 2 ] || usage; skip=$2; shift ;;
    --engine) case ${2:-} in docker | containerd) engine=$2; shift ;; *) usage ;; esac ;;
    --nodes) [ $# -ge 2 ] || usage; parallel=$2; shift ;;
    --full-node) must=test/e2e/full-node.txt ;;
    --slow) must=test/e2e/slow.txt; [ "$skip" != "$quick" ] || skip= ;;
    --storage) must=test/e2e/storage.txt; [ "$skip" != "$quick" ] || skip= ;;
    --reference) reference=1 ;;
    --clean) clean=1 ;;
    -*) usage ;;
    *) [ -z "$focus" ] || usage; focus=$1 ;;
  esac
  shift
done
[ "$engine" = docker ] || [ -z "$reference" ] || die "--reference compares on Docker only"
[ "$(id -u)" = 0 ] || die "needs root"
mkdir -p "$DIR"
if [ "$must" = test/e2e/storage.txt ] && [ $$ != 1 ]; then
  # Volumes are made in /tmp, and one spec gives all that is there to a group.
  mkdir -p "$DIR/tmp"
  chmod 1777 "$DIR/tmp"
  # shellcheck disable=SC2016
  exec unshare --mount --pid --fork --kill-child --mount-proc bash -c 'mount --make-rshared / && mount --bind "$1" /tmp && shift && exec "$@"' \
    first "$DIR/tmp" hack/e2e.sh "${argv[@]}"
fi
DIR=$(cd "$DIR" && pwd -P)
node=rxlet-e2e agent= registry_pid=

free_port() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
first_free() { # PORT...
  local port; for port; do free_port "$port" && { echo "$port"; return; }; done
  die "none of these ports is free: $*"
}
kc() { kubectl --kubeconfig="$DIR/cluster/admin.kubeconfig" "$@"; }
docker_engine() { DOCKER_HOST=unix://$DIR/engine/docker.sock docker "$@"; }

stop() { # PID: ends a process of ours, with patience
  kill "$1" 2>/dev/null || return 0
  for _ in $(seq 150); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.2; done
  kill -KILL "$1" 2>/dev/null || true
}
stop_agent() {
  [ -z "$agent" ] || stop "$agent"
  agent=
  [ ! -S "$DIR/engine/docker.sock" ] || docker_engine ps -aq 2>/dev/null | xargs -r env DOCKER_HOST="unix://$DIR/engine/docker.sock" docker rm -f >/dev/null 2>&1
  awk -v dir="$DIR/agent/" 'index($2 "/", dir) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do umount "$mount"; done
  rm -rf --one-file-system "$DIR/agent"
}
# The next command is tried even where one fails.
at_exit() {
  set +e
  stop_agent
  [ -z "$registry_pid" ] || stop "$registry_pid"
  hack/kube.sh down "$DIR/cluster"
  hack/docker.sh stop "$DIR/engine"
  [ ! -d "$DIR/containerd" ] || hack/containerd.sh down "$DIR/containerd"
}
trap at_exit EXIT
if [ -n "$clean" ]; then
  at_exit; trap - EXIT
  hack/docker.sh down "$DIR/engine"
  rm -rf "$DIR"
  exit
fi

start_registry() {
  command -v docker-registry >/dev/null || apt_install docker-registry
  registry=127.0.0.1:$(first_free $(seq 5010 5030))
  printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "%s"}\n' "$DIR/registry" "$registry" >"$DIR/registry.yaml"
  docker-registry serve "$DIR/registry.yaml" >"$DIR/registry.log" 2>&1 </dev/null &
  registry_pid=$!
  for _ in $(seq 100); do curl -fs -o /dev/null "http://$registry/v2/" && return; sleep 0.1; done
  die "the registry did not come up; its log is $DIR/registry.log"
}
# Where specs take their images from; nothing may answer at the last address.
repositories() {
  local pair
  for pair in gcAuthenticatedRegistry:auth dockerLibraryRegistry:lib e2eRegistry:e2e e2eVolumeRegistry:vol promoterE2eRegistry:e2e buildImageRegistry:build \
    gcRegistry:gc sigStorageRegistry:sig gcrReleaseRegistry:release privateRegistry:private sampleRegistry:sample; do
    echo "${pair%:*}: $registry/${pair#*:}"
  done
  echo "invalidRegistry: 127.0.0.1:9/invalid"
}

# The reference kubelet removes logs of pods that it does not know, at paths which no flag changes: here it sees folders of its own there.
# What it mounts under $DIR/agent still reaches the engine.
apart() { # COMMAND...
  mountpoint -q "$DIR/agent" || mount --bind "$DIR/agent" "$DIR/agent"
  mount --make-shared "$DIR/agent"
  mkdir -p "$DIR"/agent/{pod-logs,container-logs} /var/log/{pods,containers}
  exec unshare --mount --propagation unchanged bash -c '
    set -e
    dir=$1; shift
    mount --make-slave "$(findmnt -no TARGET --target /var/log/pods)"
    mount --bind "$dir/pod-logs" /var/log/pods
    mount --bind "$dir/container-logs" /var/log/containers
    exec "$@"' apart "$DIR/agent" "$@"
}
# Both agents get the same settings, as far as both know them.
start_agent() { # NAME: rxlet or reference
  local address flags; address=$(docker_engine network inspect bridge -f '{{(index .IPAM.Config 0).Gateway}}')
  mkdir -p "$DIR/agent/manifests" "$DIR/out/$1"
  # Some specs ask at the usual port.
  cat >"$DIR/agent/config.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: $DIR/agent/manifests
port: $(first_free 10250 $(seq 10260 10280))
healthzPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $DIR/cluster/pki/ca.crt}}
authorization: {mode: Webhook}
failSwapOn: false
evictionHard: {}
Y
  flags=(--config="$DIR/agent/config.yaml" --kubeconfig="$DIR/cluster/node.kubeconfig" --hostname-override=$node --node-ip="$address"
    --docker-endpoint="unix://$DIR/engine/docker.sock" --pod-infra-container-image="$registry/gc/pause:3.2"
    --cert-dir="$DIR/agent/pki" --root-dir="$DIR/agent/root" --v=2)
  if [ "$1" = rxlet ]; then
    # What is named last counts.
    [ "$engine" = docker ] || flags+=(--docker-endpoint= --container-runtime-endpoint="unix://$DIR/containerd/containerd.sock")
    bin/rxlet "${flags[@]}" >"$DIR/out/$1/agent.log" 2>&1 </dev/null &
  else
    # Without cgroups of its own for pods it leaves those of any other kubelet on the machine alone.
    printf '%s\n' 'oomScoreAdj: 0' 'cgroupsPerQOS: false' 'enforceNodeAllocatable: []' "cgroupDriver: $(docker_engine info -f '{{.CgroupDriver}}')" >>"$DIR/agent/config.yaml"
    apart "$(find_group kubelet)/kubelet" "${flags[@]}" --container-runtime=docker --network-plugin= >"$DIR/out/$1/agent.log" 2>&1 </dev/null &
  fi
  agent=$!
  for _ in $(seq 120); do
    ! kc wait --for=condition=Ready --timeout=1s "node/$node" >/dev/null 2>&1 || return 0
    kill -0 $agent 2>/dev/null || break
    sleep 0.5
  done
  tail -n 20 "$DIR/out/$1/agent.log" >&2
  die "the node does not get ready; its log is $DIR/out/$1/agent.log"
}
# Their names as one regular expression, as ginkgo reads it.
named() { sed -E 's/[][().*+?{}^$|\\]/\\&/g' | paste -sd '|'; }
run_specs() { # NAME
  local out=$DIR/out/$1 started; started=$(date +%s)
  repositories >"$DIR/repositories.yaml"
  say "$1: running specs, log in $out/specs.log"
  if [ -n "$focus" ]; then
    run_turn "$1" "$focus" "$skip" "$parallel"
  elif [ "$must" = test/e2e/slow.txt ] || [ "$must" = test/e2e/storage.txt ]; then
    run_turn "$1" "$(named <$must)" "$skip" "$parallel"
  elif [ "$must" = test/e2e/full-node.txt ]; then
    run_turn "$1" "$(grep -vF '[Serial]' $must | named)" "$skip" "$parallel" quick-
    run_turn "$1" "$(grep -F '[Serial]' $must | named)" "$skip" 1 serial-
  else
    run_turn "$1" '\[NodeConformance\]' "$skip" "$parallel"
  fi
  echo $(($(date +%s) - started)) >"$out/seconds"
  # Specs delete their namespaces without waiting for the pods in them.
  kc get namespaces -o name | grep -Ev '/(default|kube-.*)$' | xargs -r kubectl --kubeconfig="$DIR/cluster/admin.kubeconfig" delete --wait --timeout=180s >/dev/null || say "$1: not all pods ended within three minutes"
}
# What failed is read from the report.
run_turn() { # NAME FOCUS SKIP NODES [PREFIX of the report's files]
  local out=$DIR/out/$1 specs; specs=$(find_group e2e)
  (cd "$out" && KUBE_TEST_REPO_LIST=$DIR/repositories.yaml KUBECONFIG=$DIR/cluster/admin.kubeconfig \
    "$specs/ginkgo" -nodes="$4" -noColor -focus="$2" -skip="$3" "$specs/e2e.test" -- --provider=local --kubeconfig="$DIR/cluster/admin.kubeconfig" \
    --kubectl-path="$(kubectl_of_specs)" --repo-root="$out" --report-dir="$out" --report-prefix="${5:-}" --disable-log-dump --dump-logs-on-failure=false --node-os-distro=debian --allowed-not-ready-nodes=0 >>specs.log 2>&1) || true
}

setup_npm
npm run -s build >/dev/null
groups=(bin e2e)
if [ -n "$reference" ]; then
  groups+=(kubelet)
  # It forwards ports by these programs.
  command -v socat >/dev/null && command -v nsenter >/dev/null || apt_install socat util-linux
fi
need_groups "${groups[@]}"
need_kubectl_of_specs
hack/kube.sh down "$DIR/cluster"
rm -rf "$DIR/out"
host=$(hack/docker.sh up "$DIR/engine")
stop_agent
start_registry
hack/e2e/images.sh "$host" "$registry" "$(find_group e2e)"
[ "$engine" = docker ] || hack/containerd.sh up "$DIR/containerd" >/dev/null
hack/kube.sh up "$DIR/cluster" $node
paths=$(hack/kube.sh env "$DIR/cluster" | grep '^export PATH' || true)
eval "$paths"

report=(--must "$must")
[ -z "$focus" ] || report=()
for name in rxlet ${reference:+reference}; do
  start_agent "$name"
  run_specs "$name"
  stop_agent
  kc delete node $node >/dev/null
done
[ -z "$reference" ] || report+=(--reference "$DIR/out/reference")
node hack/e2e/report.ts "$DIR/out/rxlet" "${report[@]}"
