"""What `addon-versions` says; a test of the local AWS runs it against EKS's own answer."""

from pathlib import Path

import pytest
from botocore.exceptions import NoCredentialsError

from hyperpod_cdk.eks.section import HYPERPOD_KUBERNETES_VERSIONS
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cli.inspect.preflight.validators.eks.kubernetes_version import (
    Versions,
    offered_addons,
)
from hyperpod_shared.governance import ADDON as TASK_GOVERNANCE
from tests.support.commands import ran

PINNED, NEWER = "v1.9.0-eksbuild.1", "v1.21.1-eksbuild.7"


@pytest.mark.parametrize(
    ("pinned", "offered", "is_offered", "remark"),
    [
        (PINNED, [PINNED], True, ""),
        (PINNED, [NEWER, PINNED], True, "newer"),
        (PINNED, [NEWER], False, "pinned version not offered"),
        (PINNED, [], False, "pinned version not offered"),
        (None, [NEWER], True, "not pinned"),
        (None, [], False, "not offered"),
    ],
)
def test_what_is_said_of_an_addon(
    pinned: str | None, offered: list[str], *, is_offered: bool, remark: str
) -> None:
    versions = Versions(addon_name="coredns", pinned=pinned, default=None, offered=offered)

    assert (versions.is_offered, versions.remark) == (is_offered, remark)


class Eks:
    """EKS, which offers the same versions of every add-on."""

    def get_paginator(self, operation: str) -> "Eks":
        assert operation == "describe_addon_versions"
        return self

    def paginate(self, *, addonName: str, kubernetesVersion: str) -> list[dict[str, object]]:
        def version(name: str, **more: bool) -> dict[str, object]:
            compatibility = {"clusterVersion": kubernetesVersion, **more}
            return {"addonVersion": name, "compatibilities": [compatibility]}

        def page(*versions: dict[str, object]) -> dict[str, object]:
            return {"addons": [{"addonName": addonName, "addonVersions": versions}]}

        return [page(version(PINNED, defaultVersion=True)), page(version(NEWER))]


def test_versions_are_ordered_by_their_numbers_on_all_pages() -> None:
    found = {each.addon_name: each for each in offered_addons(Eks(), kubernetes_version="1.34")}

    assert set(found) == {name for versions in ADDON_VERSIONS.values() for name in versions}
    assert list(found["vpc-cni"].offered) == [NEWER, PINNED]
    assert (found["vpc-cni"].default, found["vpc-cni"].remark) == (PINNED, "")
    assert not found["coredns"].is_offered


def test_without_credentials_it_says_so_in_one_line(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def client(service: str, *, region_name: str | None) -> None:
        assert (service, region_name) == ("eks", "us-west-2")
        raise NoCredentialsError

    monkeypatch.setattr("boto3.client", client)

    code, _, said = ran("addon-versions", "--config", repository / "config" / "default.yaml")
    assert said.startswith("Could not ask EKS for the versions of its add-ons: Unable to locate")
    assert (code, said.count("\n")) == (2, 1)


def test_each_kubernetes_version_has_its_pins() -> None:
    assert set(ADDON_VERSIONS) == set(HYPERPOD_KUBERNETES_VERSIONS)
    names = {name for versions in ADDON_VERSIONS.values() for name in versions}
    missing = {
        (version, name)
        for version, versions in ADDON_VERSIONS.items()
        for name in names - set(versions)
    }
    # The rule `governance_version` refuses the other versions of Kubernetes.
    assert {name for _, name in missing} == {TASK_GOVERNANCE}
