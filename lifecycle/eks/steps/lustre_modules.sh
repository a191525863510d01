#!/usr/bin/env bash
# Load the Lustre client of the image, now and at each boot, so that pods can mount FSx for Lustre.
# shellcheck source-path=SCRIPTDIR source=../lib/step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

readonly AT_BOOT=$ROOT/etc/modules-load.d/hyperpod-lustre.conf
readonly MODULES=(lnet lustre)

for module in "${MODULES[@]}"; do
  if ! modinfo "$module" >/dev/null 2>&1; then
    fail "the image has no kernel module $module: this node cannot mount FSx for Lustre" \
      "use an image with the Lustre client, as those of HyperPod have"
  fi
done

for module in "${MODULES[@]}"; do
  modprobe "$module" || fail "kernel module $module exists but does not load" \
    "check: dmesg; the Lustre client must be built for this kernel ($(uname -r))"
done
lctl network up || fail "LNet, the network of Lustre, does not come up" "check: dmesg, lctl network up"

mkdir -p "$(dirname "$AT_BOOT")"
printf '%s\n' "${MODULES[@]}" >"$AT_BOOT"
say "Lustre client loaded, LNet is up"
