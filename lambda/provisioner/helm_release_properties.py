"""The properties of ``Custom::HelmRelease``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provisioner.errors import ProvisioningError
from provisioner.owner import digest
from provisioner.request import json_object_property, text_property

_ARCHIVES = (".tgz", ".zip")


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmReleaseProperties:
    """What the CDK app asks for.

    Args:
        cluster_name: The EKS cluster.
        release: The release's name.
        namespace: The release's namespace.
        chart_bucket: Bucket of the chart asset.
        chart_key: Key of the chart asset: a packaged chart (.tgz) or a zipped chart folder (.zip).
        chart_digest: Stands for the chart's content.
        values: Merged over the chart's own values.
    """

    cluster_name: str
    release: str
    namespace: str
    chart_bucket: str
    chart_key: str
    chart_digest: str
    values: Mapping[str, Any]

    @classmethod
    def parse(cls, properties: Mapping[str, Any]) -> "HelmReleaseProperties":
        """Parse ResourceProperties.

        Raises:
            ProvisioningError: One is missing or of the wrong type.
        """
        chart_key = text_property(properties, "ChartKey")
        if not chart_key.endswith(_ARCHIVES):
            raise ProvisioningError(
                f"The property ChartKey must end in .tgz or .zip, got {chart_key}",
                next_step="Pass a packaged chart or a zipped chart folder.",
            )
        return cls(
            cluster_name=text_property(properties, "ClusterName"),
            release=text_property(properties, "Release"),
            namespace=text_property(properties, "Namespace"),
            chart_bucket=text_property(properties, "ChartBucket"),
            chart_key=chart_key,
            chart_digest=text_property(properties, "ChartDigest"),
            values=json_object_property(properties, "Values"),
        )

    @property
    def physical_id(self) -> str:
        """The resource's id; another cluster, namespace or name is another release."""
        return f"{self.cluster_name}/{self.namespace}/{self.release}"

    @property
    def content(self) -> str:
        """Stands for chart and values: equal content needs no upgrade."""
        values = json.dumps(self.values, sort_keys=True, separators=(",", ":"))
        return digest(self.chart_digest, values)
