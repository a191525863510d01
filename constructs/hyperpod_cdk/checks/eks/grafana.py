"""Grafana has metrics to show, and is where it can be."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.regional_types import regions_of
from hyperpod_cdk.observability.section import IN_CLUSTER, MANAGED
from hyperpod_cdk.schema.errors import Findings, error

_PATH = ("observability", "grafana")


def grafana(config: Config) -> Findings:
    """Find a Grafana without Prometheus, and a managed one where AWS has none.

    https://docs.aws.amazon.com/general/latest/gr/grafana-service.html
    """
    observability = config.observability
    if observability.grafana is None or not config.cluster.exists:
        return
    kind, regions = observability.grafana.kind, regions_of("AWS::Grafana::Workspace")
    if observability.prometheus is None:
        message = "shows the metrics of observability.prometheus: switch that on, or leave this out"
        yield error((*_PATH, "kind"), kind, message)
    if kind == MANAGED and config.region is not None and config.region not in regions:
        message = (
            f"is not in {config.region}: Amazon Managed Grafana is in {', '.join(regions)}; "
            f"{IN_CLUSTER} works everywhere"
        )
        yield error((*_PATH, "kind"), kind, message)
