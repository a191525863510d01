#!/usr/bin/env bash
# Runs as root on each new node, in this folder, after the project's scripts. ROOT is empty on a
# node: what the project's scripts export is there, such as EBS_VOLUME and LOG_FILE.
set -Eeuo pipefail

# shellcheck source-path=SCRIPTDIR source=lib/limits.sh
source lib/limits.sh

raise_limits
echo "limits of open files and locked memory are raised"
