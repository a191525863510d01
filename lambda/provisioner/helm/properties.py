"""The properties of `Custom::HelmRelease`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import digest
from provisioner.framework.request import (
    json_object_property,
    json_property,
    text_property,
    truth_property,
)
from provisioner.kubernetes.manifest import ReleaseId

_ARCHIVES = (".tgz", ".zip")
# As helm and Kubernetes name things; anything else could also be an option of their command line.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_RELEASE = 53
_LONGEST_NAMESPACE = 63
_LAST_OF_FOUR_DIGITS = 0xFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmReleaseProperties:
    """The properties that the CDK app sets.

    Attributes:
        cluster_name: The EKS cluster.
        release: The release's name.
        namespace: The release's namespace.
        chart_bucket: Bucket of the chart asset.
        chart_key: Key of the chart asset: a packaged chart (.tgz) or a zipped chart folder (.zip).
        chart_digest: Digest of the chart's content.
        values: Merged over the chart's own values.
        adopt_namespaces: Namespaces that the release may take over if they exist and no release
            owns them. Default: none.
        delete_user_objects: Whether users' objects may be deleted with the namespaces and
            definitions that helm deletes. Default: no.
        wait_for_ready_minutes: How long an update may wait for the release's workloads. Default: 0,
            not at all.
    """

    cluster_name: str
    release: str
    namespace: str
    chart_bucket: str
    chart_key: str
    chart_digest: str
    values: Mapping[str, Any]
    adopt_namespaces: tuple[str, ...] = ()
    delete_user_objects: bool = False
    wait_for_ready_minutes: int = 0

    @classmethod
    def parse(cls, properties: Mapping[str, Any]) -> "HelmReleaseProperties":
        """Parse ResourceProperties.

        Raises:
            ProvisioningError: One is missing, of the wrong type, or no name.
        """
        chart_key = text_property(properties, "ChartKey")
        if not chart_key.endswith(_ARCHIVES):
            raise ProvisioningError(
                f"The property ChartKey must end in .tgz or .zip, got {chart_key}",
                next_step="Pass a packaged chart or a zipped chart folder.",
            )
        return cls(
            cluster_name=text_property(properties, "ClusterName"),
            release=_name(properties, "Release", longest=_LONGEST_RELEASE),
            namespace=_name(properties, "Namespace", longest=_LONGEST_NAMESPACE),
            chart_bucket=text_property(properties, "ChartBucket"),
            chart_key=chart_key,
            chart_digest=text_property(properties, "ChartDigest"),
            values=json_object_property(properties, "Values"),
            adopt_namespaces=_names(properties, "AdoptNamespaces"),
            delete_user_objects=truth_property(properties, "DeleteUserObjects"),
            wait_for_ready_minutes=_minutes(properties, "WaitForReadyMinutes"),
        )

    @property
    def physical_id(self) -> str:
        """The resource's id: another cluster, namespace or name replaces the resource."""
        return f"{self.cluster_name}/{self.namespace}/{self.release}"

    @property
    def release_id(self) -> ReleaseId:
        """Name and namespace of the release."""
        return ReleaseId(self.release, self.namespace)

    @property
    def values_yaml(self) -> str:
        """The values as helm reads them: JSON in ASCII, but with YAML's escapes.

        JSON escapes a character beyond U+FFFF as two, which YAML does not know.
        """
        text = json.dumps(self.values, ensure_ascii=False)
        return re.sub("[^ -~]", lambda found: _yaml_escape(ord(found[0])), text)

    @property
    def content(self) -> str:
        """Digest of chart and values: equal content needs no upgrade."""
        values = json.dumps(self.values, sort_keys=True, separators=(",", ":"))
        return digest(self.chart_digest, values)


def _yaml_escape(character: int) -> str:
    # https://yaml.org/spec/1.2.2/#57-escaped-characters
    return f"\\U{character:08x}" if character > _LAST_OF_FOUR_DIGITS else f"\\u{character:04x}"


def _name(properties: Mapping[str, Any], name: str, *, longest: int) -> str:
    value = text_property(properties, name)
    if len(value) > longest or not _NAME.fullmatch(value):
        raise ProvisioningError(
            f"The property {name} must be 1 to {longest} lower-case letters, digits, inner hyphens "
            f"and dots, got {value!r}",
            next_step="Choose another name, then deploy again.",
        )
    return value


def _names(properties: Mapping[str, Any], name: str) -> tuple[str, ...]:
    if name not in properties:
        return ()
    value = json_property(properties, name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ProvisioningError(
            f"The property {name} must be a JSON list of names, got {json.dumps(value)}",
            next_step='Pass a text such as ["kubeflow"].',
        )
    return tuple(value)


def _minutes(properties: Mapping[str, Any], name: str) -> int:
    value = properties.get(name, "0")
    if not isinstance(value, str) or not value.isdecimal():
        raise ProvisioningError(
            f"The property {name} must be a whole number of minutes, got {value!r}",
            next_step="Set it in the custom resource, or leave it out for 0.",
        )
    return int(value)
