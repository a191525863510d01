"""The kinds of training jobs that the operators bring."""

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.inspect.verification.nodes import stored_versions

_TRAINING_JOBS = ("mxjobs", "paddlejobs", "pytorchjobs", "tfjobs", "xgboostjobs")
_MPI_JOBS, _MPI_VERSION = "mpijobs.kubeflow.org", "v2beta1"
_ADVICE = (
    "No such job can be made. Helm installs the definitions of a chart only with its first "
    "release: apply the files of the chart's folder crds with `kubectl apply --server-side`"
)


@subject(phase=Phase.INSTALLATION, needs_kubernetes=True)
def definitions(deployment: LiveDeployment) -> Checks:
    """Each CustomResourceDefinition of the operators exists; MPIJob is `v2beta1`."""
    on = deployment.config.components.switches()
    jobs = [
        *(("mpijobs",) if on["mpi_operator"] else ()),
        *(_TRAINING_JOBS if on["training_operator"] else ()),
    ]
    if not jobs:
        return
    names = [f"{job}.kubeflow.org" for job in jobs]
    versions = {name: stored_versions(deployment, name) for name in names}
    missing = [name for name, stored in versions.items() if stored is None]
    yield checked(
        f"kubectl get crd {' '.join(names)}",
        problem=f"there is no {' and no '.join(missing)}" if missing else None,
        advice=_ADVICE,
    )
    if on["mpi_operator"]:
        stored = versions[_MPI_JOBS]
        yield checked(
            f"kubectl get crd {_MPI_JOBS} -o jsonpath={{.status.storedVersions[]}}",
            problem=None if stored == [_MPI_VERSION] else f"is {stored}, not {_MPI_VERSION}",
            advice=f"The MPI operator knows {_MPI_VERSION} alone: remove the other operator",
        )
