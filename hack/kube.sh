#!/bin/bash
# A private Kubernetes control plane on loopback, all of it under one folder: etcd, kube-apiserver, kube-controller-manager and
# kube-scheduler. For the project's own tests, and for trying the agent as a node of a cluster.
#   hack/kube.sh up DIR [NODE]               starts what does not run yet; prints how to use it. NODE is the node's name: lab
#   hack/kube.sh down DIR                    stops all and forgets the cluster's objects; certificates and logs stay
#   hack/kube.sh env DIR                     prints shell code that points kubectl and the tests at it: eval "$(hack/kube.sh env DIR)"
#   hack/kube.sh node DIR NODE               makes DIR/node-NODE.kubeconfig for one more node, prints its path
#   hack/kube.sh stop DIR [PART]             stops one part, or all, keeping everything
#   hack/kube.sh start DIR [PART] [-- FLAGS] starts it again; FLAGS go to that part, this time
#   hack/kube.sh pause|resume DIR [PART]     freezes a part, so that its connections hang without closing; and thaws it
#   hack/kube.sh compact DIR                 makes etcd forget all history: what watches from before gets 410 Gone
#                                            once the API server has been started again (until then it answers from memory)
# PART is etcd, apiserver, controller-manager or scheduler. In DIR: admin.kubeconfig, node.kubeconfig (system:node:NODE),
# bootstrap.kubeconfig (a token that may ask for a node's certificate), PART.log, pki/.
# Binaries come from $KUBEBUILDER_ASSETS, else from PATH, else they are built once (about ten minutes) from Debian 12's source package into
# ${XDG_CACHE_HOME:-/var/cache}/rxlet-kube; etcd and kubectl come from Debian's packages.
set -euo pipefail
umask 077
PARTS=(etcd apiserver controller-manager scheduler)
say() { echo "kube.sh: $*" >&2; }
die() { say "$*"; exit 1; }
. "$(dirname "${BASH_SOURCE[0]}")/kube-binaries.sh"
usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0" >&2; exit 2; }

# --- ports, certificates, kubeconfigs: made once, kept in DIR

free_port() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
# Five ports in a row, first tried at a place that comes from the folder's name, so that several folders do not meet.
choose_ports() {
  [ ! -s "$DIR/ports" ] || return 0
  local base first; base=$((20000 + $(cksum <<<"$DIR" | cut -d' ' -f1) % 1200 * 10))
  for first in $(seq "$base" 10 $((base + 500))); do
    free_port "$first" && free_port $((first + 1)) && free_port $((first + 2)) && free_port $((first + 3)) && free_port $((first + 4)) || continue
    echo "ETCD=$first ETCD_PEER=$((first + 1)) API=$((first + 2)) CONTROLLERS=$((first + 3)) SCHEDULER=$((first + 4))" >"$DIR/ports"
    return
  done
  die "found no free ports from $base on"
}
certificate() { # NAME SUBJECT EXTENSION
  [ ! -s "$PKI/$1.crt" ] || return 0
  openssl req -newkey rsa:2048 -nodes -keyout "$PKI/$1.key" -out "$PKI/$1.csr" -subj "$2" 2>/dev/null
  openssl x509 -req -in "$PKI/$1.csr" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial -days 3650 -out "$PKI/$1.crt.new" -extfile <(echo "$3") 2>/dev/null
  mv "$PKI/$1.crt.new" "$PKI/$1.crt"
  rm "$PKI/$1.csr"
}
certificates() {
  mkdir -p "$PKI"
  [ -s "$PKI/ca.crt" ] || openssl req -x509 -newkey rsa:2048 -nodes -keyout "$PKI/ca.key" -out "$PKI/ca.crt" -days 3650 -subj /CN=rxlet-kube-ca 2>/dev/null
  certificate apiserver /CN=kube-apiserver "subjectAltName=IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
  certificate admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth
  certificate kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client extendedKeyUsage=clientAuth
  [ -s "$PKI/sa.pub" ] || { openssl genrsa -out "$PKI/sa.key" 2048 2>/dev/null; openssl rsa -in "$PKI/sa.key" -pubout -out "$PKI/sa.pub" 2>/dev/null; }
  [ -s "$DIR/bootstrap-token" ] || echo "$(openssl rand -hex 3).$(openssl rand -hex 8)" >"$DIR/bootstrap-token"
}
kubeconfig() { # FILE USER CREDENTIALS
  cat >"$DIR/$1.kubeconfig" <<Y
apiVersion: v1
kind: Config
clusters:
- name: rxlet
  cluster: {server: "https://127.0.0.1:$API", certificate-authority-data: $(base64 -w0 <"$PKI/ca.crt")}
users:
- name: $2
  user: {$3}
contexts:
- name: rxlet
  context: {cluster: rxlet, user: $2}
current-context: rxlet
Y
}
with_certificate() { echo "client-certificate-data: $(base64 -w0 <"$PKI/$1.crt"), client-key-data: $(base64 -w0 <"$PKI/$1.key")"; }
node_kubeconfig() { # NODE FILE
  [[ $1 =~ ^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$ ]] || die "\"$1\" is no name for a node: lower case letters, digits, - and . are"
  certificate "node-$1" "/O=system:nodes/CN=system:node:$1" extendedKeyUsage=clientAuth
  kubeconfig "$2" "system:node:$1" "$(with_certificate "node-$1")"
}

# --- the parts

is_part() { local part; for part in "${PARTS[@]}"; do [ "$part" != "$1" ] || return 0; done; return 1; }
# A process id may have been given to another process since: ours has this folder in its arguments.
running() { # PART: prints its process id
  local pid; pid=$(cat "$DIR/$1.pid" 2>/dev/null) && grep -qsaF "$DIR/" "/proc/$pid/cmdline" && echo "$pid"
}
launch() { # PART COMMAND...
  local part=$1; shift
  setsid "$@" >>"$DIR/$part.log" 2>&1 </dev/null &
  echo $! >"$DIR/$part.pid"
}
# Up to 1.23 they also listen without TLS, on every address, unless told not to.
no_insecure_port() { local help; help=$("$1" --help 2>&1); [[ $help != *" --port int"* ]] || echo --port=0; }
start_part() { # PART [FLAGS]
  local part=$1 binary; shift
  ! running "$part" >/dev/null || return 0
  case $part in
    etcd)
      launch etcd "$(find_binary etcd)" --data-dir="$DIR/etcd" --listen-client-urls="http://127.0.0.1:$ETCD" --advertise-client-urls="http://127.0.0.1:$ETCD" \
        --listen-peer-urls="http://127.0.0.1:$ETCD_PEER" --initial-advertise-peer-urls="http://127.0.0.1:$ETCD_PEER" \
        --initial-cluster="default=http://127.0.0.1:$ETCD_PEER" --unsafe-no-fsync "$@"
      wait_for etcd curl -fs -o /dev/null "http://127.0.0.1:$ETCD/health"
      ;;
    apiserver)
      launch apiserver "$(find_binary kube-apiserver)" --etcd-servers="http://127.0.0.1:$ETCD" --bind-address=127.0.0.1 --secure-port="$API" --advertise-address=127.0.0.1 \
        --client-ca-file="$PKI/ca.crt" --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
        --kubelet-client-certificate="$PKI/kubelet-client.crt" --kubelet-client-key="$PKI/kubelet-client.key" --kubelet-preferred-address-types=InternalIP,Hostname \
        --service-account-key-file="$PKI/sa.pub" --service-account-signing-key-file="$PKI/sa.key" --service-account-issuer=https://kubernetes.default.svc \
        --api-audiences=https://kubernetes.default.svc --service-cluster-ip-range=10.0.0.0/24 --authorization-mode=Node,RBAC \
        --enable-admission-plugins=NodeRestriction --allow-privileged=true --enable-bootstrap-token-auth "$@"
      wait_for apiserver ready
      ;;
    controller-manager)
      binary=$(find_binary kube-controller-manager)
      # shellcheck disable=SC2046
      launch controller-manager "$binary" --kubeconfig="$DIR/admin.kubeconfig" --bind-address=127.0.0.1 --secure-port="$CONTROLLERS" $(no_insecure_port "$binary") \
        --service-account-private-key-file="$PKI/sa.key" --root-ca-file="$PKI/ca.crt" --cluster-signing-cert-file="$PKI/ca.crt" --cluster-signing-key-file="$PKI/ca.key" \
        --use-service-account-credentials --leader-elect=false --controllers='*,bootstrapsigner,tokencleaner' "$@"
      wait_for controller-manager healthy "$CONTROLLERS"
      ;;
    scheduler)
      binary=$(find_binary kube-scheduler)
      # shellcheck disable=SC2046
      launch scheduler "$binary" --kubeconfig="$DIR/admin.kubeconfig" --bind-address=127.0.0.1 --secure-port="$SCHEDULER" $(no_insecure_port "$binary") --leader-elect=false "$@"
      wait_for scheduler healthy "$SCHEDULER"
      ;;
  esac
}
kc() { "$(find_binary kubectl)" --kubeconfig="$DIR/admin.kubeconfig" "$@"; }
ready() { [ "$(kc get --raw /readyz 2>/dev/null)" = ok ]; }
healthy() { curl -fsk -o /dev/null "https://127.0.0.1:$1/healthz"; }
wait_for() { # PART COMMAND...
  local part=$1; shift
  for _ in $(seq 300); do
    if "$@"; then return; fi
    running "$part" >/dev/null || break
    sleep 0.2
  done
  tail -n 20 "$DIR/$part.log" >&2 || true
  die "$part did not come up; its log is $DIR/$part.log"
}
# An API server that is asked to stop waits a minute for watches to end, but it has nothing to lose.
stop_part() { # PART
  local pid patience=20; pid=$(running "$1") || { rm -f "$DIR/$1.pid"; return 0; }
  [ "$1" != apiserver ] || patience=2
  # A paused one must be able to hear.
  kill -TERM "$pid" && kill -CONT "$pid" || true
  until_gone "$1" $patience || { kill -KILL "$pid" || true; until_gone "$1" 10 || die "$1 (pid $pid) does not end"; }
  rm -f "$DIR/$1.pid"
}
until_gone() { # PART SECONDS
  for _ in $(seq $(($2 * 10))); do
    running "$1" >/dev/null || return 0
    sleep 0.1
  done
  return 1
}

allow_bootstrap() {
  local token; token=$(cat "$DIR/bootstrap-token")
  kc apply -f - >/dev/null <<Y
apiVersion: v1
kind: Secret
metadata: {name: bootstrap-token-${token%.*}, namespace: kube-system}
type: bootstrap.kubernetes.io/token
stringData: {token-id: "${token%.*}", token-secret: "${token#*.}", usage-bootstrap-authentication: "true", auth-extra-groups: "system:bootstrappers:rxlet"}
---
# Who has the token may ask for a certificate,
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: rxlet-bootstrap}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:node-bootstrapper"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:bootstrappers"}]
---
# gets it at once,
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: rxlet-approve-first}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:bootstrappers"}]
---
# and who has one may renew it.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: rxlet-approve-renewal}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:nodes"}]
Y
}

up() { # NODE
  need_groups bin
  choose_ports
  read_ports
  certificates
  kubeconfig admin admin "$(with_certificate admin)"
  kubeconfig bootstrap bootstrap "token: $(cat "$DIR/bootstrap-token")"
  node_kubeconfig "$1" node
  local part; for part in "${PARTS[@]}"; do start_part "$part"; done
  allow_bootstrap
  # Pods are refused until their namespace has its service account.
  wait_for controller-manager service_account
  say "control plane is up: kubectl --kubeconfig $DIR/admin.kubeconfig get nodes"
}
service_account() { kc get serviceaccount default >/dev/null 2>&1; }

# With physical, the answer comes when the history is really gone.
compact() {
  local revision
  revision=$(curl -fsS "http://127.0.0.1:$ETCD/v3/kv/range" -d '{"key": "AA==", "limit": 1}' | sed -E 's/.*"revision":"([0-9]+)".*/\1/')
  curl -fsS "http://127.0.0.1:$ETCD/v3/kv/compaction" -d "{\"revision\": \"$revision\", \"physical\": true}" >/dev/null
  say "etcd has forgotten what was before revision $revision"
}
read_ports() { [ -s "$DIR/ports" ] || die "there is no cluster in $DIR: hack/kube.sh up $DIR"; local ports; ports=$(cat "$DIR/ports"); eval "$ports"; }

[ $# -ge 2 ] || usage
command=$1
[ "$command" != up ] || mkdir -p "$2"
[ -d "$2" ] || { [ "$command" != down ] || exit 0; die "there is no folder $2: hack/kube.sh up $2"; }
DIR=$(cd "$2" && pwd)
PKI=$DIR/pki
shift 2
case $command in
  up) up "${1:-lab}" ;;
  down)
    for ((i = ${#PARTS[@]} - 1; i >= 0; i--)); do stop_part "${PARTS[i]}"; done
    rm -rf "$DIR/etcd"
    ;;
  env)
    read_ports
    echo "export KUBECONFIG='$DIR/admin.kubeconfig' RXLET_TEST_CLUSTER='$DIR'"
    command -v kubectl >/dev/null || echo "export PATH='$(dirname "$(find_binary kubectl)")':\$PATH"
    ;;
  node)
    [ $# = 1 ] || usage
    read_ports
    node_kubeconfig "$1" "node-$1"
    echo "$DIR/node-$1.kubeconfig"
    ;;
  stop | start | pause | resume)
    read_ports
    parts=("${PARTS[@]}")
    [ "$command" = start ] || parts=(scheduler controller-manager apiserver etcd)
    if [ $# -gt 0 ] && [ "$1" != -- ]; then is_part "$1" || die "no such part: $1 (there are ${PARTS[*]})"; parts=("$1"); shift; fi
    [ "${1:-}" != -- ] || shift
    [ $# = 0 ] || { [ "$command" = start ] && [ ${#parts[@]} = 1 ]; } || usage
    for part in "${parts[@]}"; do
      case $command in
        start) start_part "$part" "$@" ;;
        stop) stop_part "$part" ;;
        pause) pid=$(running "$part") || die "$part does not run"; kill -STOP "$pid" ;;
        resume) pid=$(running "$part") || die "$part does not run"; kill -CONT "$pid" ;;
      esac
    done
    ;;
  compact) read_ports; compact ;;
  *) usage ;;
esac
