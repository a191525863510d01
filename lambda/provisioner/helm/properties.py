"""The properties of `Custom::HelmRelease`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import digest
from provisioner.framework.properties import (
    Properties,
    Reader,
    json_object,
    json_texts,
    parsed,
    text,
    truth,
)
from provisioner.kubernetes.manifest import ReleaseId

_ARCHIVES = (".tgz", ".zip")
# As helm and Kubernetes name things; anything else could also be an option of their command line.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LAST_OF_FOUR_DIGITS = 0xFFFF


def _name_of(*, longest: int) -> Reader:
    def read(name: str, value: object) -> str:
        found = text(name, value)
        if len(found) > longest or not _NAME.fullmatch(found):
            raise ProvisioningError(
                f"The property {name} must be 1 to {longest} lower-case letters, digits, inner "
                f"hyphens and dots, got {found!r}",
                next_step="Choose another name, then deploy again.",
            )
        return found

    return read


def _archive(name: str, value: object) -> str:
    key = text(name, value)
    if not key.endswith(_ARCHIVES):
        raise ProvisioningError(
            f"The property {name} must end in .tgz or .zip, got {key}",
            next_step="Pass a packaged chart or a zipped chart folder.",
        )
    return key


def _minutes(name: str, value: object) -> int:
    if not isinstance(value, str) or not value.isdecimal():
        raise ProvisioningError(
            f"The property {name} must be a whole number of minutes, got {value!r}",
            next_step="Set it in the custom resource, or omit it for 0.",
        )
    return int(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmReleaseProperties(Properties):
    """The properties that the CDK app sets.

    Attributes:
        chart_key: Key of the chart asset: a packaged chart (.tgz) or a zipped chart folder (.zip).
        values: Merged over the chart's own values.
        adopt_namespaces: Namespaces that the release may take over if they exist and no release
            owns them. Default: none.
        delete_user_objects: Whether users' objects may be deleted with the namespaces and
            definitions that helm deletes. Default: no.
        wait_for_ready_minutes: How long an update may wait for the release's workloads. Default: 0,
            not at all.
        needs_definitions: CustomResourceDefinitions that someone else brings, and that are waited
            for. Default: none.
    """

    PHYSICAL_ID = "{0.cluster_name}/{0.namespace}/{0.release}"

    cluster_name: str = parsed(text)
    release: str = parsed(_name_of(longest=53))
    namespace: str = parsed(_name_of(longest=63))
    chart_bucket: str = parsed(text)
    chart_key: str = parsed(_archive)
    chart_digest: str = parsed(text)
    values: Mapping[str, Any] = parsed(json_object)
    adopt_namespaces: tuple[str, ...] = parsed(json_texts, default=())
    delete_user_objects: bool = parsed(truth, default=False)
    wait_for_ready_minutes: int = parsed(_minutes, default=0)
    needs_definitions: tuple[str, ...] = parsed(json_texts, default=())

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
