# shellcheck shell=bash
# What the script that nodes run does with the others: run them, and end if one fails.

# What `lifecycle_scripts.directory` of the configuration puts beside these scripts. It runs only if
# `deployment.env` says so: a file of that name alone may be of anyone who can write to the bucket.
readonly OWN_SCRIPT=own/on_create.sh

LIFECYCLE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
readonly LIFECYCLE
# shellcheck source-path=SCRIPTDIR/.. source=settings.sh
source "$LIFECYCLE/settings.sh"
# shellcheck source-path=SCRIPTDIR/.. source=lib/log.sh
source "$LIFECYCLE/lib/log.sh"

# Run a step; a command before it, such as `timeout`, may be given.
run_step() {
  local step=$1
  "${@:2}" bash "$LIFECYCLE/steps/$step.sh" </dev/null 2>&1 | record "[$step]"
}

# In its folder, and by its first line: it may be a program of another language.
run_own_script() {
  chmod u+x "$LIFECYCLE/$OWN_SCRIPT"
  (cd "$LIFECYCLE/own" && ./on_create.sh) </dev/null 2>&1 | record "[$OWN_SCRIPT]"
}

# Run the user's own scripts, if the deployment says so.
run_own_scripts() {
  if [[ $OWN_SCRIPTS == after ]]; then
    run_own_script || give_up "$OWN_SCRIPT" "$?"
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
