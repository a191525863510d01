"""What a configuration may have, and templates cannot."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.helm.dependency_values import dependency_values, needs_registry
from hyperpod_cdk.schema.errors import Finding, error
from scripts.templates.parameters import PLACEHOLDER


def template_findings(config: Config) -> Iterator[Finding]:
    """Find what templates of no region, and of any name, cannot hold."""
    if len(config.name) > len(PLACEHOLDER):
        message = (
            f"must be at most {len(PLACEHOLDER)} characters for templates, which cannot shorten "
            "the names that begin with it; deploy it with the CDK, or take a shorter name"
        )
        yield error(("name",), config.name, message)
    values = dependency_values(config.helm, region="", instance_types=config.cluster.instance_types)
    if needs_registry(config.helm, values=values):
        message = (
            "has its images in a registry of the region, which templates do not know; name one in "
            "helm.values.gpu-operator.gpu-operator.operator.repository, or deploy it with the CDK"
        )
        yield error(("helm", "components", "gpu_operator"), True, message)
