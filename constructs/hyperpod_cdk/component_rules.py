"""Which components of the HyperPod dependencies may be on or off together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

CONSENT: Final = "i_know_this_breaks_resiliency"
COMPUTE_QUOTA_TARGET_ID: Final = "compute_quota_target_id"

# What HyperPod's resiliency needs, and what is lost without it.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html
LOST_WITHOUT: Final[Mapping[str, str]] = {
    "health_monitoring_agent": "nothing watches the nodes' hardware, so no faulty node is found, "
    "rebooted or replaced",
    "deep_health_check": "deep health checks cannot run, and the namespace aws-hyperpod is not "
    "created",
    "job_auto_restart": "no job is restarted after HyperPod has replaced a node under it",
    "patching": "HyperPod cannot move pods off a node before it updates the node's software",
}
# They live in the namespace aws-hyperpod, which deep_health_check creates.
_IN_THE_NAMESPACE = ("health_monitoring_agent", "job_auto_restart")


@dataclass(frozen=True, kw_only=True, slots=True)
class ComponentProblem:
    """Something that keeps a choice of components from being installed.

    Attributes:
        name: The attribute of `HyperPodComponents` it is about.
        value: Its value.
        message: What is wrong and what to do; reads on from the value.
    """

    name: str
    value: object
    message: str


def component_problems(
    switches: Mapping[str, bool], *, consent: bool, compute_quota_target_id: str | None
) -> Iterator[ComponentProblem]:
    """Yield what keeps the components from being installed together.

    Args:
        switches: Whether each component is on, by attribute of `HyperPodComponents`.
        consent: Whether to go without what resiliency needs.
        compute_quota_target_id: Whom the team role is for.
    """
    yield from _resiliency(switches, consent=consent)
    yield from _namespace(switches, consent=consent)
    if switches["gpu_operator"] and switches["nvidia_device_plugin"]:
        yield ComponentProblem(
            name="nvidia_device_plugin",
            value=True,
            message="must be false while gpu_operator is on: it brings an NVIDIA device plugin of "
            "its own, and two would offer the same GPUs",
        )
    yield from _team(on=switches["team_role_bindings"], target_id=compute_quota_target_id)


def _resiliency(switches: Mapping[str, bool], *, consent: bool) -> Iterator[ComponentProblem]:
    off = [name for name in LOST_WITHOUT if not switches[name]]
    if consent and not off:
        yield ComponentProblem(
            name=CONSENT,
            value=True,
            message="must be false: everything that resiliency needs is on, and a consent left "
            "behind would let it be switched off by accident",
        )
    for name in () if consent else off:
        yield ComponentProblem(
            name=name,
            value=False,
            message=f"breaks resiliency: {LOST_WITHOUT[name]}; leave it on, or consent with "
            f"{CONSENT}: true",
        )


def _namespace(switches: Mapping[str, bool], *, consent: bool) -> Iterator[ComponentProblem]:
    homeless = [name for name in _IN_THE_NAMESPACE if switches[name]]
    if consent and homeless and not switches["deep_health_check"]:
        yield ComponentProblem(
            name="deep_health_check",
            value=False,
            message="would make the installation fail: it creates the namespace aws-hyperpod, "
            f"where {' and '.join(homeless)} would go; leave it on, or switch those off too",
        )


def _team(*, on: bool, target_id: str | None) -> Iterator[ComponentProblem]:
    if on and target_id is None:
        yield ComponentProblem(
            name=COMPUTE_QUOTA_TARGET_ID,
            value=None,
            message="must be set: team_role_bindings makes a role for that team's namespace "
            "hyperpod-ns-<id>",
        )
    if not on and target_id is not None:
        yield ComponentProblem(
            name=COMPUTE_QUOTA_TARGET_ID,
            value=target_id,
            message="is for team_role_bindings, which is off; switch that on, or leave this out",
        )
