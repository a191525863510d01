"""What EKS offers of the add-ons of a Kubernetes version."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS


@dataclass(frozen=True, kw_only=True, slots=True)
class Versions:
    """The versions of one add-on for one Kubernetes version.

    Attributes:
        addon_name: Name of the add-on.
        pinned: The pinned version; None where EKS chooses.
        default: What EKS installs when no version is asked for; None when it says nothing.
        offered: All that EKS offers, the newest first.
    """

    addon_name: str
    pinned: str | None
    default: str | None
    offered: Sequence[str]

    @property
    def is_offered(self) -> bool:
        """Whether the add-on can be deployed as it is pinned."""
        return self.pinned in self.offered if self.pinned else bool(self.offered)

    @property
    def remark(self) -> str:
        """What to do about it; empty for nothing."""
        if not self.is_offered:
            return "not offered" if self.pinned is None else "pinned version not offered"
        if self.pinned is None:
            return "not pinned"
        return "newer" if self.pinned != self.offered[0] else ""


def offered_addons(
    eks: Any,  # noqa: ANN401 - a client
    *,
    kubernetes_version: str,
) -> Iterator[Versions]:
    """Yield the versions of each add-on that EKS says it offers.

    Raises:
        ClientError: EKS refused to say.
        BotoCoreError: EKS could not be asked.
    """
    pages = eks.get_paginator("describe_addon_versions")
    for name in sorted({name for versions in ADDON_VERSIONS.values() for name in versions}):
        offered = [
            (version["addonVersion"], compatibility)
            for page in pages.paginate(addonName=name, kubernetesVersion=kubernetes_version)
            for addon in page["addons"]
            for version in addon["addonVersions"]
            for compatibility in version["compatibilities"]
            if compatibility["clusterVersion"] == kubernetes_version
        ]
        yield Versions(
            addon_name=name,
            pinned=ADDON_VERSIONS[kubernetes_version].get(name),
            default=next((version for version, one in offered if _is_default(one)), None),
            offered=sorted((version for version, _ in offered), key=_numbers, reverse=True),
        )


def _is_default(compatibility: Mapping[str, Any]) -> bool:
    return bool(compatibility.get("defaultVersion"))


def _numbers(version: str) -> list[int]:
    """Return what versions are ordered by: v1.9.0-eksbuild.1 is older than v1.21.1-eksbuild.7."""
    return [int(number) for number in re.findall(r"\d+", version)]
