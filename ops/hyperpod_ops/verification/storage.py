"""The file system's volume and claim."""

from collections.abc import Iterator

from kubernetes.client import CoreV1Api

from hyperpod_ops.verification.check import Check, Deployment, checked, existing

_VOLUME, _CLAIM, _NAMESPACE = "fsx-pv", "fsx-claim", "default"


def storage(deployment: Deployment) -> Iterator[Check]:
    """Check that the claim is bound to the volume of the deployment's file system."""
    if deployment.config.storage is None:
        return
    file_system = deployment.outputs_of("storage")["FileSystemId"]
    core = CoreV1Api(deployment.kubernetes)
    volume = existing(core.read_persistent_volume, _VOLUME)
    handle = None if volume is None else volume.spec.csi.volume_handle
    yield checked(
        f"kubectl get pv {_VOLUME} -o jsonpath={{.spec.csi.volumeHandle}}",
        problem=None if handle == file_system else f"is {handle}, not {file_system}",
        advice="Storage issues: the volume is of another file system, or gone. Run `make deploy`, "
        "after deleting the pods that use it and the volume if it is of another",
    )
    claim = existing(core.read_namespaced_persistent_volume_claim, _CLAIM, _NAMESPACE)
    phase = None if claim is None else claim.status.phase
    yield checked(
        f"kubectl get pvc {_CLAIM} -o jsonpath={{.status.phase}}",
        problem=None if phase == "Bound" else f"is {phase or 'not there'}",
        advice="Storage issues: `kubectl describe pvc fsx-claim` says what it waits for; a Lost "
        "claim has lost its volume. Pods that hang in ContainerCreating though it is bound do not "
        "reach the file system: TCP 988 and 1018-1023 within the security group",
    )
