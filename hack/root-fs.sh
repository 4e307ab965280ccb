# Sourced by those who make images out of what this machine has: parts of a root file system.
base() { # FOLDER: busybox, and what programs expect round it
  local applet; mkdir -p "$1"/{bin,dev,etc,proc,root,sys,tmp}
  cp "$(command -v busybox)" "$1/bin/busybox"
  for applet in $("$1/bin/busybox" --list); do [ "$applet" = busybox ] || ln -sf busybox "$1/bin/$applet"; done
  chmod 1777 "$1/tmp"
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$1/etc/passwd"
  printf 'root:x:0:\nnobody:x:65534:\n' >"$1/etc/group"
}
program() { # FOLDER NAME: copies a program with the libraries it wants
  local file; file=$(command -v "$2"); mkdir -p "$1/usr/bin"
  cp -L "$file" "$1/usr/bin/$2"
  libraries "$1" "$file"
}
libraries() { # FOLDER FILE...: copies the libraries that these want
  local root=$1 library; shift
  for library in $(ldd "$@" 2>/dev/null | grep -oE '/[^ ):]+\.so[^ ):]*' | sort -u); do
    mkdir -p "$root$(dirname "$library")"
    cp -L --update=none "$library" "$root$library" 2>/dev/null || cp -Ln "$library" "$root$library"
  done
}
