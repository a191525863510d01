"""config/examples/private-endpoint.yaml."""

from typing import Any

import pytest

from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import verify
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["private-endpoint"]
# The provisioner goes out of the VPC, into it, into a closed one, and out again.
CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"endpoint_access": "public_and_private"}, {}),
    ({"endpoint_access": "private"}, {"closed": True}),
    ({"endpoint_access": "public_and_private"}, {}),
    ({"public_access_cidrs": ["192.0.2.0/24"]}, {}),
]


@pytest.mark.slow(seconds=30)
def test_the_endpoint_changes_in_a_running_deployment(stage: Stage) -> None:
    clients = stage.environment.clients
    assert stage.deploy_first() is None
    for number, (eks, network) in enumerate(CHANGES):

        def edit(
            document: dict[str, Any],
            eks: dict[str, Any] = eks,
            network: dict[str, Any] = network,
            number: int = number,
        ) -> None:
            document["eks"] = eks
            document["network"] |= network
            # The provisioner must reach the Kubernetes API.
            document["helm"] = {"priority_classes": [{"name": f"step-{number}", "value": 1}]}

        stage.change(edit)
        assert stage.deploy() is None
        pages = clients("cloudformation").get_paginator("list_stack_resources")
        ids = [
            resource["LogicalResourceId"]
            for page in pages.paginate(StackName=stage.stack("platform"))
            for resource in page["StackResourceSummaries"]
        ]
        inside = any(each.startswith("ProvisionerNetworkInterfaces") for each in ids)

        assert inside != stage.config.eks.is_reachable_from_anywhere
        checks = verify(stage.config, tools=stage.tools, clients=clients, outputs=stage.outputs())
        assert [check.title for check in checks if not check.ok] == []
