#!/bin/sh
# Runs a quiet command, `progress.sh npm ci`: says every half minute that it lasts, and what it
# printed if it fails. Lines alone, for a log as for a terminal.
set -u
printed=$(mktemp) || exit
seconds=0
# The last sleep outlives the loop, and must not keep the caller's pipe open; the loop must not
# outlive a script that is killed.
while sleep 30 >/dev/null && kill -0 $$; do
  seconds=$((seconds + 30))
  echo "  ... $seconds s"
done 2>/dev/null &
trap 'kill $! 2>/dev/null; rm -f "$printed"' EXIT
trap 'exit 130' INT TERM
"$@" >"$printed" 2>&1 && exit
code=$?
cat "$printed" >&2
exit "$code"
