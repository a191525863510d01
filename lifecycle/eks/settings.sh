# shellcheck shell=bash
# Every setting of the lifecycle scripts, with its default. HyperPod passes no environment to the
# scripts: change a value here and deploy again. The environment wins so that tests can override.

# What the configuration of the deployment says, in lines `NAME=value`. The deployment puts it beside
# the scripts in their bucket, and HyperPod copies both to the node. Without it, the defaults hold.
DEPLOYMENT_SETTINGS=$(dirname -- "${BASH_SOURCE[0]}")/deployment.env

# Print the value of $1 in that file, or nothing. It is read and never run.
deployment_setting() {
  if [[ -f $DEPLOYMENT_SETTINGS ]]; then
    tr -d '\r' <"$DEPLOYMENT_SETTINGS" | sed -n "s/^$1=//p" | tail -n 1
  fi
}

# Prefix of every path: empty on a node, a temporary directory in a test.
export ROOT=${HYPERPOD_LIFECYCLE_ROOT:-}

# The group's EBS volume (`volume_size_gib`), mounted by HyperPod before the scripts run.
export EBS_VOLUME=$ROOT/opt/sagemaker

# The instance store, on types that have one; used if the group has no EBS volume.
export INSTANCE_STORE=$ROOT/opt/dlami/nvme

# How long to wait for the EBS volume, and how often to check, in seconds. AWS does not say when
# HyperPod mounts it; a group that has neither volume nor instance store waits in vain.
export VOLUME_WAIT_SECONDS=${HYPERPOD_VOLUME_WAIT_SECONDS:-300}
export VOLUME_POLL_SECONDS=${HYPERPOD_VOLUME_POLL_SECONDS:-5}

# What a node does that cannot use FSx for Lustre: `warn`, and it joins the cluster, or `stop`, and
# it fails. A deployment without a file system, or whose file system only some jobs need, warns.
LUSTRE_FAILURE=${HYPERPOD_LUSTRE_FAILURE:-$(deployment_setting LUSTRE_FAILURE)}
export LUSTRE_FAILURE=${LUSTRE_FAILURE:-warn}

# When scripts of the user's own run: `after` these, or not at all. The deployment alone sets it.
OWN_SCRIPTS=$(deployment_setting OWN_SCRIPTS)
export OWN_SCRIPTS

# How long a Lustre step may take, in seconds. AWS's set-up alone waits 120 s for the network.
export LUSTRE_WAIT_SECONDS=${HYPERPOD_LUSTRE_WAIT_SECONDS:-300}

# After a failure: how long to wait before exiting, so that the log reaches CloudWatch, in seconds.
export LOG_FLUSH_SECONDS=${HYPERPOD_LOG_FLUSH_SECONDS:-60}

# The file that HyperPod uploads to CloudWatch, stream LifecycleConfig/<group>/<instance>.
export LOG_FILE=$ROOT/var/log/provision/provisioning.log
