"""The policies of editors' namespaces: where they are in force, and where not."""

from pathlib import Path

import pytest

from hyperpod_cli.inspect.verification.subjects.eks.isolation import isolation
from hyperpod_emulator.aws.eks.addon_objects import objects_of
from hyperpod_emulator.kubernetes import KubernetesApi
from tests.cli.inspect.verification.conftest import Deployed
from tests.support.chart_rendering import objects
from tests.support.configs import configure
from tests.support.isolated_cluster import CHART

_PRINCIPALS = ["arn:aws:iam::111122223333:role/Ann"]
_EDITED = {"eks": {"editors": [{"namespaces": ["team-a"], "principals": _PRINCIPALS}]}}
_VALUES = {"namespaces": ["team-a"], "made": [{"name": "team-a"}]}


def _install(kubernetes: KubernetesApi, home: Path, *, enforced: bool = True) -> None:
    values = {"enableNetworkPolicy": "true"} if enforced else None
    for item in objects_of("vpc-cni", version="v1", region="us-west-2", values=values):
        kubernetes.create(item)
    for item in objects(CHART, values=_VALUES, home=home, release="hyperpod-pod-security"):
        kubernetes.create(item)


def test_policies_are_in_force(
    deployed: Deployed, kubernetes: KubernetesApi, tmp_path: Path
) -> None:
    _install(kubernetes, tmp_path)

    assert [check.ok for check in isolation(deployed(configure(_EDITED)))] == [True] * 3


@pytest.mark.parametrize(
    ("gone", "found"),
    [
        (
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingAdmissionPolicyBinding",
                "hyperpod-pod-security-pods",
                "",
            ),
            "lacks hyperpod-pod-security-pods",
        ),
        (
            ("networking.k8s.io/v1", "NetworkPolicy", "hyperpod-isolation", "team-a"),
            "there is none in team-a",
        ),
    ],
)
def test_what_was_deleted(
    gone: tuple[str, str, str, str],
    found: str,
    deployed: Deployed,
    kubernetes: KubernetesApi,
    tmp_path: Path,
) -> None:
    _install(kubernetes, tmp_path)
    *item, namespace = gone
    kubernetes.delete(*item, namespace=namespace)

    assert found in [check.found for check in isolation(deployed(configure(_EDITED)))]


def test_network_policies_that_nobody_enforces(
    deployed: Deployed, kubernetes: KubernetesApi, tmp_path: Path
) -> None:
    _install(kubernetes, tmp_path, enforced=False)

    *_, enforced = isolation(deployed(configure(_EDITED)))

    assert enforced.found == "does not enforce network policies"


def test_nothing_installed_and_no_editors(deployed: Deployed) -> None:
    found = [check.found for check in isolation(deployed(configure(_EDITED)))]

    assert found == [
        "there is none",
        "there is none in team-a",
        "does not enforce network policies",
    ]
    assert [*isolation(deployed(configure({})))] == []
