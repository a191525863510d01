"""How many nodes an autoscaled group is to have: what EKS says -> what an update leaves."""

from dataclasses import dataclass
from typing import Any

import pytest

from provisioner.node_group_size import NodeGroupSize, decide
from tests.support.provisioner.cloudformation import Framework, Time
from tests.support.provisioner.fake_s3 import client_error

SCALING = {"MinSize": 1, "MaxSize": 4, "DesiredSize": 2}
PROPERTIES = {
    "ClusterName": "ml-eks",
    "NodeGroupName": "gpu",
    "Scaling": '{"MinSize":1,"MaxSize":4,"DesiredSize":2}',
    "Beside": "whatever changes",
}


@dataclass
class Eks:
    """Answers with a size, or refuses."""

    answer: int | Exception

    def describe_nodegroup(self, *, clusterName: str, nodegroupName: str) -> dict[str, Any]:
        assert (clusterName, nodegroupName) == ("ml-eks", "gpu")
        if isinstance(self.answer, Exception):
            raise self.answer
        return {"nodegroup": {"scalingConfig": {**SCALING, "desiredSize": self.answer}}}


@pytest.mark.parametrize(("present", "size"), [(3, 3), (0, 1), (9, 4)])
def test_the_present_size_stays_within_the_limits(present: int, size: int) -> None:
    assert decide({"scalingConfig": {"desiredSize": present}}, scaling=SCALING) == size


def test_a_new_group_gets_the_wanted_size() -> None:
    assert decide(None, scaling=SCALING) == 2


@pytest.mark.parametrize(
    ("answer", "size"),
    [(3, "3"), (client_error("ResourceNotFoundException", "No node group found"), "2")],
)
def test_eks_is_asked_and_the_size_is_an_attribute(answer: int | Exception, size: str) -> None:
    framework = Framework(
        resource=NodeGroupSize(eks=Eks(answer)),
        resource_type="Custom::NodeGroupSize",
        time=Time(),
    )

    assert framework.create(PROPERTIES).data == {"DesiredSize": size}
