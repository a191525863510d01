#!/usr/bin/env bash
# Let Lustre use EFA, where the node has EFA and the image's Lustre client supports it.
# Only what the image ships is used. AWS also offers a set-up archive for download; it comes without
# a checksum or signature, and nothing unverified is run as root here.
# shellcheck source-path=SCRIPTDIR source=../lib/step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/lnet_efa.sh
source "$LIFECYCLE/lib/lnet_efa.sh"

readonly UNITS=$ROOT/etc/systemd/system
readonly COMMAND=$ROOT/usr/local/sbin/hyperpod-lnet-efa
readonly UNIT=hyperpod-lnet-efa.service

# AWS's own set-up, unpacked where nodeadm of the EKS images looks for it. AWS does not document
# which images have it. https://github.com/awslabs/amazon-eks-ami/pull/2696
readonly AMI_SETUP=$ROOT/etc/eks/configure-efa-fsx-lustre-client/setup.sh
# The unit that it makes, by the FSx for Lustre guide, "Configuring EFA clients".
readonly AMI_UNIT=configure-efa-fsx-lustre-client.service

# File systems stay reachable over TCP.
fail_over_tcp() {
  fail "Lustre over EFA did not start: Lustre uses TCP" "check: journalctl -u $1"
}

device_count=$(efa_devices | wc -l)
if ((device_count == 0)); then
  say "no EFA device: Lustre uses TCP"
  exit 0
fi
mapfile -t devices < <(lustre_devices)
if ((${#devices[@]} == 0)); then
  say "FSx for Lustre does not support EFA on $(instance_type): Lustre uses TCP"
  exit 0
fi
# The module is how AWS's own set-up tells support: operating system, kernel and client at once.
if ! modinfo kefalnd >/dev/null 2>&1 || ! command -v lnetctl >/dev/null; then
  say "the image's Lustre client has no EFA support (kernel module kefalnd, lnetctl): Lustre uses TCP"
  exit 0
fi

if [[ -f $UNITS/$AMI_UNIT ]]; then
  systemctl enable --now "$AMI_UNIT" || fail_over_tcp "$AMI_UNIT"
  say "$AMI_UNIT of the image: Lustre uses EFA for file systems that have it enabled"
  exit 0
fi
if [[ -f $AMI_SETUP ]]; then
  # Its exit code can be that of a start job which systemd replaced by a second one.
  (cd "$(dirname "$AMI_SETUP")" && bash ./setup.sh) ||
    systemctl is-active --quiet "$AMI_UNIT" || fail_over_tcp "$AMI_UNIT"
  say "$AMI_SETUP: Lustre uses EFA for file systems that have it enabled"
  exit 0
fi

install -D -m 0755 "$LIFECYCLE/lib/lnet_efa.sh" "$COMMAND"
cat >"$UNITS/$UNIT" <<SERVICE
[Unit]
Description=Lustre over EFA
After=network-online.target
Wants=network-online.target
Before=kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=$COMMAND

[Install]
WantedBy=multi-user.target
SERVICE
systemctl daemon-reload
systemctl enable --now "$UNIT" || fail_over_tcp "$UNIT"
say "Lustre uses ${#devices[@]} of $device_count EFA devices for file systems that have EFA enabled," \
  "TCP for the others"
