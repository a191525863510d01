"""Create, describe, list, update and delete clusters, and update their software."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from hyperpod_emulator.hyperpod.group_rules import (
    check_quotas,
    eks_cluster_arn,
    groups_of,
    training_plan_problem,
    validate_create,
    validate_update,
)
from hyperpod_emulator.hyperpod.operations.call import (
    Answer,
    Backend,
    Call,
    Handler,
    describe_cluster,
    page,
    summarize_cluster,
    training_plans_of,
)
from hyperpod_emulator.hyperpod.simulation.cluster_lifecycle import GroupBefore
from hyperpod_emulator.hyperpod.simulation.errors import ApiError, conflict, validation_error
from hyperpod_emulator.hyperpod.simulation.event_log import record
from hyperpod_emulator.hyperpod.simulation.state import Cluster, InstanceGroup, image_id, subnets_of
from hyperpod_emulator.hyperpod.slurm_rules import with_kept_orchestrator, with_kept_slurm_config

CHANGEABLE = frozenset({"InService", "Failed"})


def _create(backend: Backend, call: Call) -> Answer:
    request, caller = call.request, call.caller
    validate_create(request)
    name = request["ClusterName"]
    backend.registry.check_free(name=name, caller=caller)
    _check_eks_cluster_is_free(backend, call)
    _check_quotas(backend, call, cluster=None)
    _check_role(backend, call)
    _check_training_plans(backend, call, before={})
    if (eks_arn := eks_cluster_arn(request)) is not None:
        backend.surroundings.observer.check_cluster(eks_arn)
    cluster = Cluster(
        name=name,
        arn=backend.registry.new_arn(name=name, caller=caller),
        caller=caller,
        created_at=call.now,
        settings=settings_of(request),
        subnets=subnets_of(vpc_configs_of(request), network=backend.surroundings.network),
        tags={tag["Key"]: tag["Value"] for tag in request.get("Tags", [])},
    )
    apply_groups(cluster, request, release_version=backend.release_version)
    backend.registry.add(cluster)
    backend.lifecycle.create(cluster, call.now)
    return {"ClusterArn": cluster.arn}


def _describe(backend: Backend, call: Call) -> Answer:
    counted = backend.surroundings.unknowns.current_count
    cluster = backend.cluster_of(call)
    plans = {
        plan.arn: plan.status_at(call.now) for plan in backend.surroundings.plans.of(call.caller)
    }
    return describe_cluster(cluster, counted=counted, plans=plans)


def _list(backend: Backend, call: Call) -> Answer:
    """Return clusters in the order of their creation, which is the default."""
    plan = call.request.get("TrainingPlanArn")
    clusters = [
        cluster
        for cluster in backend.registry.of(call.caller)
        if call.request.get("NameContains", "") in cluster.name
        and (plan is None or plan in training_plans_of(cluster))
    ]
    shown, more = page(clusters, call.request)
    return {"ClusterSummaries": [summarize_cluster(cluster) for cluster in shown], **more}


def _update(backend: Backend, call: Call) -> Answer:
    request = call.request
    cluster = backend.cluster_of(call)
    _check_changeable(cluster, verb="updated")
    if backend.surroundings.unknowns.left_out_groups == "removed":
        request = with_left_out_groups_to_delete(request, cluster)
    validate_update(request, cluster)
    for spec in groups_of(request):
        group = cluster.groups.get(spec["InstanceGroupName"])
        if group is not None and group.deleting:
            message = f"Instance group '{group.name}' is being deleted."
            raise conflict(message)
    _check_quotas(backend, call, cluster=cluster)
    _check_training_plans(backend, call, before=cluster.groups)
    network = backend.surroundings.network
    cluster.subnets |= subnets_of(vpc_configs_of(request), network=network)
    orchestrator = with_kept_orchestrator(request, cluster.settings)
    cluster.settings |= settings_of(request) | orchestrator
    before = apply_groups(cluster, request, release_version=backend.release_version)
    backend.lifecycle.update(cluster, call.now, before=before)
    return {"ClusterArn": cluster.arn}


def _delete(backend: Backend, call: Call) -> Answer:
    cluster = backend.cluster_of(call)
    _check_changeable(cluster, verb="deleted")
    if cluster.governance:
        message = (
            f"Cluster '{cluster.name}' cannot be deleted: it has compute quotas or cluster "
            "scheduler configurations."
        )
        raise conflict(message)
    backend.lifecycle.delete(cluster, call.now, gone=backend.registry.remove)
    return {"ClusterArn": cluster.arn}


def _check_changeable(cluster: Cluster, *, verb: str) -> None:
    if cluster.status not in CHANGEABLE:
        message = (
            f"Cluster '{cluster.name}' cannot be {verb} while its status is {cluster.status}. "
            "Wait until it is InService or Failed."
        )
        raise conflict(message)


def _check_quotas(backend: Backend, call: Call, *, cluster: Cluster | None) -> None:
    check_quotas(
        limits=backend.faults.current.quotas,
        clusters=backend.registry.of(call.caller),
        wanted=additional_instances(call.request, cluster),
    )


def _check_eks_cluster_is_free(backend: Backend, call: Call) -> None:
    arn = eks_cluster_arn(call.request)
    for cluster in backend.registry.of(call.caller):
        if arn is not None and eks_cluster_arn(cluster.settings) == arn:
            code = backend.surroundings.unknowns.second_cluster
            message = f"EKS cluster '{arn}' is already used by HyperPod cluster '{cluster.name}'."
            raise ApiError(code=code, message=message)


def _check_training_plans(
    backend: Backend, call: Call, *, before: Mapping[str, InstanceGroup]
) -> None:
    """Check each plan that a group is newly given; one that has ended since is left alone."""
    for spec in groups_of(call.request):
        group, arn = before.get(spec["InstanceGroupName"]), spec.get("TrainingPlanArn")
        if arn is None or (group and group.spec.get("TrainingPlanArn") == arn):
            continue
        problem = training_plan_problem(
            backend.surroundings.plans.find(arn, call.caller), spec, now=call.now
        )
        if problem is not None:
            message = f"Instance group '{spec['InstanceGroupName']}': training plan {arn} {problem}"
            raise validation_error(message)


def _check_role(backend: Backend, call: Call) -> None:
    roles = [spec["ExecutionRole"] for spec in groups_of(call.request)]
    if roles and backend.faults.uses_up("role_not_propagated_calls"):
        message = (
            f"Could not assume role {roles[0]}. Please ensure that the role exists and allows "
            "principal 'sagemaker.amazonaws.com' to assume the role."
        )
        raise validation_error(message)


# Kept outside of Cluster.settings, or only meaningful in the request itself.
NOT_SETTINGS = frozenset(
    {
        "ClusterName",
        "InstanceGroups",
        "RestrictedInstanceGroups",
        "InstanceGroupsToDelete",
        "Tags",
    }
)


def settings_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cluster-wide members of a request."""
    return {name: value for name, value in request.items() if name not in NOT_SETTINGS}


def vpc_configs_of(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the VpcConfig structures of a request: the cluster's and those of groups."""
    configs = [request.get("VpcConfig"), *(g.get("OverrideVpcConfig") for g in groups_of(request))]
    return [config for config in configs if config]


def with_left_out_groups_to_delete(request: Mapping[str, Any], cluster: Cluster) -> dict[str, Any]:
    """Return an UpdateCluster request that asks to delete each group that it does not name."""
    named = {spec["InstanceGroupName"] for spec in groups_of(request)}
    left_out = [name for name, group in cluster.groups.items() if not group.deleting]
    to_delete = {*request.get("InstanceGroupsToDelete", ()), *left_out} - named
    return {**request, "InstanceGroupsToDelete": sorted(to_delete)}


def additional_instances(request: Mapping[str, Any], cluster: Cluster | None) -> Counter[str]:
    """Return how many more instances of each type a request asks for; fewer are negative."""
    more: Counter[str] = Counter()
    groups = cluster.groups if cluster else {}
    for spec in groups_of(request):
        before = groups.get(spec["InstanceGroupName"])
        wanted = InstanceGroup(
            spec=spec, target_count=spec["InstanceCount"], image_id="", image_release_version=""
        )
        more[wanted.instance_type] += wanted.target_count
        if before is not None:
            more[before.instance_type] -= before.target_count
    return more


def apply_groups(
    cluster: Cluster, request: Mapping[str, Any], *, release_version: str
) -> dict[str, GroupBefore]:
    """Set the groups of a valid request as wanted, and return them as they were before.

    Groups that it does not name are not touched.
    """
    restricted = {spec["InstanceGroupName"] for spec in request.get("RestrictedInstanceGroups", [])}
    before = {}
    for spec in groups_of(request):
        name = spec["InstanceGroupName"]
        group = cluster.groups.get(name)
        if group is None:
            before[name] = GroupBefore(spec=None, target_count=0)
            cluster.groups[name] = _new_group(
                cluster, spec, restricted=name in restricted, release_version=release_version
            )
        else:
            before[name] = GroupBefore(spec=group.spec, target_count=group.target_count)
            group.spec = with_kept_slurm_config(spec, group.spec)
            group.target_count = spec["InstanceCount"]
            group.epoch += 1
            if not cluster.continuous:
                group.status = "Updating"
    for name in request.get("InstanceGroupsToDelete", []):
        group = cluster.groups[name]
        group.status, group.deleting = "Deleting", True
    return before


def _new_group(
    cluster: Cluster, spec: Mapping[str, Any], *, restricted: bool, release_version: str
) -> InstanceGroup:
    version = spec.get("ImageReleaseVersion", release_version)
    image = spec.get("ImageId", "default")
    if image == "default":
        image = image_id(region=cluster.caller.region, release_version=version)
    return InstanceGroup(
        spec=spec,
        target_count=spec["InstanceCount"],
        image_id=image,
        image_release_version=version,
        restricted=restricted,
    )


def _update_software(backend: Backend, call: Call) -> Answer:
    request, around = call.request, backend.surroundings
    cluster = backend.registry.find(request["ClusterName"], call.caller)
    if cluster.status != "InService":
        message = (
            f"The software of cluster '{cluster.name}' cannot be updated while its status is "
            f"{cluster.status}. Wait until it is InService."
        )
        raise conflict(message)
    versions = _versions(backend, call, cluster)
    image = request.get("ImageId", "default")
    cluster.status = "SystemUpdating"
    record(cluster, time=call.now, description=f"Software of {cluster.name} is being updated")
    for name in versions:
        group = cluster.groups[name]
        group.status, group.software_update_status = "SystemUpdating", "InProgress"
        for node in group.nodes:
            if node.status == "Running":
                node.status = "SystemUpdating"

    def finish(now: float) -> None:
        for name, version in versions.items():
            _finish_group(cluster, name, version=version, image=image, now=now)
        cluster.status = "InService"
        description = f"Software of {cluster.name} was updated"
        record(cluster, time=now, description=description)
        backend.lifecycle.node_settled(cluster, now)

    around.agenda.at(call.now + around.timings.software_update, finish)
    return {"ClusterArn": cluster.arn}


def _versions(backend: Backend, call: Call, cluster: Cluster) -> dict[str, str]:
    latest = backend.release_version
    groups = call.request.get("InstanceGroups")
    if groups is None:
        return {n: latest for n, group in cluster.groups.items() if not group.deleting}
    versions = {g["InstanceGroupName"]: g.get("ImageReleaseVersion", latest) for g in groups}
    unknown = sorted(set(versions) - set(cluster.groups))
    if unknown:
        message = f"Instance group '{unknown[0]}' does not exist in '{cluster.name}'."
        raise validation_error(message)
    return versions


def _finish_group(cluster: Cluster, name: str, *, version: str, image: str, now: float) -> None:
    group = cluster.groups.get(name)
    if group is None:
        return
    region = cluster.caller.region
    group.image_release_version = version
    group.image_id = (
        image_id(region=region, release_version=version) if image == "default" else image
    )
    group.status, group.software_update_status = "Updating", "Succeeded"
    for node in group.nodes:
        if node.status == "SystemUpdating":
            node.status, node.software_updated_at = "Running", now
            node.image_release_version = version


HANDLERS: Mapping[str, Handler] = {
    "CreateCluster": _create,
    "DescribeCluster": _describe,
    "ListClusters": _list,
    "UpdateCluster": _update,
    "DeleteCluster": _delete,
    "UpdateClusterSoftware": _update_software,
}
