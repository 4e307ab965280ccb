#!/bin/sh
# rxlet @VERSION@: this file is a short script with the program and a Node.js behind it. They are unpacked once, where only their owner can write.
set -eu
sum=@SUM@ lines=@LINES@

die() { echo "rxlet: $*" >&2; exit 1; }
case $0 in
  */*) self=$0 ;;
  *) self=$(command -v -- "$0") || die "cannot find $0, which is to be unpacked" ;;
esac

if [ -n "${RXLET_PROGRAM_DIR:-}" ]; then base=$RXLET_PROGRAM_DIR
elif [ "$(id -u)" = 0 ]; then base=/var/cache/rxlet
else base=${XDG_CACHE_HOME:-${HOME:?"rxlet: HOME or RXLET_PROGRAM_DIR has to say where to unpack"}/.cache}/rxlet
fi
program=$base/program-$sum

unpack() {
  umask 022
  mkdir -p "$base" || die "cannot make $base, where the program is to be unpacked: RXLET_PROGRAM_DIR names another folder"
  new=$(mktemp -d "$base/unpacking.XXXXXX") || die "cannot write to $base, where the program is to be unpacked: RXLET_PROGRAM_DIR names another folder"
  trap 'rm -rf "$new"' EXIT
  tail -n "+$lines" "$self" | tar -xzf - -C "$new" --no-same-owner || die "cannot unpack $self into $base: is it whole, and is there room for 120 MB?"
  chmod 755 "$new"
  # Another start may have been faster.
  mv -T "$new" "$program" 2>/dev/null || [ -x "$program/bin/rxlet" ] || die "cannot move the program to $program"
  rm -rf "$new"
  trap - EXIT
  # Of earlier versions; an agent that runs starts its helpers from its own.
  for old in "$base"/program-*; do
    [ "$old" = "$program" ] || readlink /proc/[0-9]*/exe 2>/dev/null | grep -qF "$old/" || rm -rf "$old"
  done
}

# What others could write, they could have others run.
safe() { [ -z "$(find "$1" -maxdepth 0 \( ! -user "$(id -u)" -o -perm /022 \) 2>/dev/null)" ] || die "others than $(id -un) can write to $1: remove it, or name another folder by RXLET_PROGRAM_DIR"; }
[ ! -e "$base" ] || safe "$base"
[ -x "$program/bin/rxlet" ] || unpack
safe "$program"
export RXLET_INVOKED_AS="$0"
exec "$program/bin/rxlet" "$@"
