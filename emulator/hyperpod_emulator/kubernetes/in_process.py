"""The control plane of an EKS cluster: an API server in this process, with EKS's callers."""

import copy
import secrets
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4

import boto3

from hyperpod_emulator.background_server import BackgroundServer, server_context
from hyperpod_emulator.kubernetes.controllers.workloads import PullError
from hyperpod_emulator.kubernetes.faults import Fault
from hyperpod_emulator.kubernetes.objects.admission import WriteOptions
from hyperpod_emulator.kubernetes.objects.errors import ApiError, Object
from hyperpod_emulator.kubernetes.objects.metadata import condition
from hyperpod_emulator.kubernetes.objects.patches import merge_patched
from hyperpod_emulator.kubernetes.objects.resources import ApiResource, ResourceCatalog
from hyperpod_emulator.kubernetes.objects.store import ResourcePath, Store
from hyperpod_emulator.kubernetes.objects.validation import BuiltInSchemas
from hyperpod_emulator.kubernetes.server.application import Application, Faults
from hyperpod_emulator.kubernetes.server.authentication import Authenticate, Principal, eks_tokens
from hyperpod_emulator.kubernetes.server.operations import Operations

OBJECTS: list[Object] = [
    *(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in ("default", "kube-node-lease", "kube-public", "kube-system")
    ),
    *(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
            "preemptionPolicy": "PreemptLowerPriority",
        }
        for name, value, description in (
            ("system-cluster-critical", 2_000_000_000, "Pods the cluster needs."),
            ("system-node-critical", 2_000_001_000, "Pods a node needs."),
        )
    ),
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default"},
        "spec": {
            "clusterIP": "172.20.0.1",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}],
        },
    },
    *(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": namespace},
        }
        for namespace in ("default", "kube-system")
    ),
]


INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"


def node(
    name: str,
    *,
    instance_type: str,
    labels: Mapping[str, str],
    taints: Sequence[Mapping[str, str]],
) -> Object:
    """Return a node as its kubelet would register it."""
    well_known = {
        INSTANCE_TYPE_LABEL: instance_type,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**well_known, **labels}},
        "spec": {
            "providerID": f"aws:///{name}",
            **({"taints": [dict(taint) for taint in taints]} if taints else {}),
        },
    }


def node_status(
    capacity: Mapping[str, str], *, kubernetes_version: str, before: Object | None
) -> Object:
    """Return the status of a node that is ready.

    One that was silent by its former status, if it has any, has booted since.
    """
    awake = before is not None and any(each["status"] == "True" for each in before["conditions"])
    return {
        "capacity": dict(capacity),
        "allocatable": dict(capacity),
        "conditions": [
            _ready("True", reason="KubeletReady", message="kubelet is posting ready status")
        ],
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": before["nodeInfo"]["bootID"] if before and awake else str(uuid4()),
            "containerRuntimeVersion": "containerd://emulation",
            "kernelVersion": "",
            "kubeProxyVersion": "",
            "kubeletVersion": f"v{kubernetes_version}.0-emulation",
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "",
            "systemUUID": "",
        },
    }


def silent(status: Object) -> Object:
    """Return the status of a node whose kubelet has stopped, as the node controller writes it.

    https://kubernetes.io/docs/reference/node/node-status/#condition
    """
    condition = _ready(
        "Unknown",
        reason="NodeStatusUnknown",
        message="Kubelet stopped posting node status.",
    )
    return {**status, "conditions": [condition]}


def _ready(status: str, *, reason: str, message: str) -> Object:
    found = condition("Ready", status, reason=reason, message=message)
    return {**found, "lastHeartbeatTime": found["lastTransitionTime"]}


_OWN_WRITES = WriteOptions(manager="emulator", field_validation="Strict")
# The labels of its nodes are HyperPod's again, after any change.
_OF_HYPERPOD = WriteOptions(manager="emulator", field_validation="Strict", force=True)


class KubernetesApi(BackgroundServer):
    """An API server for one cluster, in this process, over TLS.

    It validates objects strictly against the schemas of the Kubernetes version and keeps the
    status of workloads, volumes and definitions; it runs no containers, evaluates no CEL rules of
    custom schemas and calls no webhooks. Only DaemonSets have pods, and those that a client makes.
    """

    def __init__(self, *, kubernetes_version: str = "1.34", authenticate: Authenticate) -> None:
        """Prepare the cluster of a minor version, such as `1.34`; nothing listens yet."""
        schemas = BuiltInSchemas(kubernetes_version=kubernetes_version)
        context, self.ca_pem = server_context(hosts=["localhost"], addresses=["127.0.0.1", "::1"])
        self._kubernetes_version = kubernetes_version
        self._faults = Faults()
        self._store = Store()
        self._catalog = ResourceCatalog(schemas=schemas)
        self._operations = Operations(store=self._store, catalog=self._catalog, schemas=schemas)
        application = Application(
            kubernetes_version=kubernetes_version,
            catalog=self._catalog,
            operations=self._operations,
            faults=self._faults,
            authenticate=authenticate,
        )
        super().__init__(
            application=application.web_application, context=context, name="kubernetes-api"
        )
        for item in OBJECTS:
            self.create(item)

    @property
    def url(self) -> str:
        """Where it listens: `https://localhost:<port>`; port 0 before the first start."""
        return f"https://localhost:{self.port}"

    def kept(self) -> Callable[[], None]:
        """Return what brings the cluster back to how it is now, and ends all faults."""
        steps = (self._faults.clear, self._store.kept(), self._catalog.kept())

        def put_back() -> None:
            for step in steps:
                step()

        return put_back

    def create(self, item: Object) -> Object:
        """Create an object as a client would, and return it as stored, or raise the ApiError."""
        resource = self._resource(item["apiVersion"], item["kind"])
        metadata = item["metadata"]
        default = "default" if resource.namespaced else ""
        target = ResourcePath(resource, metadata.get("namespace", default), metadata["name"])
        return self._operations.create(target, item, _OWN_WRITES).item

    def operate(self, *kinds: str) -> None:
        """Give no event to new objects of these kinds: the caller makes their pods."""
        self._operations.operated |= {*kinds}

    def delete(self, api_version: str, kind: str, name: str, *, namespace: str = "") -> None:
        """Delete an object as a client would, with what it owns or holds."""
        target = ResourcePath(self._resource(api_version, kind), namespace, name)
        self._operations.delete(target, options={})

    def merge(
        self, api_version: str, kind: str, name: str, patch: Object, *, namespace: str = ""
    ) -> Object:
        """Change an object by a JSON merge patch as a client would, and return it as stored."""
        target = ResourcePath(self._resource(api_version, kind), namespace, name)
        written = self._operations.patch(
            target, lambda item: merge_patched(item, patch), _OWN_WRITES
        )
        return written.item

    def set_status(
        self, api_version: str, kind: str, name: str, status: Object, *, namespace: str
    ) -> None:
        """Write the status of an object, as what keeps it would."""
        target = ResourcePath(self._resource(api_version, kind), namespace, name)
        self._operations.set_status(target, status)

    def write_log(
        self, name: str, output: str, *, namespace: str, container: str, anew: bool = False
    ) -> None:
        """Add to what a container of a pod has written.

        One that has started anew has nothing left of what it wrote.
        """
        pod = self._operations.read(ResourcePath(self._resource("v1", "Pod"), namespace, name))
        if anew:
            self._operations.logs.begin(pod, container)
        self._operations.logs.write(pod, container, output.encode())

    def objects(self, api_version: str, kind: str, namespace: str | None = None) -> list[Object]:
        """Return copies of the objects of a kind, sorted by namespace and name.

        Raises:
            LookupError: The server does not serve this kind.
        """
        resource = self._resource(api_version, kind)
        return copy.deepcopy(self._store.listed(resource, namespace=namespace or ""))

    def put_node(
        self,
        name: str,
        *,
        instance_type: str,
        labels: Mapping[str, str] | None = None,
        capacity: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
        pull_error: PullError | None = None,
    ) -> None:
        """Let a node join, or change the one of that name; workloads are rescheduled.

        It offers a capacity such as `{"cpu": "48", "nvidia.com/gpu": "4"}`, devices while their
        plugins run on it, and has taints such as `{"key": "gpu", "effect": "NoSchedule"}`. It pulls
        the images of which `pull_error` returns ""; without it, all.
        """
        wanted = node(name, instance_type=instance_type, labels=labels or {}, taints=taints)
        target = ResourcePath(self._resource("v1", "Node"), name=name)
        with self._store.lock:
            self._operations.hardware[name] = capacity or {}
            if pull_error is not None:
                self._operations.pulls[name] = pull_error
            joined = self._operations.apply(target, wanted, _OF_HYPERPOD).item
            status = node_status(
                capacity or {},
                kubernetes_version=self._kubernetes_version,
                before=joined.get("status"),
            )
            self._operations.set_status(target, status)

    def put_definition(self, definition: Object) -> None:
        """Bring a CustomResourceDefinition, or change the one of that name."""
        resource = self._resource(definition["apiVersion"], definition["kind"])
        target = ResourcePath(resource, name=definition["metadata"]["name"])
        self._operations.apply(target, definition, _OF_HYPERPOD)

    def silence_node(self, name: str) -> None:
        """Let the kubelet of a node stop, until `put_node`; harmless when the node is gone."""
        target = ResourcePath(self._resource("v1", "Node"), name=name)
        with self._store.lock:
            found = self._store.get(target.resource, namespace="", name=name)
            if found is not None:
                self._operations.set_status(target, silent(found["status"]))

    def remove_node(self, name: str) -> None:
        """Let a node leave; harmless when it is gone."""
        try:
            self.delete("v1", "Node", name)
        except ApiError as error:
            if error.reason != "NotFound":
                raise

    def inject(self, fault: Fault) -> None:
        """Let requests go wrong; several faults may be in force, the oldest hits first."""
        self._faults.add(fault)

    def clear_faults(self) -> None:
        """End every injected fault."""
        self._faults.clear()

    def _resource(self, api_version: str, kind: str) -> ApiResource:
        resource = self._catalog.by_kind(api_version=api_version, kind=kind)
        if resource is None:
            message = f"{api_version} {kind} is not served: no such built-in kind or definition"
            raise LookupError(message)
        return resource


class InProcessControlPlane(KubernetesApi):
    """Stands in for the control plane of one EKS cluster; tokens are drawn anew each time.

    The admin's token is for kubectl and helm of who starts it; with the other one EKS installs
    add-ons, which no injected fault hits.
    """

    def __init__(self, *, kubernetes_version: str) -> None:
        """Prepare the cluster of a minor version, such as `1.34`; nothing listens yet."""
        super().__init__(kubernetes_version=kubernetes_version, authenticate=self._authenticate)
        self.admin_token = secrets.token_urlsafe()
        self.addons_token = secrets.token_urlsafe()
        self._eks: Authenticate | None = None

    def accept_eks_tokens(
        self, *, eks_cluster_name: str, gateway_url: str, session: boto3.Session
    ) -> None:
        """Authenticate the tokens of an EKS cluster from now on, and of no other.

        The STS of the local AWS says who signed a token; the session reads the access entries.
        """
        self._eks = eks_tokens(gateway_url, eks_cluster_name, session=session)

    async def _authenticate(self, token: str) -> Principal | None:
        if secrets.compare_digest(token.encode(), self.admin_token.encode()):
            return Principal(username="emulator", allowed=True)
        if secrets.compare_digest(token.encode(), self.addons_token.encode()):
            return Principal(username="eks:addon-manager", allowed=True, of_aws=True)
        return None if self._eks is None else await self._eks(token)
