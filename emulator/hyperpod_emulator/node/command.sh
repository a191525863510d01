#!/usr/bin/env bash
# Stands in for the system commands of a node; what it does depends on the name it is called by.
# State lies in files under $STUB_STATE: mounts, disks, active, missing_modules, failing, calls.
set -euo pipefail

name=${0##*/}
call="$name${*:+ $*}"
printf '%s\n' "$call" >>"$STUB_STATE/calls"

# Whether a state file has a line. A process of its own for each look would take most of a run.
has() {
  local line
  while IFS= read -r line; do
    if [[ $line == "$2" ]]; then return 0; fi
  done <"$STUB_STATE/$1"
  return 1
}

if has failing "$call"; then
  echo "$name: made to fail" >&2
  exit 7
fi

show_exec_start() {
  local drop_in=$HYPERPOD_LIFECYCLE_ROOT/etc/systemd/system/containerd.service.d command
  command=$({ cat "$STUB_STATE/containerd_command" "$drop_in"/*.conf 2>/dev/null || true; } |
    sed -nE 's/^ExecStart=(.+)/\1/p' | tail -n 1)
  printf 'ExecStart={ path=%s ; argv[]=%s ; ignore_errors=no ; pid=0 }\n' "${command%% *}" "$command"
}

systemctl_stub() {
  local unit=${*: -1}
  case $1 in
    is-active) has active "$unit" ;;
    stop) sed -i "/^$unit\$/d" "$STUB_STATE/active" ;;
    start) printf '%s\n' "$unit" >>"$STUB_STATE/active" ;;
    show) show_exec_start ;;
    daemon-reload | try-restart | enable) ;;
    *) exit 64 ;;
  esac
}

lsblk_stub() {
  if [[ $1 == --nodeps ]]; then
    cut -f 1,2 "$STUB_STATE/disks"
  else
    awk -F '\t' -v disk="${*: -1}" '$1 == disk { print $3 }' "$STUB_STATE/disks"
  fi
}

case $name in
  mountpoint) has mounts "$2" ;;
  findmnt) cat "$STUB_STATE/mounts" ;;
  lsblk) lsblk_stub "$@" ;;
  systemctl) systemctl_stub "$@" ;;
  modinfo) ! has missing_modules "$1" ;;
  ip) echo "default via 10.1.0.1 dev ens32 proto dhcp src 10.1.0.9 metric 512" ;;
  nvidia-ctk) sed -i 's/^default_runtime_name.*/default_runtime_name = "nvidia"/' "$HYPERPOD_LIFECYCLE_ROOT/etc/containerd/config.toml" ;;
  lnetctl) if [[ $* == "net show --net efa" && -e $STUB_STATE/lnet_efa ]]; then cat "$STUB_STATE/lnet_efa"; fi ;;
  setup.sh) : >"$HYPERPOD_LIFECYCLE_ROOT/etc/systemd/system/configure-efa-fsx-lustre-client.service" ;;
  modprobe | lctl | sync) ;;
  *) exit 64 ;;
esac
