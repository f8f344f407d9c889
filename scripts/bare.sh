#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs README's two commands where nothing but a shell and apt is installed, and prints what was
# missing: debootstrap makes a bare root, HEAD is cloned into a copy of it, and the commands run
# there by chroot, once as root and once as a user who has sudo. Other computers' accidents, such as a
# make that happens to be there, are found by nothing else.
#   scripts/bare.sh [option…] [FOLDER]     FOLDER is ${TMPDIR:-/tmp}/nereid-bare if none is given
#     --as root|user     one of the two, not both
#     --run COMMAND      instead of README's commands; may be repeated
#     --suite NAME       bookworm
#     --mirror URL       the one this machine's apt uses
#     --ccache FOLDER    a compiler cache to take objects from; the user's turn only reads it
#     --keep             leaves the roots, to look around in
# The clone stands at the same path as this one, so that the compiler cache knows its files, but for
# those that see MLIR: the precompiled header holds the times of the files in it. The
# mounts live in a namespace of their own, which ends with the processes in it, whatever happens.
set -eu
cd "$(dirname "$0")/.."
source=$(pwd -P)
script=$source/scripts/bare.sh

say() { printf '== %s\n' "$*"; }
fail() {
  say "$*" >&2
  exit 2
}

# inside ROOT WHO CCACHE COMMAND: mounts what a running system has, and runs the command there. It is
# in a mount and a process namespace of its own.
inside() {
  root=$1
  who=$2
  cache=$3
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys" 2>/dev/null || mount --bind /sys "$root/sys"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  mkdir "$root/dev/pts" "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  home=/root
  [ "$who" = root ] || home=/home/$who
  set -- "HOME=$home" "USER=$who" "COMMAND=$4" "SOURCE=$source" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  for name in http_proxy https_proxy no_proxy; do
    eval "value=\${$name:-}"
    [ -z "$value" ] || set -- "$@" "$name=$value"
  done
  if [ -n "$cache" ]; then
    mkdir -p "$root/ccache"
    mount --bind "$cache" "$root/ccache"
    # The language is a part of the cache's keys.
    set -- "$@" CCACHE_DIR=/ccache CCACHE_TEMPDIR=/tmp/ccache "LANG=${LANG:-}"
    [ "$who" = root ] || set -- "$@" CCACHE_READONLY=1
  fi
  # No exec: a process that becomes another user is no longer ended with its parent, this one is.
  # shellcheck disable=SC2016
  chroot --userspec="$who" "$root" /usr/bin/env -i "$@" /bin/sh -c 'cd "$SOURCE" && eval "$COMMAND"' ||
    exit $?
  exit 0
}

if [ "${1:-}" = --inside ]; then
  shift
  inside "$@"
fi

turns="root user"
commands=
suite=bookworm
mirror=
cache=
keep=false
folder=${TMPDIR:-/tmp}/nereid-bare
newline='
'
while [ $# -gt 0 ]; do
  case "$1" in
  --as) turns=$2 && shift ;;
  --run) commands="$commands$2$newline" && shift ;;
  --suite) suite=$2 && shift ;;
  --mirror) mirror=$2 && shift ;;
  --ccache) cache=$(cd "$2" && pwd -P) && shift ;;
  --keep) keep=true ;;
  -*) fail "bare knows no option $1: see the head of $script" ;;
  *) folder=$1 ;;
  esac
  shift
done
[ -n "$commands" ] || commands="./dev demo$newline./dev test$newline"
[ "$(id -u)" -eq 0 ] || fail "bare makes a root file system and changes into it: run it as root"
command -v debootstrap >/dev/null || fail "bare needs debootstrap: apt-get install debootstrap"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd -P)
case "$folder/" in
"$source"/*) fail "$folder is inside the repository" ;;
esac

# repository_of SUITE: where this machine's apt takes a suite of the distribution from.
repository_of() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 2>/dev/null |
    awk -v suite="$1" '$1 == suite { print $2; exit }'
}
[ -n "$mirror" ] || mirror=$(repository_of "$suite")
eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
export http_proxy https_proxy

base=$folder/base-$suite
if [ ! -f "$base.complete" ]; then
  say "making a bare $suite in $base${mirror:+ from $mirror}"
  rm -rf "$base"
  debootstrap --variant=minbase "$suite" "$base" ${mirror:+"$mirror"} >"$folder/debootstrap.log" 2>&1 ||
    { tail -n 20 "$folder/debootstrap.log" && fail "debootstrap failed: $folder/debootstrap.log"; }
  : >"$base.complete"
fi

# prepare ROOT: a copy of the bare root that reaches the network as this machine does, with a clone
# of HEAD.
prepare() {
  rm -rf "$1"
  cp -a --reflink=auto "$base" "$1"
  for suffix in updates security; do
    from=$(repository_of "$suite-$suffix")
    [ -z "$from" ] || echo "deb $from $suite-$suffix main" >>"$1/etc/apt/sources.list"
  done
  apt-config dump | grep '^Acquire::' >"$1/etc/apt/apt.conf.d/01machine"
  cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
  rm -f "$folder/head.bundle"
  git -c safe.directory="$source" bundle create -q "$folder/head.bundle" HEAD
  mkdir -p "$(dirname "$1$source")"
  git -c advice.detachedHead=false clone -q "$folder/head.bundle" "$1$source"
  rm "$folder/head.bundle"
}

# in_root ROOT WHO COMMAND; everything in it ends when this script is ended.
in_root() {
  unshare --mount --pid --fork --kill-child "$script" --inside "$1" "$2" "$cache" "$3" &
  child=$!
  wait "$child"
}
child=
trap '[ -z "$child" ] || kill -KILL "$child" 2>/dev/null; exit 130' HUP INT TERM

# missing ROOT LOG: what the commands said about things that are not there, and what was left out.
missing() {
  grep -hiE 'not found|no such file|is missing|could not find|nothing is run' "$2" \
    "$1$source"/build/configure.log 2>/dev/null | sort -u | head -n 40 || true
  sed -n '/^Unsupported Tests/,/^$/p; /^Failed Tests/,/^$/p' \
    "$1$source"/build/Testing/Temporary/LastTest.log 2>/dev/null || true
  sed -n '/^The following tests FAILED/,/^$/p' "$2"
}

result=0
for turn in $turns; do
  root=$folder/$turn
  log=$folder/$turn.log
  say "a fresh root for $turn in $root, log in $log"
  prepare "$root"
  who=root
  if [ "$turn" = user ]; then
    who=builder
    {
      in_root "$root" root "apt-get update -qq && apt-get install -y -qq --no-install-recommends sudo"
      in_root "$root" root "useradd -m $who && chown -R $who: ."
    } >"$log" 2>&1 || { cat "$log" && fail "could not prepare the user with sudo"; }
    echo "$who ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/$who"
  fi
  : >"$log"
  printf '%s' "$commands" >"$folder/commands"
  while read -r command; do
    say "as $turn: $command"
    started=$(date +%s)
    status=0
    in_root "$root" "$who" "$command" </dev/null >>"$log" 2>&1 || status=$?
    say "status $status after $(($(date +%s) - started)) s"
    [ "$status" -eq 0 ] || { result=1 && tail -n 15 "$log"; }
  done <"$folder/commands"
  say "what was missing, as $turn:"
  missing "$root" "$log"
  $keep || rm -rf "$root"
done
[ "$result" -eq 0 ] && say "passed: nothing that the commands need was missing"
exit "$result"
