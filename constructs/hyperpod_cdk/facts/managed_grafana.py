"""Where there is Amazon Managed Grafana.

The data file is written by `make generate`: the regions for which CloudFormation publishes a schema
of `AWS::Grafana::Workspace`, of the day of the cfn-lint that it names.
"""

from hyperpod_cdk.facts import data_of


def managed_grafana_regions() -> tuple[str, ...]:
    """Return the regions, sorted."""
    return tuple(data_of("managed_grafana")["regions"])
