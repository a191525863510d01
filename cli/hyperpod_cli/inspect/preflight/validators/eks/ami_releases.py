"""EKS has the release of its AMI that a node group names."""

from hyperpod_cdk import Config
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import warning
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.node_groups import groups_with_paths
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_ABSENT = "ParameterNotFound"
_KINDS = {None: "standard", "GPU": "nvidia", "Neuron": "neuron"}


@validator(phase=Phase.VERSIONS, iam=["ssm:GetParameter"])
def ami_releases(config: Config, target: Target) -> Problems:
    """EKS does not list the release of the AMI of an EKS node group (w).

    A warning, because no document says for how long EKS keeps a parameter of an old release.

    Keys: node_groups[].release_version

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html)
    """
    ssm = target.client("ssm")
    for where, group in groups_with_paths(config):
        release = group.release_version
        if release is None:
            continue
        name = image_parameter(group, config)
        if answer_of(ssm.get_parameter, _ABSENT, Name=name) is not None:
            continue
        recommended = f"{_folder(group, config)}/recommended/release_version"
        latest = answer_of(ssm.get_parameter, _ABSENT, Name=recommended)
        hint = "" if latest is None else f"; write {latest['Parameter']['Value']}, the latest"
        message = f"is not listed by EKS for Kubernetes {config.eks.version}{hint}"
        finding = warning((*where, "release_version"), release, message)
        yield finding, f"aws ssm get-parameter --name {recommended}"


def image_parameter(group: ManagedNodeGroupConfig, config: Config) -> str:
    """Return the name of the public parameter with the ID of the AMI of a group's release.

    https://karpenter.sh/docs/concepts/nodeclasses/, which finds AMIs by these names, too
    """
    folder, version = _folder(group, config), config.eks.version
    kind = "-".join(folder.split("/")[-2:])
    date = str(group.release_version).rpartition("-")[2]
    return f"{folder}/amazon-eks-node-al2023-{kind}-{version}-v{date}/image_id"


def _folder(group: ManagedNodeGroupConfig, config: Config) -> str:
    """Return where EKS publishes the AMIs of a group's hardware."""
    architecture, kind = group.facts[0].architecture, _KINDS[group.accelerator_kind]
    version = config.eks.version
    return f"/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/{architecture}/{kind}"
