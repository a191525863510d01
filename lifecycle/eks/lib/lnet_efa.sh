#!/usr/bin/env bash
# Give LNet, the network of Lustre, the EFA devices of this node beside TCP. Runs at each boot:
# LNet forgets its networks. Commands and numbers: AWS, FSx for Lustre guide, "Configuring EFA
# clients", https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html
set -euo pipefail

readonly ROOT=${HYPERPOD_LIFECYCLE_ROOT:-}

# Print this node's EC2 instance type, or nothing. EC2 puts it into DMI, where AWS's own plugin of
# NCCL reads it: https://github.com/aws/aws-ofi-nccl/blob/master/src/nccl_ofi_system.cpp
instance_type() {
  local file=$ROOT/sys/devices/virtual/dmi/id/product_name
  if [[ -r $file ]]; then
    tr -d '[:space:]' <"$file"
  fi
}

# Print the EFA devices. P6-B300 has InfiniBand devices of NVIDIA's beside them.
efa_devices() {
  local driver device
  for driver in "$ROOT"/sys/class/infiniband/*/device/driver; do
    if [[ $(readlink "$driver") == */efa ]]; then
      device=${driver%/device/driver}
      printf '%s\n' "${device##*/}"
    fi
  done | sort -V
}

# Print how many EFA devices the guide gives to Lustre on instance type $1. Each counts against the
# 1024 connections of a file system. The guide excludes Trainium2.
efa_devices_of_type() {
  case $1 in
    p6-b300.*) echo 16 ;;
    p5.* | p5e.* | p5en.* | p6-b200.* | p6e-gb200.*) echo 8 ;;
    trn2*) echo 0 ;;
    *) echo 2 ;;
  esac
}

# Print the EFA devices for Lustre, as the EKS guide chooses them: of two, the first and the last;
# of more, evenly spread (every fourth of the 32 of a P5).
# https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi-tuning-efa.html
lustre_devices() {
  local devices count index
  mapfile -t devices < <(efa_devices)
  count=$(efa_devices_of_type "$(instance_type)")
  if ((count >= ${#devices[@]})); then
    count=${#devices[@]}
  elif ((count == 2)); then
    devices=("${devices[0]}" "${devices[-1]}")
  fi
  for ((index = 0; index < count; index++)); do
    printf '%s\n' "${devices[index * ${#devices[@]} / count]}"
  done
}

add_to_lnet() {
  local interface present device devices
  mapfile -t devices < <(lustre_devices)
  interface=$(ip -4 -o route show default | sed -nE 's/.* dev ([^ ]+).*/\1/p' | head -n 1)
  modprobe lnet
  lctl network up
  modprobe kefalnd ipif_name="$interface"
  present=$(lnetctl net show --net efa 2>/dev/null || true)
  for device in "${devices[@]}"; do
    if ! grep -qw -- "$device" <<<"$present"; then
      lnetctl net add --net efa --if "$device" --peer-credits 32
    fi
  done
  if [[ -z $present ]]; then
    lnetctl set discovery 1
    lnetctl udsp add --src efa --priority 0
  fi
  modprobe lustre
}

# The step that installs this script sources it.
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  add_to_lnet
fi
