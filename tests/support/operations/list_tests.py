"""`hyperpod-ops list` on a deployment."""

import json

import pytest

from tests.support.operator import Operator


@pytest.mark.slow(seconds=1)
def test_own_clusters_are_listed(operator: Operator) -> None:
    found = json.loads(operator.output("list", "--json"))

    assert found == [{"name": "ml-cluster", "status": "InService", "stack": "ml-hyperpod"}]
    assert operator.output("list").split()[-3:] == ["ml-cluster", "InService", "ml-hyperpod"]
    # The configuration has the region.
    assert "ml-cluster" in operator.output("list", AWS_REGION="us-east-1")
    assert "No cluster" in operator.output("list", "--region", "us-east-1")
