#!/usr/bin/env bash
# Put kubelet's directory (pods' local volumes, plugins) onto the data volume.
# A link rather than a bind mount: it survives a reboot without a systemd unit, and when the
# volume is missing kubelet fails visibly instead of filling the root volume.
# shellcheck source-path=SCRIPTDIR source=../lib/step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

readonly DIRECTORY=$ROOT/var/lib/kubelet

refuse_mounted_volumes() {
  local mounted
  mounted=$(findmnt --raw --noheadings --output TARGET | grep -F -- "$DIRECTORY/" | head -n 3 || true)
  if [[ -n $mounted ]]; then
    fail "pods have volumes mounted under $DIRECTORY: ${mounted//$'\n'/ }" \
      "this script runs before the node joins the cluster; drain the node before running it by hand"
  fi
}

volume=$(data_volume)
if [[ -z $volume ]]; then
  say "no data volume: nothing to do"
  exit 0
fi
target=$volume/kubelet

if [[ -L $DIRECTORY ]]; then
  link=$(readlink "$DIRECTORY")
  if [[ $link != "$target" ]]; then
    fail "$DIRECTORY is a link to $link, expected $target" \
      "check: what in the image made this link; remove it there"
  fi
  mkdir -p "$target"
  say "$DIRECTORY is a link to $target already"
  exit 0
fi

# An earlier run was cut off between the two renames below.
if [[ ! -e $DIRECTORY && -d $DIRECTORY.old ]]; then
  mv -- "$DIRECTORY.old" "$DIRECTORY"
fi
refuse_mounted_volumes
stop_services kubelet
copy_directory "$DIRECTORY" "$target"
mkdir -p "$DIRECTORY"
mv -- "$DIRECTORY" "$DIRECTORY.old"
ln -s "$target" "$DIRECTORY"
rm -rf -- "$DIRECTORY.old"
say "$DIRECTORY is now a link to $target"
start_stopped_services
