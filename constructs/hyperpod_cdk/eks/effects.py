"""What a change does to the control plane, and to who may do what in Kubernetes."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect, StackState

_CLUSTER = "AWS::EKS::Cluster"


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what a change does to EKS."""
    before, after = _version(former), _version(wanted)
    if before and after and before != after:
        yield Effect(
            rule="eks.version",
            text=f"Kubernetes {before} -> {after}, which neither a rollback nor another deployment "
            "takes back (docs/kubernetes-upgrade.md)",
            place=("eks", "version"),
            resources=frozenset(wanted.of_type(_CLUSTER)),
        )


def _version(state: StackState) -> str:
    versions = (cluster.get("Version") for cluster in state.of_type(_CLUSTER).values())
    return str(next(versions, None) or "")
