# shellcheck shell=bash
# Stopping systemd services temporarily, then starting those that were running.

STOPPED=()

stop_services() {
  local unit
  for unit in "$@"; do
    if systemctl is-active --quiet "$unit"; then
      say "stop $unit"
      systemctl stop "$unit"
      STOPPED=("$unit" ${STOPPED[@]+"${STOPPED[@]}"})
    fi
  done
}

# The last one stopped starts first.
start_stopped_services() {
  local unit
  for unit in ${STOPPED[@]+"${STOPPED[@]}"}; do
    say "start $unit"
    systemctl start "$unit"
  done
}
