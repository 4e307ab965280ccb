# Sourced by package.sh: the program with a Node.js of its own, and archives that come out the same each time.
stage_program() { # FOLDER: bin, dist, and Node.js where bin/rxlet looks for it
  local node=node_modules/node-linux-$arch/bin/node
  [ -x "$node" ] || die "there is no $node: run npm ci"
  command -v strip >/dev/null || apt_install binutils
  if [ ! -e "$work/node" ]; then strip --strip-unneeded -o "$work/node" "$node"; fi
  install -D -m 755 bin/rxlet "$1/bin/rxlet"
  install -D -m 755 "$work/node" "$1/$node"
  mkdir -p "$1/dist/page"
  cp dist/*.js dist/THIRD-PARTY-LICENSES.txt "$1/dist/"
  cp dist/page/* "$1/dist/page/"
}
set_times() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; } # FOLDER
tar_of() { # FOLDER [NAME...]: to standard output
  local folder=$1; shift
  [ $# -gt 0 ] || set -- .
  tar -C "$folder" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -c "$@"
}
