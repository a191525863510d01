"""The EKS add-ons."""

from collections.abc import Mapping

from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject

WITHOUT: Mapping[str, str] = {
    "aws-fsx-csi-driver": "Storage issues: no pod mounts the file system without it. ",
    "coredns": "No pod finds a name without it, and training fails. ",
    "eks-pod-identity-agent": "No pod gets credentials by EKS Pod Identity without it. ",
    "kube-proxy": "No pod reaches a Service without it, and training fails. ",
    "vpc-cni": "No pod gets an address without it. ",
}
"""What does not work without an add-on, as a sentence that ends in a space."""
_NEEDS_NODES = (
    "DEGRADED passes once there are nodes for its pods, and `hyperpod-cdk deploy` brings another "
    "version"
)


@subject(phase=Phase.ADDONS, iam=["eks:DescribeAddon", "eks:ListAddons"])
def addons(deployment: LiveDeployment) -> Checks:
    """Each add-on is ACTIVE in the pinned version."""
    config = deployment.config
    name, pinned = config.eks_cluster_name, ADDON_VERSIONS[config.eks.version]
    eks = deployment.client("eks")
    there = [*listed(eks, "list_addons", "addons", clusterName=name)]
    for addon in there:
        described = eks.describe_addon(clusterName=name, addonName=addon)["addon"]
        ours = bool(config.eks.addons_among([addon]))
        version = (
            pinned.get(addon, described["addonVersion"]) if ours else described["addonVersion"]
        )
        holds = (described["status"], described["addonVersion"]) == ("ACTIVE", version)
        issues = [issue["message"] for issue in described.get("health", {}).get("issues", ())]
        words = [f"is {described['status']}, {described['addonVersion']}", *issues]
        yield checked(
            f"aws eks describe-addon --cluster-name {name} --addon-name {addon}: ACTIVE, {version}",
            problem=None if holds else ": ".join(words),
            advice=WITHOUT.get(addon, "") + _NEEDS_NODES,
        )
    for addon in config.installed_addons:
        if addon not in there:
            yield checked(
                f"aws eks describe-addon --cluster-name {name} --addon-name {addon}: ACTIVE",
                problem="is not installed",
                advice=WITHOUT.get(addon, "")
                + f"It was removed: `aws eks create-addon --cluster-name {name} "
                f"--addon-name {addon}`",
            )
