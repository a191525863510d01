"""The `helm` section: the release of HyperPod's dependencies in Kubernetes."""

import re
from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue, field_validator

from hyperpod_cdk.helm.components import ComponentsConfig, chosen_switches, component_findings
from hyperpod_cdk.helm.images import ImageRegistry
from hyperpod_cdk.helm.priority_class_section import (
    DEFAULT_PRIORITY_CLASSES,
    PriorityClassConfig,
    priority_class_findings,
)
from hyperpod_cdk.schema.errors import Finding, KeyPath, error, refuse
from hyperpod_cdk.schema.limits import DNS_LABEL, DNS_SUBDOMAIN, Message
from hyperpod_cdk.schema.section import Listed, Section, judged, path_mark

_LONGEST_NAMESPACE = 63
# Helm keeps 10 characters of the 63 for the suffixes of what a chart creates.
# https://helm.sh/docs/chart_template_guide/getting_started/
_LONGEST_RELEASE = 53
_NAME_RULE = (
    "must be 1 to {longest} lower-case letters, digits and inner hyphens, as Kubernetes (RFC 1123) "
    "wants {noun}"
)

ReleaseName = Annotated[
    str,
    Field(pattern=rf"^{DNS_SUBDOMAIN}$", max_length=_LONGEST_RELEASE),
    Message(_NAME_RULE.format(longest=_LONGEST_RELEASE, noun="a Helm release")),
]
Namespace = Annotated[
    str,
    Field(pattern=rf"^{DNS_LABEL}$", max_length=_LONGEST_NAMESPACE),
    Message(_NAME_RULE.format(longest=_LONGEST_NAMESPACE, noun="a namespace")),
]


# In minutes; CloudFormation gives a custom resource an hour, helm included.
_LONGEST_WAIT = 45
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
_SECURE_REFERENCE = re.compile(r"\{\{resolve:(ssm-secure|secretsmanager):")
# A value nested deeper is a mistake, such as a YAML alias that contains itself.
_DEEPEST_VALUE = 30


def _chart_problems(path: Path) -> Iterator[str]:
    try:
        is_chart = (path / "Chart.yaml").is_file() or (path.suffix == ".tgz" and path.is_file())
    except OSError:  # a name too long, a folder that may not be read
        is_chart = False
    if not is_chart:
        kinds = "a .tgz chart archive or a directory with a Chart.yaml"
        yield f"must be {kinds}; {str(path)!r} is neither"


class HelmConfig(Section):
    """The Helm release of HyperPod's dependencies."""

    chart: Annotated[str | None, path_mark(_chart_problems)] = None
    """Chart to install: a .tgz archive, or a directory with a Chart.yaml; relative to the folder of
    the configuration file. Default: the official chart, built by `hyperpod-cdk charts`."""

    release: ReleaseName = "hyperpod-dependencies"
    """Name of the Helm release."""

    namespace: Namespace = "kube-system"
    """Kubernetes namespace of the release."""

    components: ComponentsConfig = ComponentsConfig()
    """What is installed. Default: what HyperPod needs, both job operators, and the device plugins
    for the hardware of the instance groups."""

    i_know_this_breaks_resiliency: bool = False
    """Consent to turning off components that HyperPod's resiliency needs; without it, turning them
    off is an error."""

    priority_classes: Annotated[
        Listed[PriorityClassConfig] | None, judged(priority_class_findings)
    ] = DEFAULT_PRIORITY_CLASSES
    """PriorityClasses, installed as the release hyperpod-priority-classes; null for none. Default:
    inference (100000), training (10000) and best-effort (-10)."""

    image_registry: Annotated[ImageRegistry | None, Field(examples=["registry.example.com"])] = None
    """Registry, perhaps with a folder, that the images of the chart come from in place of their
    own, under the same names; `hyperpod-cdk images` lists and mirrors them. Default: their own."""

    values: Annotated[dict[str, JsonValue], Field(examples=[{"a": {"b": "c"}}])] = Field(
        default_factory=dict
    )
    """Values for the chart, merged last: over its own defaults and over what components set."""

    adopt_namespaces: Listed[Namespace] = ("kubeflow", "aws-hyperpod", "mpi-operator")
    """Namespaces that the release takes over when they exist and belong to no Helm release. It then
    deletes them with itself, as it does those that it made."""

    delete_user_objects: bool = False
    """Consent to losing running jobs when the nodes are deleted, and jobs, pods, workloads and
    volume claims of users when the release, and its namespaces and CustomResourceDefinitions with
    it, is deleted; without it that is refused."""

    wait_for_ready_minutes: Annotated[
        int,
        Field(ge=0, le=_LONGEST_WAIT),
        Message(f"must be 0 to {_LONGEST_WAIT}: CloudFormation gives a custom resource an hour"),
    ] = 10
    """How long an update waits for the release's workloads when there are nodes, in minutes; then
    it fails, and names them. 0: it does not wait."""

    @field_validator("values", mode="before")
    @classmethod
    def _check_values(cls, value: object) -> object:
        if isinstance(value, dict):
            refuse(_json_findings(value))
        return value

    def _findings(self) -> Iterator[Finding]:
        consent = self.i_know_this_breaks_resiliency
        return component_findings(self.components, values=self.values, consent=consent)

    def components_to_install(self, *, instance_types: Iterable[str]) -> ComponentsConfig:
        """Return what is installed for nodes of these instance types, with no default left out.

        Args:
            instance_types: Types of HyperPod's nodes, such as `ml.p5.48xlarge`, and of others.

        Raises:
            ValueError: HyperPod has no such instance type.
        """
        chosen = chosen_switches(self.components, values=self.values)
        return self.components.to_install(instance_types=instance_types, chosen=chosen)


def _json_findings(value: object, path: KeyPath = ()) -> Iterator[Finding]:
    """Find what JSON, and the custom resource that carries it to Helm, cannot hold."""
    if len(path) > _DEEPEST_VALUE:
        yield error(path, value, f"must not be nested deeper than {_DEEPEST_VALUE} levels")
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _json_findings(item, (*path, key))
            else:
                yield error(path, key, "must be text to be a key; write it in quotes")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _json_findings(item, (*path, index))
    elif isinstance(value, float) and not isfinite(value):
        yield error(path, value, "must be finite, as JSON knows no other")
    elif not isinstance(value, str | int | float | None):
        yield error(path, value, "must be text, a number, true, false or null")
    elif isinstance(value, str) and _SECURE_REFERENCE.search(value):
        message = (
            "must not refer to a secret: CloudFormation resolves none for a custom resource; make "
            "a Kubernetes Secret of your own, and name that where the chart takes a name"
        )
        yield error(path, value, message)
