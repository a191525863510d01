"""What can go wrong or change, each with what must come of it."""

from rehearsal.scenarios import (
    changes,
    delays,
    destructions,
    express_deployments,
    further_zone,
    helm_failures,
    kubernetes_upgrade,
    missing_nodes,
    native_resource,
    outside_events,
    refused_creations,
    script_changes,
    version_upgrade,
)
from rehearsal.scenarios.scenario import Scenario

SCENARIOS = {
    scenario.name: scenario
    for module in (
        refused_creations,
        missing_nodes,
        helm_failures,
        delays,
        express_deployments,
        changes,
        further_zone,
        script_changes,
        outside_events,
        destructions,
        version_upgrade,
        kubernetes_upgrade,
        native_resource,
    )
    for scenario in module.SCENARIOS
}

__all__ = ["SCENARIOS", "Scenario"]
