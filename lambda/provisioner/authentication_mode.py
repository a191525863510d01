"""`Custom::EksAuthenticationMode`: a cluster that knows access entries.

| request        | on_event | is_complete                                     |
|----------------|----------|-------------------------------------------------|
| Create, Update | nothing  | what `decide` says of the cluster               |
| Delete         | nothing  | at once: EKS never takes access entries away    |

What `decide` says of a cluster that can be used:

| mode                    | status    | next                                            |
|-------------------------|-----------|-------------------------------------------------|
| API, API_AND_CONFIG_MAP | ACTIVE    | done                                            |
| CONFIG_MAP              | ACTIVE    | the mode is changed, and looked at again        |
| any                     | any other | waited for                                      |

All requests ask for the same, so they may overlap, and a description that lags behind costs
no more than one refused change.
https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html
"""

from dataclasses import dataclass
from typing import Final, Literal

from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, code
from provisioner.framework import log
from provisioner.framework.properties import Properties, parsed, text
from provisioner.framework.resource import DONE, NOT_YET, Progress, WaitingResource
from provisioner.framework.retry import Answer
from provisioner.framework.turn import Turn
from provisioner.kubernetes.cluster import describe, require_usable

WANTED: Final = "API_AND_CONFIG_MAP"
_WITH_ACCESS_ENTRIES = frozenset({"API", WANTED})
# EKS's default, which a description may leave out:
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessConfigRequest.html
_CONFIG_MAP: Final = "CONFIG_MAP"

Step = Literal["done", "change", "wait"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationModeProperties(Properties):
    """The properties that the CDK app sets."""

    PHYSICAL_ID = "{0.cluster_name}/authentication-mode"

    cluster_name: str = parsed(text)


@dataclass(frozen=True, kw_only=True)
class AuthenticationMode(WaitingResource[AuthenticationModeProperties]):
    """Handles `Custom::EksAuthenticationMode`."""

    properties_type = AuthenticationModeProperties
    eks: AwsClient

    def progress(self, properties: AuthenticationModeProperties, turn: Turn) -> Progress:
        """Say whether the cluster knows access entries, and make it so unless it does."""
        name = properties.cluster_name
        found = describe(name, eks=self.eks, clock=turn.clock)
        require_usable(found)
        step = decide(found)
        if step == "change":
            self._change(name, turn)
        return DONE if step == "done" else NOT_YET

    def _change(self, name: str, turn: Turn) -> None:
        wanted = {"authenticationMode": WANTED}
        try:
            turn.change(lambda: self.eks.update_cluster_config(name=name, accessConfig=wanted))
        except AWS_ERRORS as error:
            # Another caller changes the cluster, or has changed its mode since it was described.
            if code(error) != "ResourceInUseException" and not _is_late(error):
                raise
            log.info("waiting", cluster=name, cause=str(error))


def decide(found: Answer) -> Step:
    """Return the next step towards a cluster that knows access entries."""
    if found.get("status") != "ACTIVE":
        return "wait"
    mode = (found.get("accessConfig") or {}).get("authenticationMode", _CONFIG_MAP)
    return "done" if mode in _WITH_ACCESS_ENTRIES else "change"


def _is_late(error: Exception) -> bool:
    """Say whether the mode is one with access entries already.

    As worded in https://github.com/pulumi/pulumi-eks/issues/1493.
    """
    return code(error) == "InvalidParameterException" and any(
        f"update from {mode} to" in str(error) for mode in _WITH_ACCESS_ENTRIES
    )
