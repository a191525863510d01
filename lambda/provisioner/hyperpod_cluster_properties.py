"""The properties of ``Custom::HyperPodCluster``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provisioner.errors import ProvisioningError
from provisioner.hyperpod_plan import ClusterRequest
from provisioner.request import json_object_property, text_property


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodClusterProperties:
    """What the CDK app asks for.

    Args:
        cluster_name: The HyperPod cluster's name, which is also the resource's id.
        request: The whole CreateCluster input.
    """

    cluster_name: str
    request: ClusterRequest

    @classmethod
    def parse(cls, properties: Mapping[str, Any]) -> "HyperPodClusterProperties":
        """Parse ResourceProperties.

        Raises:
            ProvisioningError: One is missing, of the wrong type, or the two names differ.
        """
        name = text_property(properties, "ClusterName")
        request = json_object_property(properties, "Request")
        if request.get("ClusterName") != name:
            raise ProvisioningError(
                f"The property ClusterName is {name}, but Request.ClusterName is "
                f"{request.get('ClusterName')}",
                next_step="Give both the same name.",
            )
        return cls(cluster_name=name, request=request)
