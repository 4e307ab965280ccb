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
  local file library; file=$(command -v "$2"); mkdir -p "$1/usr/bin"
  cp -L "$file" "$1/usr/bin/$2"
  for library in $(ldd "$file" 2>/dev/null | grep -oE '/[^ )]+\.so[^ )]*'); do mkdir -p "$1$(dirname "$library")"; cp -L --update=none "$library" "$1$library" 2>/dev/null || cp -Ln "$library" "$1$library"; done
}
