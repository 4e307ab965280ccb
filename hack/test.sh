#!/bin/bash
# Sets up and runs every test: unit, contract, vectors, integration. The last runs against a Docker Engine of its own.
#   hack/test.sh               everything
#   hack/test.sh unit|contract|vectors|integration ...   some of it
. "$(dirname "$0")/setup.sh"
setup_npm
npm run -s build

engine_dir=${RXLET_TEST_ENGINE_DIR:-/var/lib/rxlet-test-engine}
start_engine() {
  [ -z "${RXLET_TEST_DOCKER_ENDPOINT:-}" ] || return 0
  command -v docker-registry >/dev/null || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends docker-registry; } >/dev/null 2>&1 ||
    { echo "could not install docker-registry, which the image tests run against" >&2; exit 1; }
  trap 'hack/docker.sh stop "$engine_dir"' EXIT
  RXLET_TEST_DOCKER_ENDPOINT=$(hack/docker.sh up "$engine_dir")
  export RXLET_TEST_DOCKER_ENDPOINT RXLET_TEST_ENGINE_DIR=$engine_dir RXLET_TEST_IMAGE=busybox:1.35 RXLET_TEST_PAUSE_IMAGE=rxlet/pause:1
}

[ $# -gt 0 ] || set -- unit contract vectors integration
for part; do
  echo "== $part"
  case $part in
    unit) npm run -s test:unit ;;
    contract) start_engine; npm run -s test:contract ;;
    vectors) npm run -s vectors -- test/vectors --skip-unknown ;;
    integration) start_engine; npm run -s test:integration ;;
    *) echo "usage: hack/test.sh [unit|contract|vectors|integration]..." >&2; exit 2 ;;
  esac
done
