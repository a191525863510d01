"""What partitions GPUs (MIG) is a component of the HyperPod dependencies."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def gpu_partitioning(config: Config) -> Findings:
    """Find groups whose GPUs are to be partitioned, without the GPU operator, which does that.

    With it, NVIDIA's device plugin is off, which would offer whole GPUs: `helm.components` refuses
    both.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-gpu-partitioning-setup.html
    """
    if config.components.gpu_operator:
        return
    for where, group in config.cluster.instance_groups_with_paths():
        if group.mig_profile is not None:
            yield error(
                (*where, "mig_profile"),
                group.mig_profile,
                "needs helm.components.gpu_operator: true, with a chart that has the GPU operator "
                "(docs: helm): without it nothing partitions GPUs, and no error appears",
            )
