"""The properties of `Custom::DeletionCheck`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.errors import ProvisioningError
from provisioner.framework.request import json_property, text_property, truth_property
from provisioner.kubernetes.manifest import ReleaseId


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionCheckProperties:
    """The properties that the CDK app sets.

    Attributes:
        cluster_name: The EKS cluster.
        releases: The Helm releases that the stack deletes.
        delete_user_objects: Whether users' objects and jobs may be lost. Default: no.
    """

    cluster_name: str
    releases: tuple[ReleaseId, ...]
    delete_user_objects: bool = False

    @classmethod
    def parse(cls, properties: Mapping[str, Any]) -> "DeletionCheckProperties":
        """Parse ResourceProperties.

        Raises:
            ProvisioningError: One is missing or of the wrong type.
        """
        names = json_property(properties, "Releases")
        if not isinstance(names, list) or not all(
            isinstance(name, str) and name.count("/") == 1 for name in names
        ):
            raise ProvisioningError(
                "The property Releases must be a JSON list of namespaces and names",
                next_step='Pass a text such as ["kube-system/hyperpod-dependencies"].',
            )
        return cls(
            cluster_name=text_property(properties, "ClusterName"),
            releases=tuple(
                ReleaseId(name=name, namespace=namespace)
                for namespace, name in (item.split("/") for item in names)
            ),
            delete_user_objects=truth_property(properties, "DeleteUserObjects"),
        )

    @property
    def physical_id(self) -> str:
        """The resource's id."""
        return f"{self.cluster_name}/deletion-check"
