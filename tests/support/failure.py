"""A case in which a validator finds something, and what deploying it comes to all the same."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_rehearsal.existing_resources import existing_resources
from hyperpod_stacks.table import StackKind
from tests.support.configs import MINIMUM
from tests.support.partial_deployment import Deployment

Step = Callable[[Deployment], object]


def the_cluster(deployment: Deployment) -> str:
    """Create the HyperPod cluster; return which nodes are missing."""
    return deployment.create_cluster()


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """One case.

    Attributes:
        case: Name of the validator, and what is wrong.
        document: The configuration.
        before: Makes what the account has.
        deploy: Takes the step of the deployment at which it shows. Returns what is seen where no
            service refuses anything, such as the nodes that are missing.
        said: Regular expression of the failure's message, or of what is seen. None for a warning
            that the deployment survives.
        region: Where it is deployed.
    """

    case: str
    document: Mapping[str, Any] = field(default_factory=lambda: MINIMUM)
    before: Step | None = None
    deploy: Step = the_cluster
    said: str | None = None
    region: str = "us-west-2"

    @property
    def validator(self) -> str:
        """Name of the validator."""
        return self.case.partition(":")[0]

    def __str__(self) -> str:
        return self.case


def everything(deployment: Deployment) -> None:
    """Make all that the configuration names and a deployment does not make."""
    for each in existing_resources(deployment.config):
        each.make(deployment.client)


def creating(kind: StackKind, *kinds: str) -> Step:
    """Return the step that creates resources of a stack, by their types."""
    return lambda deployment: deployment.create(kind, *kinds)


CONTROL_PLANE = creating("platform", "AWS::EKS::Cluster")
SUBNETS = creating("platform", "AWS::EC2::Subnet")
ROUTES = creating("platform", "AWS::EC2::Route")
