#!/bin/sh
# Install Prometheus and promtool for the tests of this folder. With --check: say only whether the
# tests can run, by the code that this ends with:
#   0 they can   1 they cannot as yet   2 they cannot on this machine
# No service is set up: the tests start the program themselves, with a folder and port of their own.
set -eu

missing=
for program in prometheus promtool; do
  command -v "$program" >/dev/null || missing="$missing $program"
done

[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "The tests with a real Prometheus are left out: to install$missing takes apt-get and root"
  [ "${1-}" != --check ] || exit 2
  exit 0
fi
[ "${1-}" != --check ] || exit 1

echo "Setting up: Prometheus, by apt-get; half a minute the first time ..."
export DEBIAN_FRONTEND=noninteractive
# Its package would start it, and leave it running.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
progress=$(dirname "$0")/../../tools/progress.sh
sh "$progress" apt-get update
sh "$progress" apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 prometheus
