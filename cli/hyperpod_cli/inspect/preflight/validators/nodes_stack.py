"""The Helm releases stay where they are while nodes need them."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.deployed import is_deployed, resources_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_stacks.table import stack_name

_RELEASE = "Custom::HelmRelease"
_LOOK = "aws cloudformation describe-stacks --stack-name"


@validator(phase=Phase.FORMER_DEPLOYMENTS, iam=["cloudformation:ListStackResources"])
def nodes_stack(config: Config, target: Target) -> Problems:
    """The HyperPod cluster comes or goes while another stack has the Helm releases.

    Two stacks cannot have one release, and the HyperPod stack takes the role and the bucket of the
    platform, which go without a cluster.

    Keys: cluster, cluster.name

    [ADR 117](adr/nodes.md#117-the-helm-releases-are-in-the-stack-of-the-first-nodes)
    """
    hyperpod, groups = stack_name(config, "hyperpod"), stack_name(config, "node-groups")
    has_hyperpod, name = is_deployed(config, "hyperpod", target), config.cluster.name
    if not config.cluster.exists and has_hyperpod:
        message = (
            f"leaves the stack {hyperpod} without what it takes from the platform, and with the "
            "Helm releases: restore cluster, run `hyperpod-cdk destroy`, which deletes all nodes, "
            "then "
            "deploy without it"
        )
        yield error(("cluster",), None, message), f"{_LOOK} {hyperpod}"
    moves = config.cluster.exists and not has_hyperpod
    if moves and resources_of(config, "node-groups", target.client, resource_type=_RELEASE):
        message = (
            f"takes the Helm releases over from the stack {groups}: deploy that alone first, with "
            f"--only {groups}, which takes them away and leaves its nodes"
        )
        yield error(("cluster", "name"), name, message), f"{_LOOK} {groups}"
