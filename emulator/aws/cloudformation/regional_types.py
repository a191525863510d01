"""Resource types that a region does not have.

Of HyperPod's, CloudFormation publishes the schema by region; the settings name the regions:
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
"""

from collections.abc import Callable, Mapping
from typing import Any

from emulator.aws.ministack import changesets, get_region, handlers, provisioners
from emulator.aws.parent_process import Settings

_NATIVE = "AWS::SageMaker::Cluster"


_regions: set[str] = set()


def is_offered(resource_type: str) -> bool:
    """Return whether the request's region has a resource type."""
    known = resource_type in provisioners.RESOURCE_HANDLERS
    return known and (resource_type != _NATIVE or not _regions or get_region() in _regions)


def install(*, settings: Settings) -> None:
    """Have CloudFormation refuse a template with a type that its region does not have."""
    _regions.update(filter(None, settings.native_regions.split(",")))
    validate: Callable[..., None] = handlers.validate_template_support

    def validate_in_region(
        template: Mapping[str, Any], conditions: Mapping[str, bool], *rest: Any, **options: Any
    ) -> None:
        used = {each.get("Type") for each in template.get("Resources", {}).values()}
        if _NATIVE in used and not is_offered(_NATIVE):
            raise ValueError(f"Template format error: Unrecognized resource types: [{_NATIVE}]")
        validate(template, conditions, *rest, **options)

    handlers.validate_template_support = changesets.validate_template_support = validate_in_region
