# Sourced by kube.sh, e2e.sh and kubeadm.sh, which say and die in their own names: finds Kubernetes' programs, or builds them once from Debian 12's
# source package. They come in groups, each a folder that is there whole or not at all:
#   bin      kube-apiserver, kube-controller-manager, kube-scheduler
#   e2e      e2e.test, ginkgo, agnhost (and the certificate that its TLS server shows)
#   kubelet  the reference kubelet, with dockershim
#   kubeadm  kubeadm, kube-proxy, and the control plane of the same version
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
CACHE=${XDG_CACHE_HOME:-/var/cache}/rxlet-kube
CACHED=$CACHE/debian12

# One of the programs that a machine may well have: the caller's folder goes first, then PATH.
find_binary() { # NAME: prints its path
  local file
  for file in "${KUBEBUILDER_ASSETS:+$KUBEBUILDER_ASSETS/$1}" "$(command -v "$1" || true)" "$CACHED/bin/$1"; do
    [ -n "$file" ] && [ -x "$file" ] && { echo "$file"; return; }
  done
  return 1
}
members() { # GROUP
  case $1 in
    bin) echo kube-apiserver kube-controller-manager kube-scheduler ;;
    e2e) echo e2e.test ginkgo agnhost ;;
    kubelet) echo kubelet ;;
    kubeadm) echo kubeadm kube-proxy; members bin ;;
  esac
}
# Of what must be the very version it is (a ginkgo on PATH is rarely the one that fits), only the caller's folder and the cache count.
find_group() { # GROUP: prints the folder that has all of it
  local folder file
  for folder in "${KUBEBUILDER_ASSETS:-}" "$CACHED/$1"; do
    [ -n "$folder" ] || continue
    for file in $(members "$1"); do [ -x "$folder/$file" ] || continue 2; done
    echo "$folder"
    return
  done
  return 1
}
has_group() { # GROUP
  local name
  [ "$1" = bin ] || { find_group "$1" >/dev/null; return; }
  for name in $(members bin); do find_binary "$name" >/dev/null || return 1; done
}
need_groups() { # GROUP...
  local group missing=() packages=() name
  find_binary etcd >/dev/null || packages+=(etcd-server)
  find_binary kubectl >/dev/null || packages+=(kubernetes-client)
  for name in openssl curl; do command -v $name >/dev/null || packages+=($name); done
  [ ${#packages[@]} = 0 ] || apt_install "${packages[@]}"
  for group; do has_group "$group" || missing+=("$group"); done
  [ ${#missing[@]} = 0 ] || {
    say "not found: $(for group in "${missing[@]}"; do members "$group"; done | xargs) (set KUBEBUILDER_ASSETS to the folder that has them)"
    build_groups "${missing[@]}"
  }
}

# The specs read what kubectl of their own version prints: where the machine's is another, Debian's is unpacked beside it.
need_kubectl_of_specs() {
  kubectl_of_specs >/dev/null || (
    umask 022
    mkdir -p "$CACHED"
    folder=$(mktemp -d "$CACHED/kubectl.XXXXXX")
    trap 'rm -rf "$folder"' EXIT
    cd "$folder"
    say "unpacking kubectl from Debian's kubernetes-client"
    # The first may lack the lists of packages.
    apt-get -qq -o APT::Sandbox::User=root download kubernetes-client >download.log 2>&1 ||
      { apt-get -qq update >download.log 2>&1 && apt-get -qq -o APT::Sandbox::User=root download kubernetes-client >download.log 2>&1; } ||
      { cat download.log >&2; die "could not download kubernetes-client"; }
    dpkg -x kubernetes-client_*.deb package
    chmod 755 package/usr/bin
    mv -T package/usr/bin "$CACHED/kubectl" 2>/dev/null || true
  )
  kubectl_of_specs >/dev/null || die "there is no kubectl 1.20"
}
kubectl_of_specs() { # prints its path
  local file
  for file in "${KUBEBUILDER_ASSETS:+$KUBEBUILDER_ASSETS/kubectl}" "$(command -v kubectl || true)" "$CACHED/kubectl/kubectl"; do
    [ -n "$file" ] && [ -x "$file" ] && [[ $("$file" version --client 2>/dev/null) == *v1.20.* ]] && { echo "$file"; return; }
  done
  return 1
}

# Everything happens in a folder beside the final ones, which appear whole or not at all.
build_groups() { ( # GROUP...
  [ "$(. /etc/os-release; echo "${VERSION_CODENAME:-}")" = bookworm ] || die "building them is known to work on Debian 12 only"
  apt_install golang-1.19-go golang-github-modern-go-reflect2-dev dpkg-dev make gcc libc6-dev rsync
  mkdir -p "$CACHE"
  build=$(mktemp -d "$CACHE/build.XXXXXX")
  trap 'chmod -R u+w "$build"; rm -rf "$build"' EXIT
  chmod 755 "$CACHE" "$build"
  say "building Kubernetes in $build, about ten minutes; its log is $CACHE/build.log"
  # Not as a condition: what fails in one does not end it.
  set +e
  (set -e; fetch_source "$build"; compile "$build" "$@") >"$CACHE/build.log" 2>&1
  status=$?
  set -e
  [ $status = 0 ] || { tail -n 20 "$CACHE/build.log" >&2; die "the build failed"; }
  mkdir -p -m 755 "$CACHED"
  for group; do
    # Another build may have come first.
    mv -T "$build/$group" "$CACHED/$group" 2>/dev/null || find_group "$group" >/dev/null || die "could not write $CACHED/$group"
  done
); }
# The lists of source packages stay in the build folder: the machine's own apt configuration is not touched.
fetch_source() { ( # BUILD
  set -e
  local apt=$1/apt list; mkdir -p "$apt/lists/partial" "$apt/sources"
  for list in /etc/apt/sources.list.d/*.sources; do [ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/sources/$(basename "$list")"; done
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do [ ! -e "$list" ] || sed -En 's/^deb /deb-src /p' "$list" >"$apt/sources/$(basename "$list" .list)-src.list"; done
  local options=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/sources" -o Dir::State::Lists="$apt/lists" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  cd "$1"
  apt-get "${options[@]}" source --download-only -t bookworm kubernetes
  dpkg-source -x kubernetes_1.20*.dsc source
); }
compile() { ( # BUILD GROUP...
  set -e
  local build=$1 group what=(); shift
  local source=$build/source package=$build/source/.go/src/k8s.io/kubernetes reflect2=vendor/github.com/modern-go/reflect2
  cd "$source"
  # The vendored reflect2 1.0.1 crashes under Go 1.18 and later when it walks a map; Debian's 1.0.2 does not.
  rm -f $reflect2/*.go $reflect2/*.s
  cp /usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} $reflect2/
  mkdir -p "$(dirname "$package")"
  ln -sfn ../../.. "$package"
  export PATH=/usr/lib/go-1.19/bin:$PATH HOME=$build GOPATH=$source/.go GOCACHE=$build/go-cache CGO_ENABLED=0
  cd "$package"
  for group; do
    case $group in
      bin) what+=(cmd/kube-apiserver cmd/kube-controller-manager cmd/kube-scheduler) ;;
      e2e) what+=(test/e2e/e2e.test vendor/github.com/onsi/ginkgo/ginkgo) ;;
      kubelet) what+=(cmd/kubelet) ;;
      kubeadm) what+=(cmd/kube-apiserver cmd/kube-controller-manager cmd/kube-scheduler cmd/kube-proxy cmd/kubeadm) ;;
    esac
  done
  mapfile -t what < <(printf '%s\n' "${what[@]}" | sort -u)
  nice make WHAT="${what[*]}"
  for group; do
    mkdir "$build/$group"
    if [ "$group" = e2e ]; then
      GO111MODULE=off nice go build -ldflags '-s -w' -o "$build/e2e/agnhost" k8s.io/kubernetes/test/images/agnhost
      cp _output/local/bin/linux/*/{e2e.test,ginkgo} test/images/agnhost/porter/localhost.{crt,key} "$build/e2e/"
    else
      local name; for name in $(members "$group"); do ln _output/local/bin/linux/*/"$name" "$build/$group/"; done
    fi
    chmod -R a+rX "$build/$group"
  done
); }
