# shellcheck shell=bash
# What every script here has: the deployment's settings, the paths, the log, and how it fails.

# What the configuration of the deployment says, in lines `NAME=value`. The deployment puts it beside
# the scripts in their bucket, and HyperPod copies both to the node. Without it, the defaults hold.
DEPLOYMENT_SETTINGS=$(dirname -- "${BASH_SOURCE[0]}")/../deployment.env

# Print the value of $1 in that file, or nothing. It is read and never run.
deployment_setting() {
  if [[ -f $DEPLOYMENT_SETTINGS ]]; then
    tr -d '\r' <"$DEPLOYMENT_SETTINGS" | sed -n "s/^$1=//p" | tail -n 1
  fi
}

# Prefix of every path: empty on a node, a temporary directory in a test.
export ROOT=${HYPERPOD_LIFECYCLE_ROOT:-}

# When scripts of the user's own run: `after` these, or not at all. The deployment alone sets it.
OWN_SCRIPTS=$(deployment_setting OWN_SCRIPTS)
export OWN_SCRIPTS

# After a failure: how long to wait before exiting, so that the log reaches CloudWatch, in seconds.
export LOG_FLUSH_SECONDS=${HYPERPOD_LOG_FLUSH_SECONDS:-60}

# The file that HyperPod uploads to CloudWatch, stream LifecycleConfig/<group>/<instance>.
export LOG_FILE=$ROOT/var/log/provision/provisioning.log

# End a step with two messages: what is wrong, and what to check or do.
fail() {
  printf "${SEVERITY:-ERROR} %s\n" "$1" "$2" >&2
  exit 1
}
