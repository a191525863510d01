"""A scenario in which the control plane of a running cluster gets the next Kubernetes version."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.eks.section import HYPERPOD_KUBERNETES_VERSIONS
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cli.terminal.errors import REFUSED
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    ON_EKS,
    Scenario,
    all_nodes_run,
    compared,
    deploy_and_cancel,
    has_status,
    succeeds,
)
from hyperpod_rehearsal.stage import Stage


def _edit(scripts: Path) -> None:
    with (scripts / "settings.sh").open("a", encoding="utf-8") as file:
        file.write("\n# Changed together with the Kubernetes version.\n")


def _next(version: str) -> str | None:
    versions = HYPERPOD_KUBERNETES_VERSIONS
    following = versions[versions.index(version) + 1 :]
    return following[0] if following else None


def _lacking(config: Config) -> str | None:
    newest = HYPERPOD_KUBERNETES_VERSIONS[-1]
    return f"an eks.version below {newest}" if _next(config.eks.version) is None else None


@Scenario(begins="deployed", needs=ON_EKS, also_lacking=_lacking)
def kubernetes_upgrade(stage: Stage) -> Iterator[Fact]:
    """The next Kubernetes version, in an update that is cancelled and in the next one."""
    former, version = stage.config.eks.version, _next(stage.config.eks.version)
    assert version is not None  # noqa: S101 - a configuration without one lacks it
    before = _what_stays(stage)

    def upgraded(document: dict[str, Any]) -> None:
        document.setdefault("eks", {})["version"] = version

    stage.change(upgraded)
    stage.change_scripts(_edit)
    cancelled = deploy_and_cancel(stage)
    yield Fact(title="the update is cancelled after that of the control plane", ok=cancelled)
    yield has_status(stage, "platform", "UPDATE_ROLLBACK_COMPLETE")
    # EKS keeps the version, and offers the former add-ons for it.
    yield _is(stage, version)

    yield succeeds("the same change works when it is not cancelled", stage.deploy())
    for kind in ("platform", "addons"):
        yield has_status(stage, kind, "UPDATE_COMPLETE")
    yield _is(stage, version)
    pins = "the add-ons have the versions that are pinned for it"
    yield Fact(title=pins, ok=_addon_versions(stage).items() <= ADDON_VERSIONS[version].items())
    kept = "the EKS cluster, the HyperPod cluster and the software of each node are the same"
    yield Fact(title=kept, ok=_what_stays(stage) == before)
    yield all_nodes_run(stage)

    stage.restore()
    code, said = stage.look("account", "--for-deployment")
    refused = code == REFUSED and f"is older than {version}" in said
    yield Fact(
        title=f"`hyperpod-cdk deploy` refuses to go back to {former}", ok=refused, message=said
    )
    # As EKS lets it, within seven days of an upgrade; its kube-proxy does not fit before.
    eks, name = stage.environment.clients("eks"), stage.config.eks_cluster_name
    update = eks.update_cluster_version(name=name, version=former, force=True)["update"]
    while update["status"] == "InProgress":
        update = eks.describe_update(name=name, updateId=update["id"])["update"]
    code, said = stage.look("account", "--for-deployment")
    yield Fact(title="and deploys it once EKS has gone back", ok=code == 0, message=said)


def _is(stage: Stage, version: str) -> Fact:
    """Return the check that the control plane has a Kubernetes version."""
    current = _cluster(stage)["version"]
    return compared(f"the control plane has Kubernetes {version}", current, version)


def _cluster(stage: Stage) -> Mapping[str, Any]:
    described: Mapping[str, Any] = stage.environment.clients("eks").describe_cluster(
        name=stage.config.eks_cluster_name
    )["cluster"]
    return described


def _addon_versions(stage: Stage) -> dict[str, str]:
    eks, name = stage.environment.clients("eks"), stage.config.eks_cluster_name
    return {
        addon: eks.describe_addon(clusterName=name, addonName=addon)["addon"]["addonVersion"]
        for addon in eks.list_addons(clusterName=name)["addons"]
    }


def _what_stays(stage: Stage) -> tuple[object, ...]:
    """Return what an upgrade of the control plane must not touch."""
    sagemaker, name = stage.environment.clients("sagemaker"), stage.config.cluster.name
    nodes = sagemaker.list_cluster_nodes(ClusterName=name)["ClusterNodeSummaries"]
    software = {
        node["InstanceId"]: (node["LaunchTime"], node.get("CurrentImageReleaseVersion"))
        for node in nodes
    }
    cluster = _cluster(stage)
    arn = sagemaker.describe_cluster(ClusterName=name)["ClusterArn"]
    return cluster["arn"], cluster["createdAt"], arn, software
