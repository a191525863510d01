"""The volumes and claims of the file systems."""

from kubernetes.client import CoreV1Api, StorageV1Api, V1PersistentVolume

from hyperpod_cdk import HomeDirectoriesConfig, LustreConfig
from hyperpod_cli.aws.kubernetes_api import existing
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject

_DYNAMIC = "fsx-dynamic"


@subject(phase=Phase.DATA, needs_kubernetes=True)
def storage(deployment: LiveDeployment) -> Checks:
    """Each claim is bound to a volume of its file system."""
    section = deployment.config.storage_of_teams
    if section is None:
        return
    for _, files in section.placed_files:
        file_system = deployment.outputs_of("storage")[f"{files.output_prefix}FileSystemId"]
        yield from _claims(deployment, files, file_system=file_system)
    if section.dynamic_provisioning:
        storage_class = existing(StorageV1Api(deployment.kubernetes).read_storage_class, _DYNAMIC)
        kind = (
            None
            if storage_class is None
            else (storage_class.parameters or {}).get("deploymentType")
        )
        yield checked(
            f"kubectl get storageclass {_DYNAMIC} -o jsonpath={{.parameters.deploymentType}}",
            problem=None if kind == "PERSISTENT_2" else f"is {kind}",
            advice="Claims of that class get no file system: run `hyperpod-cdk deploy`",
        )


def _claims(
    deployment: LiveDeployment, files: LustreConfig | HomeDirectoriesConfig, *, file_system: str
) -> Checks:
    core = CoreV1Api(deployment.kubernetes)
    source = ".spec.nfs.server" if files.label == "home" else ".spec.csi.volumeHandle"
    for item in files.claims:
        name = item.name or f"{files.label}-claim"
        where = f" -n {item.namespace}" if item.namespace != "default" else ""
        claim = existing(core.read_namespaced_persistent_volume_claim, name, item.namespace)
        phase = None if claim is None else claim.status.phase
        yield checked(
            f"kubectl get pvc {name}{where} -o jsonpath={{.status.phase}}",
            problem=None if phase == "Bound" else f"is {phase or 'not there'}",
            advice=f"Storage issues: `kubectl describe pvc {name}{where}` says what it waits for; "
            "a Lost claim has lost its volume. Pods that hang in ContainerCreating though it is "
            "bound do not reach the file system: TCP 988 and 1018-1023 within the security group",
        )
        volume = None if claim is None else claim.spec.volume_name
        if volume:
            source_id = _source(existing(core.read_persistent_volume, volume))
            is_its = source_id is not None and source_id.startswith(file_system)
            yield checked(
                f"kubectl get pv {volume} -o jsonpath={{{source}}}",
                problem=None if is_its else f"is {source_id}, not {file_system}",
                advice="Storage issues: the volume is of another file system, or gone. Delete the "
                "pods that use it, the claim and the volume, then run `hyperpod-cdk deploy`",
            )


def _source(volume: V1PersistentVolume | None) -> str | None:
    """Return which file system a volume is of."""
    if volume is None:
        return None
    source = volume.spec.csi
    return str(volume.spec.nfs.server if source is None else source.volume_handle)
