"""What Slurm's accounting lacks."""

from collections.abc import Mapping
from typing import Any

from tests.cli.inspect.preflight.cases.network import EXISTING, FIRST, NODES, SECOND, there
from tests.support.assembly import merged
from tests.support.configs import CONTROLLER
from tests.support.failure import Failure, creating

_IN_SUBNETS: Mapping[str, Any] = {
    **EXISTING,
    "network": {
        key: value for key, value in EXISTING["network"].items() if key != "eks_subnet_ids"
    },
    "cluster": {
        "orchestrator": "slurm",
        "node_provisioning_mode": "Continuous",
        "slurm": {"accounting": {"subnet_ids": [FIRST, SECOND]}},
        "instance_groups": [CONTROLLER],
    },
    "storage": None,
}
FAILURES = [
    Failure(
        case="vpc: subnets of accounting that are not there",
        document=_IN_SUBNETS,
        before=there(),
        deploy=creating("storage", "AWS::RDS::DBSubnetGroup"),
        said=f"InvalidSubnet.NotFound: The subnet ID .{FIRST}. does not exist",
    ),
    Failure(
        case="accounting-database: subnets in one zone",
        document=merged(
            _IN_SUBNETS, {"cluster": {"slurm": {"accounting": {"subnet_ids": [NODES, SECOND]}}}}
        ),
        before=there(eks_subnet_ids=[FIRST, SECOND]),
        deploy=creating("storage", "AWS::RDS::DBSubnetGroup"),
        said="DBSubnetGroupDoesNotCoverEnoughAZs",
    ),
]
