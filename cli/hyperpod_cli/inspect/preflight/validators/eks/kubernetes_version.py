"""What EKS would refuse of a configuration's Kubernetes version and its add-ons."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hyperpod_cdk import Config
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.facts.kubernetes_support import minor
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cli.aws.session import AwsClient, answer_of, listed
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_VERSION = ("eks", "version")
_UPGRADES = "the page kubernetes-upgrade of the docs"


@dataclass(frozen=True, kw_only=True, slots=True)
class Versions:
    """The versions of one add-on for one Kubernetes version.

    Pinned is None where EKS chooses, default None when it says nothing; the newest offered is
    first.
    """

    addon_name: str
    pinned: str | None
    default: str | None
    offered: Sequence[str]

    @property
    def is_offered(self) -> bool:
        """Whether the add-on can be deployed as it is pinned."""
        return self.pinned in self.offered if self.pinned else bool(self.offered)

    @property
    def remark(self) -> str:
        """What to do about it; empty for nothing."""
        if not self.is_offered:
            return "not offered" if self.pinned is None else "pinned version not offered"
        if self.pinned is None:
            return "not pinned"
        return "newer" if self.pinned != self.offered[0] else ""


@validator(
    phase=Phase.VERSIONS,
    iam=["eks:DescribeAddon", "eks:DescribeAddonVersions", "eks:DescribeCluster"],
)
def kubernetes_version(config: Config, target: Target) -> Problems:
    """EKS does not upgrade to the version, or does not offer an add-on for it.

    Keys: eks.version

    [EKS](https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddonVersions.html)
    """
    command = f"aws eks describe-addon-versions --kubernetes-version {config.eks.version}"
    for finding in kubernetes_version_findings(config, eks=target.client("eks")):
        yield finding, command


def kubernetes_version_findings(config: Config, *, eks: AwsClient) -> Iterator[Finding]:
    """Find a version that EKS does not upgrade to, and add-ons that it does not offer for it."""
    answer = answer_of(eks.describe_cluster, name=config.eks_cluster_name)
    deployed = None if answer is None else str(answer["cluster"]["version"])
    # Of one that is there already, the version has to be named as it is.
    if config.eks.cluster_arn is None:
        yield from _step_findings(config, deployed=deployed)
    yield from _addon_findings(config, deployed=deployed, eks=eks)


def offered_addons(eks: AwsClient, *, kubernetes_version: str) -> Iterator[Versions]:
    """Yield the versions of each add-on that EKS says it offers."""
    for name in sorted({name for versions in ADDON_VERSIONS.values() for name in versions}):
        offered = [
            (version["addonVersion"], compatibility)
            for addon in listed(
                eks,
                "describe_addon_versions",
                "addons",
                addonName=name,
                kubernetesVersion=kubernetes_version,
            )
            for version in addon["addonVersions"]
            for compatibility in version["compatibilities"]
            if compatibility["clusterVersion"] == kubernetes_version
        ]
        yield Versions(
            addon_name=name,
            pinned=ADDON_VERSIONS[kubernetes_version].get(name),
            default=next((number for number, one in offered if one.get("defaultVersion")), None),
            offered=sorted((version for version, _ in offered), key=_numbers, reverse=True),
        )


def _step_findings(config: Config, *, deployed: str | None) -> Iterator[Finding]:
    """Find a step that is not one minor version up.

    https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html
    """
    wanted = config.eks.version
    step = 0 if deployed is None else minor(wanted) - minor(deployed)
    cluster = config.eks_cluster_name
    if step > 1:
        message = (
            f"cannot follow {deployed}, which {cluster} has: EKS upgrades one minor version at a "
            f"time; deploy 1.{minor(str(deployed)) + 1} first"
        )
        yield error(_VERSION, wanted, message)
    elif step < 0:
        message = (
            f"is older than {deployed}, which {cluster} has: a deployment cannot go back; restore "
            f"{deployed}, or go back with EKS as {_UPGRADES} says"
        )
        yield error(_VERSION, wanted, message)


def _addon_findings(config: Config, *, deployed: str | None, eks: AwsClient) -> Iterator[Finding]:
    # Of one that stays, EKS need not offer the add-ons that it has.
    stays = deployed in (None, config.eks.version)
    addons = list(offered_addons(eks, kubernetes_version=config.eks.version))
    missing = [
        addon
        for addon in addons
        if not addon.is_offered
        and addon.addon_name in config.installed_addons
        and not (stays and _is_deployed(addon, cluster=config.eks_cluster_name, eks=eks))
    ]
    if missing and not any(addon.offered for addon in addons):
        message = (
            "is a version that EKS no longer offers, or not yet: it has no add-on for it; set "
            "another one"
        )
        yield error(_VERSION, config.eks.version, message)
    elif missing:
        names = ", ".join(f"{addon.addon_name} {addon.pinned or ''}".strip() for addon in missing)
        message = (
            f"has add-ons that EKS does not offer here: {names}; set another version, or install a "
            "release of hyperpod-cdk that has those of `hyperpod-cdk addon-versions`"
        )
        yield error(_VERSION, config.eks.version, message)


def _is_deployed(addon: Versions, *, cluster: str, eks: AwsClient) -> bool:
    """Return whether a cluster has an add-on as it is pinned, so that a deployment leaves it."""
    answer = answer_of(eks.describe_addon, clusterName=cluster, addonName=addon.addon_name)
    if answer is None:
        return False
    return addon.pinned is None or bool(answer["addon"]["addonVersion"] == addon.pinned)


def _numbers(version: str) -> list[int]:
    """Return what versions are ordered by: v1.9.0-eksbuild.1 is older than v1.21.1-eksbuild.7."""
    return [int(number) for number in re.findall(r"\d+", version)]
