#!/usr/bin/env bash
# Put containerd's images and layers onto the data volume.
# shellcheck source-path=SCRIPTDIR source=../lib/step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

readonly DROP_IN=$ROOT/etc/systemd/system/containerd.service.d/90-hyperpod-data-root.conf

# Amazon Linux 2: the file that the node's bootstrap copies into place, and the copy if it is there.
set_root_in_files() {
  local file
  while read -r file; do
    set_toml_root "$file" "$target"
    say "$file: root = $target"
  done < <(containerd_config_files "$command")
}

# Without the data volume, containerd would fill the root volume unnoticed. At a boot, systemd knows
# the volume only from /etc/fstab, and AWS does not document that HyperPod enters it there: hence
# the check beside the dependency, and restarts until the volume is mounted. The unit that containerd
# ships restarts like this: https://github.com/containerd/containerd/blob/main/containerd.service
drop_in() {
  cat <<UNIT
[Unit]
RequiresMountsFor=$volume

[Service]
ExecStartPre=/usr/bin/mountpoint -q $volume
Restart=always
RestartSec=5
UNIT
}

# Elsewhere nodeadm may write the configuration after this script: --root wins over whatever it
# writes, and nothing else of the node's configuration changes.
start_command() {
  local own_command
  own_command=$(sed -E 's/[[:space:]]--root[=[:space:]][^[:space:]]+//' <<<"$command")
  printf '%s\n' "ExecStart=" "ExecStart=${own_command//%/%%} --root $target"
}

write_drop_in() {
  if [[ ! -f $DROP_IN || $(<"$DROP_IN") != "$1" ]]; then
    mkdir -p "$(dirname "$DROP_IN")"
    printf '%s\n' "$1" >"$DROP_IN"
    say "$DROP_IN: containerd starts only with $volume mounted"
    systemctl daemon-reload
  fi
}

warn_about_unknown_system() {
  local release
  release=$(os_release)
  case $release in
    amzn-2 | amzn-2023 | ubuntu-2[2-9].* | rhel-9.* | rhel-1[0-9].*) ;;
    *)
      say "WARNING the operating system $release is unknown to these scripts, written for Amazon" \
        "Linux 2 and 2023, Ubuntu from 22.04 and RHEL from 9; if the node does not work, use an" \
        "image that HyperPod supports for Amazon EKS"
      ;;
  esac
}

volume=$(data_volume)
if [[ -z $volume ]]; then
  say "no data volume: nothing to do"
  exit 0
fi
target=$volume/containerd
command=$(containerd_command)
current=$(containerd_root "$command")
warn_about_unknown_system

if [[ $current == "$target" && -d $target ]]; then
  say "containerd keeps its data in $target already"
else
  # $current stays where it is: it is small in a fresh image.
  stop_services kubelet containerd
  copy_directory "$current" "$target"
fi
if [[ -f $AL2_CONFIG ]]; then
  set_root_in_files
  write_drop_in "$(drop_in)"
else
  write_drop_in "$(drop_in && start_command)"
fi
command=$(containerd_command)
if [[ $(containerd_root "$command") != "$target" ]]; then
  fail "containerd still keeps its data in $(containerd_root "$command"), not in $target" \
    "check: systemctl cat containerd.service, for a drop-in that overrides $DROP_IN"
fi
start_stopped_services
