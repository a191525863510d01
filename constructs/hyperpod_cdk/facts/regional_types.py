"""In which regions CloudFormation has the types that it does not have wherever HyperPod is.

The data file is written by `make generate`: the regions for which CloudFormation publishes a
schema, of the day of the cfn-lint that it names.
"""

from collections.abc import Mapping

from hyperpod_cdk.facts import data_of


def regional_types() -> Mapping[str, tuple[str, ...]]:
    """Return the regions of each such type, sorted."""
    return {name: tuple(regions) for name, regions in data_of("regional_types")["types"].items()}


def regions_of(resource_type: str) -> tuple[str, ...]:
    """Return the regions of such a type, sorted."""
    return regional_types()[resource_type]
