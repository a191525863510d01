#!/usr/bin/env bash
# HyperPod runs this as root on each new node, before the node joins the cluster.
# Runs the steps in order. If a step fails, the node fails. A second run changes nothing.
set -Eeuo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=settings.sh
source "$here/settings.sh"
# shellcheck source-path=SCRIPTDIR source=lib/log.sh
source "$here/lib/log.sh"

readonly STEPS=(
  wait_for_data_volume
  nvidia_runtime
  containerd_data_root
  kubelet_directory
  lustre_modules
  lustre_over_efa
)

run_step() {
  local step=$1
  bash "$here/steps/$step.sh" </dev/null 2>&1 | record "[$step]"
}

give_up() {
  local step=$1 code=$2
  log "ERROR step $step failed with exit code $code; the steps after it did not run"
  log "ERROR see the [$step] lines above, in $LOG_FILE on the node or in CloudWatch," \
    "log group /aws/sagemaker/Clusters/<name>/<id>, stream LifecycleConfig/<group>/<instance>"
  sync
  sleep "$LOG_FLUSH_SECONDS"
  exit "$code"
}

main() {
  local step
  mkdir -p "$(dirname "$LOG_FILE")"
  log "start: lifecycle scripts, ${#STEPS[@]} steps"
  for step in "${STEPS[@]}"; do
    run_step "$step" || give_up "$step" "$?"
  done
  log "done: every step succeeded"
}

main
