#!/bin/bash
# Makes the images that Kubernetes' end-to-end specs ask for out of what this machine has (Debian's busybox, curl and a few more, a C
# compiler, agnhost), and pushes them to a registry on loopback. They do what the specs look at, no more.
#   hack/e2e/images.sh HOST REGISTRY E2E     HOST: the engine; REGISTRY: host:port; E2E: the folder that has agnhost
# Images that the registry has already stay as they are.
set -euo pipefail
say() { echo "images.sh: $*" >&2; }
die() { say "$*"; exit 1; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../apt.sh"
. "$here/../root-fs.sh"
[ $# = 3 ] || die "usage: hack/e2e/images.sh HOST REGISTRY E2E"
export DOCKER_HOST=$1
registry=$2 e2e=$3
PATH=$PATH:/usr/sbin:/sbin

# Programs that specs start in agnhost's image, which is an Alpine with these packages.
tools=(curl dig bash ss ipcs ipcmk nsenter)
missing=()
for tool in busybox gcc "${tools[@]}"; do
  command -v "$tool" >/dev/null || case $tool in
    busybox) missing+=(busybox-static) ;;
    gcc) missing+=(gcc libc6-dev) ;;
    dig) missing+=(bind9-dnsutils) ;;
    ss) missing+=(iproute2) ;;
    ipcs | ipcmk | nsenter) missing+=(util-linux) ;;
    *) missing+=("$tool") ;;
  esac
done
[ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

compiled() { gcc -static -Os -o "$2" "$here/$1.c"; } # NAME FILE
served() { # FOLDER FILE TEXT: a web server's folder
  base "$1"; mkdir -p "$1/www"; echo "$3" >"$1/www/$2"
}
# One function for each root file system; it is made when the first image wants it.
root_busybox() { base "$1"; }
root_web() { served "$1" index.html '<html><body><h1>It works!</h1></body></html>'; }
root_nautilus() { served "$1" data.json '{"image": "nautilus.jpg"}'; }
root_kitten() { served "$1" data.json '{"image": "kitten.jpg"}'; }
root_pause() { mkdir -p "$1"; compiled pause "$1/pause"; }
root_nonewprivs() { base "$1"; mkdir -p "$1/usr/local/bin"; compiled privileges "$1/usr/local/bin/nnp"; chmod u+s,g+s "$1/usr/local/bin/nnp"; }
root_agnhost() {
  local tool; base "$1"; mkdir -p "$1"/{uploads,etc/ssl/certs}
  for tool in "${tools[@]}"; do program "$1" "$tool"; done
  [ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
  cp "$e2e/agnhost" "$1/agnhost"
  ln -s agnhost "$1/agnhost-2"
  cp "$e2e"/localhost.{crt,key} "$1/" 2>/dev/null || say "there is no localhost.crt in $e2e: agnhost's porter will not serve TLS"
  echo 'hosts: files dns' >"$1/etc/nsswitch.conf"
}

# busybox's shell would run busybox's dd, which does not know oflag=nocache.
root_debian() { root_agnhost "$1"; program "$1" dd; ln -sf /usr/bin/bash "$1/bin/sh"; }

in_registry() { curl -fs -o /dev/null -H 'Accept: application/vnd.docker.distribution.manifest.v2+json' "http://$registry/v2/${1%:*}/manifests/${1##*:}"; }
image() { # NAME ROOT CHANGE...
  local name=$1 root=$work/$2 changes=() change
  in_registry "$name" && return
  [ -d "$root" ] || "root_$2" "$root"
  for change in "${@:3}"; do changes+=(-c "$change"); done
  tar -C "$root" -c . | docker import "${changes[@]}" - "$registry/$name" >/dev/null
  docker push -q "$registry/$name" >/dev/null
  say "made $name"
}
# As process 1 busybox's httpd would not hear SIGTERM; the servers that it stands for end at once.
web='CMD ["sh", "-c", "trap \"exit 0\" TERM; httpd -f -p 80 -h /www & wait"]'
path='ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
for name in lib/busybox:1.29 lib/busybox:latest; do image $name busybox "$path" 'CMD ["sh"]'; done
for name in lib/httpd:2.4.38-alpine lib/httpd:2.4.39-alpine lib/nginx:1.14-alpine lib/nginx:1.15-alpine; do
  image $name web "$path" "$web" 'EXPOSE 80'
done
for name in nautilus kitten; do image e2e/$name:1.0 $name "$path" "$web" 'EXPOSE 80'; done
image e2e/nonroot:1.0 busybox "$path" 'USER 1234' 'CMD ["sh"]'
image e2e/nonewprivs:1.0 nonewprivs "$path" 'CMD ["nnp"]'
image e2e/agnhost:2.21 agnhost "$path" 'ENTRYPOINT ["/agnhost"]' 'CMD ["pause"]' 'EXPOSE 80 8080 8081 9376'
image e2e/ipc-utils:1.0 agnhost "$path" 'CMD ["sh"]'
image build/debian-iptables:buster-v1.3.0 debian "$path" 'CMD ["sh"]'
image gc/pause:3.2 pause 'ENTRYPOINT ["/pause"]'
