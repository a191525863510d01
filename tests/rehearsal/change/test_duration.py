"""How long CloudFormation takes for changes: what waits for what, and what does not."""

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import stacks_in
from hyperpod_cli.inspect.resource_types import STACK, resource_type
from hyperpod_rehearsal.change.duration import minutes
from tests.conftest import Assemble

EKS, HYPERPOD, FSX = "AWS::EKS::Cluster", "Custom::HyperPodCluster", "AWS::FSx::FileSystem"


@pytest.mark.parametrize(
    ("changed", "in_a_row"),
    [
        ([], []),
        ([EKS], [STACK, EKS]),
        # A stack begins when the one that it needs is there.
        ([EKS, HYPERPOD], [STACK, EKS, STACK, HYPERPOD]),
        # Storage is beside the cluster, and shorter.
        ([HYPERPOD, FSX], [STACK, HYPERPOD]),
    ],
)
def test_only_what_waits_for_another_change_adds_to_it(
    changed: list[str], in_a_row: list[str], default_config: Config, assemble: Assemble
) -> None:
    assembly = assemble(default_config).directory
    addresses = [
        address
        for stack in stacks_in(assembly)
        for address, resource in stack.resources.items()
        if resource.type in changed
    ]
    seconds = sum(resource_type(kind).seconds for kind in in_a_row)

    assert minutes(assembly, addresses) == -(-seconds // 60)
