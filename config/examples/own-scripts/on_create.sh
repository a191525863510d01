#!/usr/bin/env bash
# Runs as root on each new node. After the project's scripts, what those export is there, such as
# EBS_VOLUME and LOG_FILE.
set -Eeuo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
# shellcheck source-path=SCRIPTDIR source=lib/limits.sh
source lib/limits.sh

raise_limits
echo "limits of open files and locked memory are raised"
