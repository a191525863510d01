#!/usr/bin/env bash
# Stands in for the commands by which a Slurm node keeps accounts, under $HYPERPOD_LIFECYCLE_ROOT.
set -euo pipefail

root=$HYPERPOD_LIFECYCLE_ROOT
name=${0##*/}
printf '%s\n' "$name $*" >>"$STUB_STATE/calls"

# Print the value after the option $1.
option() {
  local wanted=$1
  shift
  while (($#)); do
    if [[ $1 == "$wanted" ]]; then echo "$2"; fi
    shift
  done
}

case $name in
  getent)
    awk -F : -v key="$2" '$1 == key || $3 == key { print; found = 1 } END { exit !found }' \
      "$root/etc/$1" || exit 2
    ;;
  groupadd) echo "${*: -1}:x:$(option --gid "$@"):" >>"$root/etc/group" ;;
  useradd)
    printf '%s:x:%s:%s::%s:%s\n' "${*: -1}" "$(option --uid "$@")" "$(option --gid "$@")" \
      "$(option --home-dir "$@")" "$(option --shell "$@")" >>"$root/etc/passwd"
    ;;
  chown) echo "${2%%:*} $(command -p stat --format %i "$3")" >>"$STUB_STATE/owners" ;;
  stat)
    inode=$(command -p stat --dereference --format %i "${*: -1}")
    awk -v inode="$inode" '$2 == inode { owner = $1 } END { print owner + 0 }' "$STUB_STATE/owners"
    ;;
  runuser) "${@:4}" ;;
  ssh-keygen)
    if [[ $1 == -y ]]; then
      sed 's/^private/ssh-ed25519/' "$(option -f "$@")"
    else
      echo "private $(option -f "$@" | sed 's#.*/\([^/]*\)/.ssh/.*#\1#')" >"$(option -f "$@")"
    fi
    ;;
  hostname) cat "$STUB_STATE/addresses" ;;
  *) exit 64 ;;
esac
