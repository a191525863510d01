"""What a deployment would change besides the number of one group."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import stacks_by_name
from hyperpod_cli.aws.cdk_cli import synthesized
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.operate.clusters.chosen import Chosen
from hyperpod_cli.operate.clusters.cluster import HyperPodCluster
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.aws_errors import is_unknown_stack

_NATIVE = "native"
# The CDK CLI has its usage reported by them; the app alone does not.
# https://docs.aws.amazon.com/cdk/v2/guide/usage-data.html
_OF_CLI = "AWS::CDK::Metadata"
_CONDITION_OF_CLI = "CDKMetadataAvailable"


def refuse_pending(config: Path, *, group: str, chosen: Chosen, cluster: HyperPodCluster) -> None:
    """Refuse to deploy a configuration that differs from what is deployed already.

    Only the number of the group is shown before its deployment.

    Args:
        config: The file; which number it has for the group does not matter.
        group: Name of the group that is scaled.
        chosen: The cluster.
        cluster: The same, as described.

    Raises:
        OpsError: A stack differs from what is deployed, or, with CloudFormation's own resource,
            which sends all groups as they are written, another group has another number.
        ClientError: AWS refused to say.
        BotoCoreError: AWS could not be asked.
    """
    loaded = chosen.config
    if loaded is None:
        return
    drifted = [*_other_counts(loaded, group=group, cluster=cluster)]
    differing = _differing(config, group=group, chosen=chosen)
    if differing:
        counts = f" ({'; '.join(drifted)})" if drifted else ""
        raise OpsError(
            f"{config}: differs from what is deployed already, in {', '.join(differing)}{counts}; "
            f"`make diff CONFIG={config}` shows what else this would deploy: deploy that first, or "
            "take it back; nothing was done"
        )
    if drifted and loaded.cluster.resource == _NATIVE:
        raise OpsError(
            f"{config}: with cluster.resource native, all groups are sent as written, and "
            f"{'; '.join(drifted)}; scale those first; nothing was done"
        )


def _other_counts(config: Config, *, group: str, cluster: HyperPodCluster) -> Iterator[str]:
    written = {each.name: each.instance_count for each in config.cluster.all_groups}
    for name, count in written.items():
        found = cluster.groups.get(name, {}).get("TargetCount", 0)
        if name != group and found != count:
            yield f"{name}: {count} in the file, {found} in the cluster"
    for name in cluster.groups:
        if name not in written:
            yield f"{name}: not in the file"


def _differing(config: Path, *, group: str, chosen: Chosen) -> list[str]:
    """Return the names of the stacks that a deployment would create or change."""
    cloudformation = chosen.session.client("cloudformation")
    with synthesized(config) as folder:
        return [
            stack.name
            for stack in stacks_by_name(folder)
            if _content(stack.template, group)
            != _content(_deployed(cloudformation, stack.name), group)
        ]


def _deployed(cloudformation: AwsClient, stack: str) -> Mapping[str, Any]:
    try:
        found = cloudformation.get_template(StackName=stack, TemplateStage="Original")
    except ClientError as error:
        if is_unknown_stack(error):
            return {}
        raise
    body = found["TemplateBody"]
    # botocore reads JSON by itself; the CDK CLI deploys nothing else.
    return body if isinstance(body, Mapping) else {}


def _content(template: Mapping[str, Any], group: str) -> str:
    """Return what CloudFormation acts on, without the number of a group."""
    resources = {
        name: {key: value for key, value in resource.items() if key != "Metadata"}
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"] != _OF_CLI
    }
    conditions = {
        name: condition
        for name, condition in template.get("Conditions", {}).items()
        if name != _CONDITION_OF_CLI
    }
    acted_on = {key: value for key, value in template.items() if key != "Metadata"}
    content = {**acted_on, "Resources": resources, "Conditions": conditions}
    text = json.dumps(content, sort_keys=True)
    return _count_of(group).sub(r"\1\2", text)


def _count_of(group: str) -> re.Pattern[str]:
    """Return what finds a group's number: in a property, or in a request that is text."""
    quote = r'\\*"'
    return re.compile(
        rf"({quote}InstanceCount{quote}: ?)\d+"
        rf"(, ?{quote}InstanceGroupName{quote}: ?{quote}{re.escape(group)}{quote})"
    )
