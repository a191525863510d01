#!/bin/sh
# Fails when a node has lost a GPU: one that falls off the PCI bus is no longer among its devices.
# Its number for the instance types that it runs on, such as 8 for ml.p5.48xlarge:
wanted=8
# Where devices are; another folder in a test.
devices="${PCI_DEVICES:-/sys/bus/pci/devices}"

found=0
for device in "$devices"/*; do
  # NVIDIA's devices of the class "3D controller": NVSwitches are of another class.
  if [ "$(cat "$device/vendor" 2>/dev/null)" = 0x10de ] &&
    [ "$(cat "$device/class" 2>/dev/null)" = 0x030200 ]; then
    found=$((found + 1))
  fi
done
if [ "$found" -lt "$wanted" ]; then
  echo "$found of $wanted GPUs are on the PCI bus"
  exit 1
fi
