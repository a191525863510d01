"""Updates of add-ons that wait until there is a node for their pods.

When EKS fails an update, the add-on keeps the new version and the update has failed:
https://github.com/hashicorp/terraform-provider-aws/pull/49104. If CloudFormation takes that for a
failure, its rollback asks for an update that fails alike.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.eks.section import DAEMON_SET_ADDONS
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.operate.clusters import nodes_of
from hyperpod_shared.aws_errors import is_not_found

_ADDON = "AWS::EKS::Addon"
# Changed by itself, without an update of the add-on.
_TAGS = "Tags"


def held_back(
    stacks: Sequence[Stack],
    *,
    former: Mapping[str, Deployed | None],
    config: Config,
    client: Callable[[str], AwsClient],
) -> dict[str, str]:
    """Return why stacks stay as they are until there are nodes, by the name of the stack."""
    if config.control_plane is None:
        return {}
    eks = client("eks")
    waiting: dict[str, list[str]] = {}
    for stack in stacks:
        for name in _changing(stack, former=former[stack.name], config=config):
            if _lacks_pods(eks, config.eks_cluster_name, name):
                waiting.setdefault(stack.name, []).append(name)
    if not waiting or _has_nodes(client("sagemaker"), config):
        return {}
    return {
        stack: f"{stack} stays as it is: no node runs the pods of {' and '.join(names)}, and an "
        "update that EKS fails can end in UPDATE_ROLLBACK_FAILED"
        for stack, names in waiting.items()
    }


def _changing(stack: Stack, *, former: Deployed | None, config: Config) -> Iterator[str]:
    """Yield the names of the add-ons with pods of their own whose update a deployment would ask."""
    before = {} if former is None else former.template.get("Resources", {})
    for logical_id, resource in stack.template["Resources"].items():
        if resource["Type"] != _ADDON or logical_id not in before:
            continue
        name = resource["Properties"]["AddonName"]
        is_changed = _updated(resource) != _updated(before[logical_id])
        if is_changed and name in config.installed_addons and name not in DAEMON_SET_ADDONS:
            yield name


def _updated(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in resource["Properties"].items() if key != _TAGS}


def _lacks_pods(eks: AwsClient, cluster: str, name: str) -> bool:
    answer = answer_of(eks.describe_addon, clusterName=cluster, addonName=name)
    return answer is not None and answer["addon"]["status"] != "ACTIVE"


def _has_nodes(sagemaker: AwsClient, config: Config) -> bool:
    if any(group.desired_size for group in config.node_groups):
        return True
    if not config.cluster.exists:
        return False
    try:
        return any(node.status == "Running" for node in nodes_of(sagemaker, config.cluster.name))
    except ClientError as error:
        if is_not_found(error):
            return False
        raise
