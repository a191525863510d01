# shellcheck shell=bash
# Every setting of the lifecycle scripts, with its default. HyperPod passes no environment to the
# scripts: change a value here and deploy again. The environment wins so that tests can override.

# shellcheck source-path=SCRIPTDIR source=lib/script.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/script.sh"

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

# How long a Lustre step may take, in seconds. AWS's set-up alone waits 120 s for the network.
export LUSTRE_WAIT_SECONDS=${HYPERPOD_LUSTRE_WAIT_SECONDS:-300}
