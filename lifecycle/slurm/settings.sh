# shellcheck shell=bash
# Every setting of the scripts, with its default. The deployment writes `deployment.env`, in lines
# `NAME=value`, beside them. The environment wins where a test overrides.

# Print the value of $1 in that file, or nothing. It is read and never run.
deployment_setting() {
  local file
  file=$(dirname -- "${BASH_SOURCE[0]}")/deployment.env
  if [[ -f $file ]]; then
    sed -n "s/^$1=//p" "$file" | tail -n 1
  fi
}

# Prefix of every path: empty on a node, a temporary directory in a test.
export ROOT=${HYPERPOD_LIFECYCLE_ROOT:-}

# How many files a process may have open; empty if the deployment has the AMI's set-up alone.
OPEN_FILES=$(deployment_setting OPEN_FILES)
export OPEN_FILES

# Where HyperPod mounts the deployment's file systems, with spaces between; homes are on the first.
SHARED_DIRECTORIES=$(deployment_setting SHARED_DIRECTORIES)
export SHARED_DIRECTORIES

# When scripts of the user's own run: `after` these, or not at all.
OWN_SCRIPTS=$(deployment_setting OWN_SCRIPTS)
export OWN_SCRIPTS

# How long to wait for a file system, and how often to check, in seconds.
export MOUNT_WAIT_SECONDS=${HYPERPOD_VOLUME_WAIT_SECONDS:-300}
export MOUNT_POLL_SECONDS=${HYPERPOD_VOLUME_POLL_SECONDS:-5}

# After a failure: how long to wait before exiting, so that the log reaches CloudWatch, in seconds.
export LOG_FLUSH_SECONDS=${HYPERPOD_LOG_FLUSH_SECONDS:-60}

# The file that HyperPod uploads to CloudWatch, stream LifecycleConfig/<group>/<instance>.
export LOG_FILE=$ROOT/var/log/provision/provisioning.log
