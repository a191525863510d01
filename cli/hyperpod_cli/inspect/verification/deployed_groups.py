"""How the groups of the file differ from those that are deployed, before causes are looked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.cluster_template import cluster_of
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.aws.stack_events import StackReader
from hyperpod_cli.aws.stacks import described_stack, template_of
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.stack_progress.failures import failures_of
from hyperpod_shared.clusters import COUNT, Group, awaits_plan, groups_of
from hyperpod_stacks.table import stack_name

TITLE = "the groups of the file are those that are deployed"
_BEGUN = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS")


def as_deployed(config: Config, *, cloudformation: AwsClient) -> tuple[Config, Check | None]:
    """Return a configuration with the groups that are deployed, and what the file has otherwise.

    Nodes that the file asks for and no deployment did are not missing: there is one finding, and
    the other checks look at what is deployed.
    """
    if not config.cluster.exists:
        return config, None
    stack = stack_name(config, "hyperpod")
    cluster = cluster_of(template_of(cloudformation, stack))
    deployed = {} if cluster is None else groups_of(cluster.request)
    differences = [*_differences(config, deployed)] if deployed else []
    if not differences:
        return config, None
    why = _rollback(cloudformation, stack)
    check = Check(
        title=TITLE,
        ok=False,
        found="; ".join([*differences, *([why] if why else [])]),
        advice="Mend what it names, then deploy"
        if why
        else "Deploy the file, or restore in it what is deployed",
    )
    return _with_groups(config, deployed), check


def without_awaited(config: Config, *, client: Callable[[str], AwsClient]) -> Config:
    """Return a configuration in which groups whose training plan has not begun have no nodes."""
    cluster = config.cluster
    if not any(group.training_plan_arn for group in cluster.all_groups):
        return config
    describe = client("sagemaker").describe_cluster
    described = groups_of(answer_of(describe, ClusterName=cluster.name) or {})
    lists = {
        key: tuple(
            group.model_copy(update={"instance_count": 0})
            if awaits_plan(described.get(group.name, {}))
            else group
            for group in getattr(cluster, key)
        )
        for key in ("instance_groups", "restricted_instance_groups")
    }
    return config.model_copy(update={"cluster": cluster.model_copy(update=lists)})


def _differences(config: Config, deployed: Mapping[str, Group]) -> Iterator[str]:
    for group in config.cluster.all_groups:
        there = deployed.get(group.name)
        if there is None:
            yield f"group {group.name} is in the file, not deployed"
            continue
        count, kind = int(there[COUNT]), there.get("InstanceType")
        if group.instance_count != count:
            asked = group.instance_count
            yield f"group {group.name} has {asked} nodes in the file, {count} deployed"
        if kind is not None and kind not in group.possible_instance_types:
            types = " or ".join(group.possible_instance_types)
            yield f"group {group.name} has {types} in the file, {kind} deployed"
    for name in deployed.keys() - {group.name for group in config.cluster.all_groups}:
        yield f"group {name} is deployed, not in the file"


def _with_groups(config: Config, deployed: Mapping[str, Group]) -> Config:
    names = {group.name for group in config.cluster.all_groups}
    plain, restricted = (
        [
            group.model_copy(update=_values(deployed[group.name]))
            for group in groups
            if group.name in deployed
        ]
        for groups in (config.cluster.instance_groups, config.cluster.restricted_instance_groups)
    )
    # Valid when it was deployed.
    others = (
        InstanceGroupConfig.model_construct(name=name, **_values(group))
        for name, group in deployed.items()
        if name not in names and group.get("InstanceType")
    )
    lists = {"instance_groups": (*plain, *others), "restricted_instance_groups": (*restricted,)}
    return config.model_copy(update={"cluster": config.cluster.model_copy(update=lists)})


def _values(group: Group) -> dict[str, Any]:
    kind = group.get("InstanceType")
    return {"instance_count": int(group[COUNT]), **({"instance_type": kind} if kind else {})}


def _rollback(cloudformation: AwsClient, stack: str) -> str:
    """Return why the last deployment of a stack was rolled back; empty if it was not."""
    described = described_stack(cloudformation, stack)
    if described is None or "ROLLBACK" not in described["StackStatus"]:
        return ""
    events = StackReader(client=cloudformation, name=stack).read()
    begun = [
        index for index, event in enumerate(events) if event.is_of_stack and event.status in _BEGUN
    ]
    failures = failures_of({stack: events[begun[-1] if begun else 0 :]})
    cause = f": {' '.join(failures[0].message.split())}" if failures else ""
    return f"the last deployment of {stack} was rolled back{cause}"
