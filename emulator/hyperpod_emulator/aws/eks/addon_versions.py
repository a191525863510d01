"""Which versions of add-ons EKS offers.

`addon_versions.json` has some of the versions, the newest first: those of
https://github.com/nudgebee/nudgebee-compatibility-registry, which recorded DescribeAddonVersions on
2026-05-12 for 1.30 to 1.34; for 1.35, those of the tables in the EKS user guide, which has none for
the FSx CSI driver: there, the pinned one. Which is EKS's default is not recorded: here the last.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from hyperpod_emulator.aws.eks import api as eks_api
from hyperpod_emulator.aws.ministack import Response, eks

_OFFERED: Mapping[str, Mapping[str, list[str]]] = json.loads(
    Path(__file__).with_name("addon_versions.json").read_text(encoding="utf-8")
)


def default(addon_name: str, *, kubernetes_version: str) -> str:
    """Return the version that EKS installs when none is asked for."""
    return _OFFERED[addon_name][kubernetes_version][-1]


def version_problem(
    body: Mapping[str, Any], *, addon_name: str, kubernetes_version: str
) -> str | None:
    """Return what EKS says of an add-on, or a version of it, that it does not offer.

    https://github.com/aws/containers-roadmap/issues/2625 and
    https://github.com/hashicorp/terraform-provider-aws/issues/33385
    """
    offered = _OFFERED.get(addon_name, {}).get(kubernetes_version)
    if offered is None:
        return (
            f"Addon {addon_name} specified is not supported in {kubernetes_version} kubernetes "
            "version"
        )
    if body.get("addonVersion", offered[0]) not in offered:
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
            "addonVersions": _versions(by_kubernetes, wanted),
            "owner": "aws",
            "publisher": "eks",
        }
        for name, by_kubernetes in _OFFERED.items()
        if name in query.get("addonName", [name])
    ]
    return eks._json_resp(
        HTTPStatus.OK, {"addons": [addon for addon in addons if addon["addonVersions"]]}
    )


def _versions(
    by_kubernetes: Mapping[str, list[str]], wanted: str | None
) -> list[Mapping[str, Any]]:
    compatibilities: dict[str, list[Mapping[str, Any]]] = {}
    for kubernetes_version, versions in by_kubernetes.items():
        if kubernetes_version != (wanted or kubernetes_version):
            continue
        for version in versions:
            compatibilities.setdefault(version, []).append(
                {
                    "clusterVersion": kubernetes_version,
                    "platformVersions": ["*"],
                    "defaultVersion": version == versions[-1],
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
