# shellcheck shell=bash
# Log lines with a UTC timestamp, to standard output and to $LOG_FILE.

log() {
  printf '%s\n' "$*" | record ""
}

# Copy standard input to the log, each line with the time and the prefix $1.
record() {
  local prefix=${1:+$1 } line
  while IFS= read -r line || [[ -n $line ]]; do
    TZ=UTC printf '%(%Y-%m-%dT%H:%M:%SZ)T %s%s\n' -1 "$prefix" "$line"
  done | tee -a "$LOG_FILE"
}
