#!/bin/bash
# A node changes hands while its pods run on: from a reference kubelet 1.20 to the agent, back, and to the agent again, on a containerd of its
# own, by CRI. No container may start again. Needs root, Debian 12 (its containerd still speaks the CRI of that kubelet) and cgroup v1. The
# kubelet is built once, as hack/kube.sh builds a control plane. Three minutes.
. "$(dirname "$0")/setup.sh"
say() { echo "takeover.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. hack/kube-binaries.sh
[ "$(id -u)" = 0 ] || die "needs root"
# Both remove logs of pods that they do not know: here they see folders of their own, and so does what writes the logs.
if [ -z "${RXLET_TAKEOVER_APART:-}" ]; then
  mkdir -p /var/log/{pods,containers}
  export RXLET_TAKEOVER_APART=yes
  exec unshare --mount --propagation private "$0" "$@"
fi
DIR=$(mktemp -d /var/lib/rxlet-takeover-XXXXXX)
at_exit() {
  hack/containerd.sh down "$DIR/containerd" || true
  umount /var/log/pods /var/log/containers || true
  rm -rf --one-file-system "$DIR"
}
trap at_exit EXIT
for name in pods containers; do
  mkdir -p "$DIR/log-$name"
  mount --bind "$DIR/log-$name" "/var/log/$name"
done
[ -n "${RXLET_TEST_BUILT:-}" ] || { setup_npm; npm run -s build; }
need_groups kubelet
RXLET_TEST_CRI_ENDPOINT=$(hack/containerd.sh up "$DIR/containerd")
RXLET_TEST_KUBELET=$(find_group kubelet)/kubelet
export RXLET_TEST_CRI_ENDPOINT RXLET_TEST_KUBELET
node --test test/takeover/takeover.test.ts
