"""config/examples/closed-network.yaml."""

import json
from collections.abc import Collection
from pathlib import Path

import pytest

from hyperpod_cdk.network.endpoint_services import (
    ENDPOINT_SERVICES,
    EndpointService,
    endpoint_services,
)
from hyperpod_rehearsal.environment import ALLOWED_CALLS
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import verify
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified
from tests.support.stages import bootstrapped_stage

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["closed-network"]


@pytest.mark.slow(seconds=10)
def test_the_provisioner_has_the_endpoints_that_it_calls_and_no_others(stage: Stage) -> None:
    assert stage.deploy_first() is None
    assert stage.destroy() is None
    lines = (stage.work_directory / ALLOWED_CALLS).read_text(encoding="utf-8").splitlines()
    calls = [json.loads(line) for line in lines]
    called = {
        action.partition(":")[0]
        for call in calls
        if "ProvisionerRole" in call["role"]
        for statement in call["statements"]
        for action in statement["actions"]
    }
    services = {
        action.partition(":")[0]
        for service in ENDPOINT_SERVICES
        if "provisioner" in service.users
        for action in service.actions
    }

    assert services <= called
    # Lambda writes the logs, from outside the VPC, and HyperPod looks at the EKS cluster.
    assert called - services <= {"s3", "logs", "iam", "eks"}


@pytest.mark.slow(seconds=15)
def test_a_deployment_without_an_endpoint_fails_and_names_its_service(
    config_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_eks(has: Collection[str]) -> list[EndpointService]:
        return [each for each in endpoint_services(has) if each.name != "eks"]

    monkeypatch.setattr("hyperpod_cdk.config.config.endpoint_services", without_eks)
    with bootstrapped_stage(tmp_path, config_path) as stage:
        stage.change(lambda document: document.update(storage=None))
        problem = stage.deploy()

        assert problem is not None
        assert "eks.us-west-2.amazonaws.com" in problem
        assert stage.status("platform") == "CREATE_COMPLETE"
        assert stage.destroy() is None


@pytest.mark.slow(seconds=15)
def test_an_image_of_a_registry_that_no_node_reaches_is_not_pulled(stage: Stage) -> None:
    assert stage.deploy_first() is None
    image = "nvcr.io/nvidia/k8s-device-plugin:1"
    stage.tools.run(f"kubectl set image ds/fsx-csi-node fsx-plugin={image} -n kube-system")
    checks = verify(
        stage.config,
        tools=stage.tools,
        clients=stage.environment.clients,
        outputs=stage.outputs(),
    )

    assert any("ImagePullBackOff" in check.found for check in checks if not check.ok)
    messages = {
        container["state"]["waiting"]["message"]
        for pod in stage.environment.kubernetes.objects("v1", "Pod")
        for container in pod["status"]["containerStatuses"]
        if "waiting" in container["state"]
    }
    assert [each.rpartition(": ")[2] for each in messages] == ["no such host"]
    assert all(each.startswith(f'Back-off pulling image "{image}"') for each in messages)
