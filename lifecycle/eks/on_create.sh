#!/usr/bin/env bash
# HyperPod runs this as root on each new node, before the node joins the cluster.
# Runs the steps in order. If a step fails, the node fails; for the steps of Lustre, only if
# LUSTRE_FAILURE says so. A second run changes nothing. Scripts of the user's own come last.
set -Eeuo pipefail

# shellcheck source-path=SCRIPTDIR source=lib/run.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/run.sh"

readonly STEPS=(
  wait_for_data_volume
  nvidia_runtime
  containerd_data_root
  kubelet_directory
)
# AWS's set-up of EFA sets parameters of modules, so it comes before they are loaded.
readonly LUSTRE_STEPS=(
  lustre_over_efa
  lustre_modules
)

tolerate() {
  local step=$1 code=$2
  if ((code == 124 || code == 137)); then
    log "$SEVERITY step $step was ended after $LUSTRE_WAIT_SECONDS s"
  fi
  if [[ $LUSTRE_FAILURE == stop ]]; then
    give_up "$step" "$code"
  fi
  log "WARNING step $step failed with exit code $code; the node joins the cluster, and pods on it" \
    "may fail to mount FSx for Lustre or be slow on it; see the [$step] lines above"
  failed+=("$step")
}

check_settings() {
  if [[ $LUSTRE_FAILURE != warn && $LUSTRE_FAILURE != stop ]]; then
    log "WARNING deployment.env: LUSTRE_FAILURE is '$LUSTRE_FAILURE', must be 'warn' or 'stop';" \
      "using 'warn'"
    export LUSTRE_FAILURE=warn
  fi
}

main() {
  local step failed=()
  mkdir -p "$(dirname "$LOG_FILE")"
  log "start: lifecycle scripts, $((${#STEPS[@]} + ${#LUSTRE_STEPS[@]})) steps"
  check_settings
  for step in "${STEPS[@]}"; do
    run_step "$step" || give_up "$step" "$?"
  done
  # What the messages of a step begin with.
  export SEVERITY=ERROR
  if [[ $LUSTRE_FAILURE == warn ]]; then
    SEVERITY=WARNING
  fi
  for step in "${LUSTRE_STEPS[@]}"; do
    # It ends what the step started, too: a module or LNet that hangs must not hold the node.
    run_step "$step" timeout --kill-after=10 "$LUSTRE_WAIT_SECONDS" || tolerate "$step" "$?"
  done
  run_own_scripts
  if ((${#failed[@]})); then
    log "done: every step but ${failed[*]} succeeded"
  else
    log "done: every step succeeded"
  fi
}

main
