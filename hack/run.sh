#!/bin/bash
# Sets up all that is needed and runs the agent standalone on the pods of a manifest directory.
#   hack/run.sh [--engine docker|fake] [--manifests DIR] [--root-dir DIR] [-- FLAGS FOR THE AGENT]
# Stop it with Ctrl-C: the pods stay, and the next run takes them over. `hack/run.sh --clean` removes them.
. "$(dirname "$0")/setup.sh"
engine=docker manifests=manifests/examples root=/var/lib/rxlet clean=
while [ $# -gt 0 ]; do
  case $1 in
    --engine) engine=$2; shift 2 ;;
    --engine=*) engine=${1#*=}; shift ;;
    --manifests) manifests=$2; shift 2 ;;
    --root-dir) root=$2; shift 2 ;;
    --clean) clean=1; shift ;;
    --) shift; break ;;
    *) echo "usage: hack/run.sh [--engine docker|fake] [--manifests DIR] [--root-dir DIR] [--clean] [-- FLAGS]" >&2; exit 2 ;;
  esac
done
setup_npm
npm run -s build >/dev/null

flags=()
if [ "$engine" = docker ]; then
  if endpoint=$(hack/docker.sh up); then
    flags+=(--docker-endpoint="$endpoint" --pod-infra-container-image=rxlet/pause:1)
  else
    echo "no Docker Engine can be had here: running on the embedded engine, in which containers are only played" >&2
    engine=fake
  fi
fi
if [ "$engine" = fake ]; then flags+=(--docker-endpoint=fake://); [ "$(id -u)" = 0 ] || root=$(mktemp -d); fi

if [ -n "$clean" ]; then
  export DOCKER_HOST=${endpoint:?there is nothing to clean on the embedded engine}
  # Only pods from manifest files, and only theirs.
  for uid in $(docker ps -a --filter label=annotation.kubernetes.io/config.source=file --format '{{.Label "io.kubernetes.pod.uid"}}' | sort -u); do
    docker ps -aq --filter "label=io.kubernetes.pod.uid=$uid" | xargs -r docker rm -f
  done
  exit
fi
# Pods may take their time to come: says after a while what there is by then. $$ is the agent, once it has taken this script's place.
tell_what_runs() {
  local pods=
  for _ in $(seq 30); do
    sleep 1
    kill -0 $$ 2>/dev/null || return 0
    pods=$(bin/rxlet ps --root-dir="$root" 2>/dev/null) || continue
    case $pods in *$'\n'*) ;; *) continue ;; esac
    case $pods in *Pending* | *ContainerCreating* | *PodInitializing* | *Init:*) ;; *) break ;; esac
  done
  printf '\n%s\n\n' "$pods"
  [ "$manifests $engine" != "manifests/examples docker" ] || echo "reach pod web:      curl http://127.0.0.1:8081/"
  printf '%s\n%s\n\n' "see what runs:      bin/rxlet ps --root-dir=$root" "read a pod's log:   bin/rxlet logs --root-dir=$root POD [-c CONTAINER]"
}
echo "running the pods of $manifests: edit, add or delete a file there and watch. Ctrl-C stops the agent and leaves the pods running." >&2
tell_what_runs >&2 &
exec bin/rxlet --pod-manifest-path="$manifests" --root-dir="$root" --cert-dir="$root/pki" "${flags[@]}" "$@"
