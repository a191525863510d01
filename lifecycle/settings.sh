# shellcheck shell=bash
# Every setting of the lifecycle scripts, with its default. HyperPod passes no environment to the
# scripts: change a value here and deploy again. The environment wins so that tests can override.

# Prefix of every path: empty on a node, a temporary directory in a test.
export ROOT=${HYPERPOD_LIFECYCLE_ROOT:-}

# The group's EBS volume (`volume_size_gib`), mounted by HyperPod before the scripts run.
export EBS_VOLUME=$ROOT/opt/sagemaker

# The instance store, on types that have one; used if the group has no EBS volume.
export INSTANCE_STORE=$ROOT/opt/dlami/nvme

# How long to wait for the EBS volume, and how often to check, in seconds.
export VOLUME_WAIT_SECONDS=${HYPERPOD_VOLUME_WAIT_SECONDS:-60}
export VOLUME_POLL_SECONDS=${HYPERPOD_VOLUME_POLL_SECONDS:-5}

# After a failure: how long to wait before exiting, so that the log reaches CloudWatch, in seconds.
export LOG_FLUSH_SECONDS=${HYPERPOD_LOG_FLUSH_SECONDS:-60}

# The file that HyperPod uploads to CloudWatch, stream LifecycleConfig/<group>/<instance>.
export LOG_FILE=$ROOT/var/log/provision/provisioning.log
