"""Training plans of the rehearsal's HyperPod API."""

from typing import Any

from emulator.hyperpod import Caller, HyperPodService

TYPE = "ml.p5.48xlarge"


def offerings(service: HyperPodService, **request: Any) -> list[dict[str, Any]]:
    """Return what can be reserved for a HyperPod cluster: two instances unless others are given."""
    wanted = {"InstanceType": TYPE, "InstanceCount": 2, "TargetResources": ["hyperpod-cluster"]}
    answer = service.call("SearchTrainingPlanOfferings", {**wanted, **request}, Caller())
    found: list[dict[str, Any]] = answer["TrainingPlanOfferings"]
    return found


def create_plan(service: HyperPodService, name: str = "plan", **request: Any) -> str:
    """Buy the first of these offerings and return the plan's ARN."""
    offering = offerings(service, **request)[0]["TrainingPlanOfferingId"]
    bought = {"TrainingPlanName": name, "TrainingPlanOfferingId": offering}
    return str(service.call("CreateTrainingPlan", bought, Caller())["TrainingPlanArn"])
