#!/bin/bash
# Runs specs of Kubernetes' own e2e_node suite with the agent as its kubelet, on a containerd of its own, and prints those that fail.
#   hack/modern.sh e2e-node [FOCUS [SKIP]]   regular expressions of specs' names; without them those of devices and dynamic resource allocation: 50 minutes
# $KUBEBUILDER_ASSETS names the folder that has e2e_node.test and sample-device-plugin, built with Go from a checkout of Kubernetes 1.36
# (CGO_ENABLED=0 go test -c ./test/e2e_node; go build ./test/images/sample-device-plugin). The suite brings its own API server and etcd, at
# their usual ports, and asks systemd for its kubelet: in its place are the programs in hack/e2e-node. It knows one root directory,
# /var/lib/kubelet, which must not be there before, and is gone afterwards. Needs root; logs are in ${RXLET_E2E_NODE_DIR:-/var/lib/rxlet-e2e-node}.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { echo "e2e-node.sh: $*" >&2; }
die() { say "$*"; exit 1; }
DIR=${RXLET_E2E_NODE_DIR:-/var/lib/rxlet-e2e-node} root=/var/lib/kubelet group=rxlet-e2e-node
focus=${1:-'\[sig-node\] \[DRA\]|Device Plugin|DevicePlugin|Device Manager|POD Resources'} skip=${2:-'GPU|SRIOV|CPU manager Static'}
for program in e2e_node.test sample-device-plugin; do
  [ -x "${KUBEBUILDER_ASSETS:-}/$program" ] || die "KUBEBUILDER_ASSETS names no folder with $program of Kubernetes 1.36"
done
[ ! -e $root ] || die "$root is there already: the specs would use it"
. hack/setup.sh
setup_npm
npm run -s build >/dev/null
rm -rf "$DIR/run"
mkdir -p "$DIR/run/units" "$DIR/run/out"
export RXLET_E2E_UNITS=$DIR/run/units
at_exit() {
  set +e
  for unit in "$RXLET_E2E_UNITS"/*.command; do hack/e2e-node/systemctl stop "$(basename "$unit" .command)"; done
  hack/containerd.sh down "$DIR/containerd"
  awk -v dir=$root/ 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do umount "$mount"; done
  rm -rf --one-file-system $root
  find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} + 2>/dev/null
}
trap at_exit EXIT

endpoint=$(hack/containerd.sh up "$DIR/containerd")
images() { ctr -a "$DIR/containerd/containerd.sock" -n k8s.io images "$@" >/dev/null; }
registry=registry.k8s.io/e2e-test-images
# Only their shell is asked for.
for name in agnhost:2.63.0 busybox:1.37.0-1; do images tag --force docker.io/library/busybox:1.35 "$registry/$name"; done
mkdir -p "$DIR"/run/image/{root/tmp,archive}
cp "$KUBEBUILDER_ASSETS/sample-device-plugin" "$DIR/run/image/root/sampledeviceplugin"
(
  cd "$DIR/run/image/archive"
  tar -C ../root -c . >layer.tar
  printf '{"architecture":"amd64","os":"linux","config":{"Entrypoint":["/sampledeviceplugin","-alsologtostderr"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$(sha256sum layer.tar | cut -d' ' -f1)" >config.json
  printf '[{"Config":"config.json","RepoTags":["%s/sample-device-plugin:1.7"],"Layers":["layer.tar"]}]' "$registry" >manifest.json
  tar -c .
) | images import -

# In a group of its own, so that it takes nothing of another agent of this machine for what pods have left.
for controllers in /sys/fs/cgroup/ /sys/fs/cgroup/*/; do [ ! -w "$controllers/cgroup.procs" ] || mkdir -p "$controllers$group"; done
cat >"$DIR/run/config.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupRoot: /$group
failCgroupV1: false
failSwapOn: false
serializeImagePulls: false
podCIDR: 10.100.0.0/24
evictionHard: {memory.available: 250Mi, nodefs.available: 5%, nodefs.inodesFree: 5%}
Y
printf 'os: Linux\nkernelSpec: {versions: [".*"]}\n' >"$DIR/run/machine.yaml"
ln -s "$PWD/bin/rxlet" "$DIR/run/kubelet"
gates=DynamicResourceAllocation=true,ResourceHealthStatus=true
say "running specs, log in $DIR/run/out/specs.log"
result=0
(cd "$DIR/run" && PATH=$OLDPWD/hack/e2e-node:$OLDPWD/node_modules/.bin:$PATH:/usr/sbin:/sbin "$KUBEBUILDER_ASSETS/e2e_node.test" \
  --ginkgo.focus="$focus" --ginkgo.skip="$skip" --ginkgo.v --ginkgo.no-color --ginkgo.timeout=2h --node-name=$group --container-runtime-endpoint="$endpoint" \
  --prepull-images=false --system-spec-file="$DIR/run/machine.yaml" --kubelet-config-file="$DIR/run/config.yaml" --k8s-bin-dir="$DIR/run" --report-dir="$DIR/run/out" \
  --feature-gates=$gates --service-feature-gates=$gates --runtime-config=api/all=true >"$DIR/run/out/specs.log" 2>&1) || result=$?
grep -E '^Ran |^(SUCCESS|FAIL)!|^ +\[FAIL\]' "$DIR/run/out/specs.log" || tail -n 20 "$DIR/run/out/specs.log"
exit $result
