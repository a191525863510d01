#!/usr/bin/env bash
# Put containerd's images and layers onto the data volume.
# shellcheck source-path=SCRIPTDIR source=../lib/step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

readonly DROP_IN=$ROOT/etc/systemd/system/containerd.service.d/90-hyperpod-data-root.conf

# Amazon Linux 2: the file that the node's bootstrap copies into place, and the copy if it is there.
set_root_in_files() {
  local file files
  files=$(containerd_config_files "$command")
  if [[ -z $files ]]; then
    fail "neither $AL2_CONFIG nor a configuration of containerd's own exists" \
      "use an image that HyperPod supports for Amazon EKS"
  fi
  while read -r file; do
    set_toml_root "$file" "$target"
    say "$file: root = $target"
  done <<<"$files"
}

# Elsewhere nodeadm may write the configuration after this script: --root wins over whatever it
# writes, and nothing else of the node's configuration changes.
set_root_in_drop_in() {
  local own_command
  own_command=$(sed -E 's/[[:space:]]--root[=[:space:]][^[:space:]]+//' <<<"$command")
  mkdir -p "$(dirname "$DROP_IN")"
  cat >"$DROP_IN" <<UNIT
[Unit]
RequiresMountsFor=$volume

[Service]
ExecStart=
ExecStart=${own_command//%/%%} --root $target
UNIT
  systemctl daemon-reload
  say "$DROP_IN: containerd starts with --root $target"
}

volume=$(data_volume)
if [[ -z $volume ]]; then
  say "no data volume: nothing to do"
  exit 0
fi
target=$volume/containerd
command=$(containerd_command)
current=$(containerd_root "$command")
if [[ $current == "$target" && -d $target ]]; then
  say "containerd keeps its data in $target already"
  exit 0
fi

release=$(os_release)
case $release in
  amzn-2) set_root=set_root_in_files ;;
  amzn-2023 | ubuntu-2[2-9].* | rhel-9.* | rhel-1[0-9].*) set_root=set_root_in_drop_in ;;
  *)
    fail "operating system $release is not supported: only Amazon Linux 2 and 2023, Ubuntu from 22.04, RHEL from 9" \
      "use an image that HyperPod supports for Amazon EKS"
    ;;
esac

# $current stays where it is: it is small in a fresh image.
stop_services kubelet containerd
copy_directory "$current" "$target"
"$set_root"
command=$(containerd_command)
if [[ $(containerd_root "$command") != "$target" ]]; then
  fail "containerd still keeps its data in $(containerd_root "$command"), not in $target" \
    "check: systemctl cat containerd.service, for a drop-in that overrides $DROP_IN"
fi
start_stopped_services
