# shellcheck shell=bash
# Every setting of the scripts, with its default. The deployment writes `deployment.env`, in lines
# `NAME=value`, beside them. The environment wins where a test overrides.

# shellcheck source-path=SCRIPTDIR source=lib/script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/script.sh"

# How many files a process may have open; empty if the deployment has the AMI's set-up alone.
OPEN_FILES=$(deployment_setting OPEN_FILES)
export OPEN_FILES

# Where HyperPod mounts the deployment's file systems, with spaces between; homes are on the first.
SHARED_DIRECTORIES=$(deployment_setting SHARED_DIRECTORIES)
export SHARED_DIRECTORIES

# How long to wait for a file system, and how often to check, in seconds.
export MOUNT_WAIT_SECONDS=${HYPERPOD_VOLUME_WAIT_SECONDS:-300}
export MOUNT_POLL_SECONDS=${HYPERPOD_VOLUME_POLL_SECONDS:-5}

# How long a user's own files may hold up a node, in seconds.
export USER_SECONDS=${HYPERPOD_USER_SECONDS:-30}
