"""CloudFormation has each resource type wherever HyperPod is, or a rule refuses the region.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
"""

from functools import cache

from hyperpod_cdk.checks import findings
from hyperpod_cdk.facts.instance_types import regions_known
from hyperpod_cdk.schema.errors import Severity
from tests.support.cloudformation_lists import types_of
from tests.support.laws import Deployment


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each type that a region lacks, and that no rule refuses there."""
    first = {each.type: each for each in deployment.resources if each.type.startswith("AWS::")}
    found = []
    for region in sorted(_regions()):
        lacking = sorted(name for name in first if name not in types_of(region))
        if lacking and not _refused(deployment, region):
            found += [
                first[name].violation(
                    f"{region} has no {name}", allowed="a rule refuses the region"
                )
                for name in lacking
            ]
    return found


@cache
def _regions() -> frozenset[str]:
    """Return where HyperPod is offered, as far as is known."""
    return frozenset(region for region in regions_known() if types_of(region))


def _refused(deployment: Deployment, region: str) -> bool:
    moved = deployment.config.model_copy(update={"region": region})
    return any(
        each.severity is Severity.ERROR and f" in {region}" in each.message
        for each in findings(moved)
    )
