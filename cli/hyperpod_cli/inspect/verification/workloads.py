"""DaemonSets and Deployments, each with all its pods."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from kubernetes.client import AppsV1Api

from hyperpod_cli.inspect.verification.check import Check, LiveDeployment, checked, existing


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """A DaemonSet or a Deployment that must be there.

    Attributes:
        kind: What it is, as kubectl calls it.
        name: Its name.
        namespace: Its namespace.
        without: What does not work without it, as sentences that end in a space.
    """

    kind: Literal["ds", "deploy"]
    name: str
    namespace: str
    without: str

    def check(self, deployment: LiveDeployment, *, install: str) -> Check:
        """Return the check that it is there with all its pods.

        Args:
            deployment: What to look at.
            install: What to do if it is not there.

        Raises:
            ApiException: The API refused.
            HTTPError: The API was not reached.
        """
        found = existing(self._read(AppsV1Api(deployment.kubernetes)), self.name, self.namespace)
        return checked(
            f"kubectl get {self.kind} {self.name} -n {self.namespace}",
            problem=self._problem(found),
            advice=self.without
            + (install if found is None else self._see_pods(found.spec.selector.match_labels)),
        )

    def _read(self, apps: AppsV1Api) -> Callable[..., Any]:
        read: Callable[..., Any] = (
            apps.read_namespaced_daemon_set
            if self.kind == "ds"
            else apps.read_namespaced_deployment
        )
        return read

    def _problem(self, found: Any | None) -> str | None:  # noqa: ANN401 - either kind
        if found is None:
            return "is not installed"
        status = found.status
        ready, wanted = (
            (status.number_ready, status.desired_number_scheduled)
            if self.kind == "ds"
            else (status.ready_replicas, found.spec.replicas)
        )
        return None if (ready or 0) >= wanted else f"{ready or 0} of {wanted} pods are ready"

    def _see_pods(self, labels: dict[str, str] | None) -> str:
        selector = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
        return (
            f"See why its pods do not run: `kubectl describe pods -n {self.namespace} "
            f"-l {selector}`"
        )
