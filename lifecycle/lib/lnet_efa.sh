#!/usr/bin/env bash
# Give LNet, the network of Lustre, the EFA devices of this node beside TCP. Runs at each boot:
# LNet forgets its networks. Commands: AWS, FSx for Lustre guide, "Configuring EFA clients".
set -euo pipefail

readonly ROOT=${HYPERPOD_LIFECYCLE_ROOT:-}

mapfile -t devices < <(find "$ROOT/sys/class/infiniband" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V)
interface=$(ip -4 -o route show default | sed -nE 's/.* dev ([^ ]+).*/\1/p' | head -n 1)

modprobe lnet
lctl network up
modprobe kefalnd ipif_name="$interface"
present=$(lnetctl net show --net efa 2>/dev/null || true)
# The guide uses the first and the last device.
for device in $(printf '%s\n' "${devices[0]}" "${devices[-1]}" | uniq); do
  if ! grep -qw -- "$device" <<<"$present"; then
    lnetctl net add --net efa --if "$device" --peer-credits 32
  fi
done
if [[ -z $present ]]; then
  lnetctl set discovery 1
  lnetctl udsp add --src efa --priority 0
fi
modprobe lustre
