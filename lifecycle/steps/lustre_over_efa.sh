#!/usr/bin/env bash
# Let Lustre use EFA, where the node has EFA and the image's Lustre client supports it.
# Only what the image ships is used. AWS also offers a set-up archive for download; it comes without
# a checksum or signature, and nothing unverified is run as root here.
# shellcheck source-path=SCRIPTDIR source=../lib/step.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib/step.sh"

readonly COMMAND=$ROOT/usr/local/sbin/hyperpod-lnet-efa
readonly UNIT=$ROOT/etc/systemd/system/hyperpod-lnet-efa.service

has_efa() {
  local driver
  for driver in "$ROOT"/sys/class/infiniband/*/device/driver; do
    if [[ $(readlink "$driver") == */efa ]]; then
      return
    fi
  done
  return 1
}

if ! has_efa; then
  say "no EFA device: Lustre uses TCP"
  exit 0
fi
# The module is how AWS's own set-up tells support: operating system, kernel and client at once.
if ! modinfo kefalnd >/dev/null 2>&1 || ! command -v lnetctl >/dev/null; then
  say "the image's Lustre client has no EFA support (kernel module kefalnd, lnetctl): Lustre uses TCP"
  exit 0
fi

install -D -m 0755 "$(dirname -- "${BASH_SOURCE[0]}")/../lib/lnet_efa.sh" "$COMMAND"
cat >"$UNIT" <<SERVICE
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
# File systems stay reachable over TCP: a slower mount is better than no node.
if systemctl enable --now "$(basename "$UNIT")"; then
  say "Lustre uses EFA for file systems that have it enabled, TCP for the others"
else
  say "WARNING Lustre over EFA did not start, Lustre uses TCP; check: journalctl -u $(basename "$UNIT" .service)"
fi
