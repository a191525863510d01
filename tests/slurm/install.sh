#!/bin/sh
# Install a Slurm for the tests of this folder, with the database of its accounting and what compiles
# a plugin. With --check: say only whether the tests can run, by the code that this ends with:
#   0 they can   1 they cannot as yet   2 they cannot on this machine
# No service is set up: the tests start the programs themselves, with folders and ports of their own.
set -eu

PATH=$PATH:/usr/sbin
missing=
for program in gcc mariadb mariadbd munged sbatch slurmctld slurmd slurmdbd; do
  command -v "$program" >/dev/null || missing="$missing $program"
done
[ -e /usr/include/slurm/spank.h ] || missing="$missing slurm/spank.h"

[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "The tests with a real Slurm are left out: to install$missing takes apt-get and root"
  [ "${1-}" != --check ] || exit 2
  exit 0
fi
[ "${1-}" != --check ] || exit 1

echo "Setting up: Slurm and MariaDB, by apt-get; half a minute the first time ..."
export DEBIAN_FRONTEND=noninteractive
progress=$(dirname "$0")/../../tools/progress.sh
sh "$progress" apt-get update
sh "$progress" apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 \
  gcc libc6-dev libslurm-dev mariadb-client-core mariadb-server-core munge slurm-wlm slurmdbd
