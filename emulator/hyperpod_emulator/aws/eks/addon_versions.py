"""Which versions of add-ons EKS offers.

`addon_versions.json` has some of the versions by the first Kubernetes version that has them here:
those of https://github.com/nudgebee/nudgebee-compatibility-registry, which recorded
DescribeAddonVersions on 2026-05-12 for 1.30 to 1.34; for 1.35, those of the tables in the EKS user
guide, which has none for the FSx CSI driver: there, the pinned one. Which is EKS's default is not
recorded: here the last.

In the record, EKS offers each of them for all later Kubernetes versions too, kube-proxy for three
later ones, so that the rollback of an upgrade finds the former versions. So 1.35 is taken to do.
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from hyperpod_emulator.aws.eks import api as eks_api
from hyperpod_emulator.aws.ministack import Response, eks

_FIRST_FOR: Mapping[str, Mapping[str, list[str]]] = json.loads(
    Path(__file__).with_name("addon_versions.json").read_text(encoding="utf-8")
)
_KUBE_PROXY = "kube-proxy"
# https://docs.aws.amazon.com/eks/latest/userguide/managing-kube-proxy.html
_MINORS_OF_KUBE_PROXY = 4
_KUBERNETES_VERSIONS = tuple(_FIRST_FOR[_KUBE_PROXY])


def default(addon_name: str, *, kubernetes_version: str) -> str:
    """Return the version that EKS installs when none is asked for."""
    return _lists(addon_name, kubernetes_version)[-1][-1]


def offered(addon_name: str, *, kubernetes_version: str) -> Sequence[str]:
    """Return the versions that EKS offers, the newest first; none of an unknown add-on."""
    lists = reversed(_lists(addon_name, kubernetes_version))
    return [version for versions in lists for version in versions]


def _lists(addon_name: str, kubernetes_version: str) -> Sequence[list[str]]:
    if kubernetes_version not in _KUBERNETES_VERSIONS:
        return ()
    lists = [
        versions
        for first, versions in _FIRST_FOR.get(addon_name, {}).items()
        if first <= kubernetes_version
    ]
    return lists[-_MINORS_OF_KUBE_PROXY:] if addon_name == _KUBE_PROXY else lists


def version_problem(
    body: Mapping[str, Any], *, addon_name: str, kubernetes_version: str
) -> str | None:
    """Return what EKS says of an add-on, or a version of it, that it does not offer.

    https://github.com/aws/containers-roadmap/issues/2625 and
    https://github.com/hashicorp/terraform-provider-aws/issues/33385
    """
    versions = offered(addon_name, kubernetes_version=kubernetes_version)
    if not versions:
        return (
            f"Addon {addon_name} specified is not supported in {kubernetes_version} kubernetes "
            "version"
        )
    if body.get("addonVersion", versions[0]) not in versions:
        return "Addon version specified is not supported"
    return None


def install() -> None:
    """Answer DescribeAddonVersions, which MiniStack does not know."""
    eks_api.route("GET", "/addons/supported-versions", _describe)


def _describe(_asked: object, _body: object, query: eks_api.Query) -> Response:
    [wanted] = query.get("kubernetesVersion", [None])
    addons = [
        {
            "addonName": name,
            "addonVersions": _versions(name, wanted),
            "owner": "aws",
            "publisher": "eks",
        }
        for name in _FIRST_FOR
        if name in query.get("addonName", [name])
    ]
    return eks._json_resp(
        HTTPStatus.OK, {"addons": [addon for addon in addons if addon["addonVersions"]]}
    )


def _versions(addon_name: str, wanted: str | None) -> list[Mapping[str, Any]]:
    compatibilities: dict[str, list[Mapping[str, Any]]] = {}
    for kubernetes_version in [wanted] if wanted else _KUBERNETES_VERSIONS:
        for version in offered(addon_name, kubernetes_version=kubernetes_version):
            compatibilities.setdefault(version, []).append(
                {
                    "clusterVersion": kubernetes_version,
                    "platformVersions": ["*"],
                    "defaultVersion": version
                    == default(addon_name, kubernetes_version=kubernetes_version),
                }
            )
    return [
        {
            "addonVersion": version,
            "architecture": ["amd64", "arm64"],
            "compatibilities": listed,
            "requiresConfiguration": False,
        }
        for version, listed in compatibilities.items()
    ]
