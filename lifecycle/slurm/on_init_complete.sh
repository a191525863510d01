#!/usr/bin/env bash
# HyperPod runs this as root on each new node, once its AMI has set Slurm up, and again when it
# replaces the node or updates its software. A second run changes nothing. If a step fails, the node
# fails. Scripts of the user's own come last.
set -Eeuo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=settings.sh
source "$here/settings.sh"
# shellcheck source-path=SCRIPTDIR source=lib/log.sh
source "$here/lib/log.sh"

readonly STEPS=(
  limits
  users
  motd
)
readonly OWN_SCRIPT=own/on_create.sh

run_step() {
  local step=$1
  bash "$here/steps/$step.sh" </dev/null 2>&1 | record "[$step]"
}

# In its folder, and by its first line: it may be a program of another language.
run_own_script() {
  chmod u+x "$here/$OWN_SCRIPT"
  (cd "$here/own" && ./on_create.sh) </dev/null 2>&1 | record "[$OWN_SCRIPT]"
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
  local step steps=()
  mkdir -p "$(dirname "$LOG_FILE")"
  if [[ -n $OPEN_FILES ]]; then
    steps=("${STEPS[@]}")
  fi
  log "start: lifecycle scripts, ${#steps[@]} steps"
  for step in "${steps[@]}"; do
    run_step "$step" || give_up "$step" "$?"
  done
  if [[ $OWN_SCRIPTS == after ]]; then
    run_own_script || give_up "$OWN_SCRIPT" "$?"
  fi
  log "done: every step succeeded"
}

main
