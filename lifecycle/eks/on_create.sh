#!/usr/bin/env bash
# HyperPod runs this as root on each new node, before the node joins the cluster.
# Runs the steps in order. If a step fails, the node fails; for the steps of Lustre, only if
# LUSTRE_FAILURE says so. A second run changes nothing. Scripts of the user's own come last.
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
)
# AWS's set-up of EFA sets parameters of modules, so it comes before they are loaded.
readonly LUSTRE_STEPS=(
  lustre_over_efa
  lustre_modules
)

# What `lifecycle_scripts.directory` of the configuration puts beside these scripts. It runs only if
# `deployment.env` says so: a file of that name alone may be of anyone who can write to the bucket.
readonly OWN_SCRIPT=own/on_create.sh

run_step() {
  local step=$1
  bash "$here/steps/$step.sh" </dev/null 2>&1 | record "[$step]"
}

# `timeout` ends what the step started, too: a module or LNet that hangs must not hold the node.
run_lustre_step() {
  local step=$1
  timeout --kill-after=10 "$LUSTRE_WAIT_SECONDS" bash "$here/steps/$step.sh" </dev/null 2>&1 |
    record "[$step]"
}

# In its folder, and by its first line: it may be a program of another language.
run_own_script() {
  chmod u+x "$here/$OWN_SCRIPT"
  (cd "$here/own" && ./on_create.sh) </dev/null 2>&1 | record "[$OWN_SCRIPT]"
}

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
    run_lustre_step "$step" || tolerate "$step" "$?"
  done
  if [[ $OWN_SCRIPTS == after ]]; then
    run_own_script || give_up "$OWN_SCRIPT" "$?"
  fi
  if ((${#failed[@]})); then
    log "done: every step but ${failed[*]} succeeded"
  else
    log "done: every step succeeded"
  fi
}

main
