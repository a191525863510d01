#!/usr/bin/env bash
# HyperPod runs this as root on each new node, once its AMI has set Slurm up, and again when it
# replaces the node or updates its software. A second run changes nothing. If a step fails, the node
# fails. Scripts of the user's own come last.
set -Eeuo pipefail

# shellcheck source-path=SCRIPTDIR source=lib/run.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/run.sh"

readonly STEPS=(
  limits
  users
  motd
)

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
  run_own_scripts
  log "done: every step succeeded"
}

main
