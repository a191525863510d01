#!/usr/bin/env bash
# Wait until HyperPod has mounted the group's EBS volume. The instance store will do in its place.
# shellcheck source-path=SCRIPTDIR source=../lib/step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

no_volume_is_coming() {
  [[ -n $(data_volume) && -z $(unmounted_ebs_disks) ]]
}

waited=0
until mountpoint -q "$EBS_VOLUME" || no_volume_is_coming || ((waited >= VOLUME_WAIT_SECONDS)); do
  say "waiting for $EBS_VOLUME to be mounted: $waited of at most $VOLUME_WAIT_SECONDS s"
  sleep "$VOLUME_POLL_SECONDS"
  waited=$((waited + VOLUME_POLL_SECONDS))
done

volume=$(data_volume)
if [[ $volume != "$EBS_VOLUME" ]]; then
  unmounted=$(unmounted_ebs_disks | paste -sd ' ')
  # A group without a volume is a choice, and has no such disk.
  if [[ -n $unmounted ]]; then
    problem="$EBS_VOLUME is not mounted after $VOLUME_WAIT_SECONDS s, yet this disk is attached: $unmounted"
    # A node that keeps images and pods on its small root volume by mistake fails hours later, with
    # "disk pressure".
    if [[ -z $volume ]]; then
      fail "$problem" \
        "check: lsblk, dmesg, mount on the node; the next attempt of HyperPod gets a new volume"
    fi
    say "WARNING $problem; using $volume instead"
  fi
fi

if [[ -n $volume ]]; then
  say "data volume: $volume"
else
  say "no data volume: the instance group has no volume_size_gib and the type no instance store;" \
    "containerd and kubelet stay on the root volume"
fi
