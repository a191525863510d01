"""`hyperpod-ops env` and `hyperpod-ops cluster-config` on a deployment."""

import json
import shlex
from pathlib import Path

import pytest

from tests.support.aws_cli import Person
from tests.support.operator import Operator


@pytest.mark.slow(seconds=2)
def test_the_manual_path_is_taken_by_the_api(operator: Operator, tmp_path: Path) -> None:
    lines = operator.output("env").splitlines()
    exported = dict(shlex.split(line)[1].split("=", 1) for line in lines)
    outputs = operator.stage.outputs()["ml-platform"]
    assert len(exported) == 15
    assert exported["PRIVATE_SUBNET_ID"] == outputs["OutputPrivateSubnetIds"].split(",")[0]
    assert exported["EKS_CLUSTER_ARN"] == outputs["EKSClusterArn"]

    request = json.loads(operator.output("cluster-config"))
    assert request["Orchestrator"]["Eks"]["ClusterArn"] == exported["EKS_CLUSTER_ARN"]
    file = tmp_path / "cluster-config.json"
    file.write_text(json.dumps({**request, "ClusterName": "by-hand"}), "utf-8")
    person = Person(environment=operator.stage.environment, home=tmp_path)
    create = f"aws sagemaker create-cluster --cli-input-json file://{file}"
    # Whatever it names is there and fits: what is left is that the EKS cluster has a cluster.
    assert person.run(create).stderr.strip().endswith("'ml-cluster'.")
