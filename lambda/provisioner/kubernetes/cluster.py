"""An EKS cluster: whether it can be used, its Kubernetes API, and helm and kubectl connected to it.

CloudFormation's express mode takes a cluster as made when CreateCluster is answered, minutes before
there is an endpoint (ADR 46).

| status            | endpoint | what follows                                                     |
|-------------------|----------|------------------------------------------------------------------|
| ACTIVE, UPDATING, | yes      | used                                                             |
| PENDING           | no       | waited for                                                       |
| CREATING          | any      | waited for                                                       |
| DELETING          | any      | as if it were gone                                               |
| FAILED            | any      | fails with what EKS says of its health                           |

Every install asks for the namespaces, the CustomResourceDefinitions and whether there is a release.
These lists are read over HTTPS, because helm and kubectl take longer to start than the requests
take (ADR 30). Only metadata is asked for: definitions in full are megabytes.
"""

import base64
import json
import os
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPS_PORT, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, or_none
from hyperpod_shared.clusters import CLUSTER_LABEL, ClusterInput
from hyperpod_shared.eks_token import TokenSigner
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.framework import log
from provisioner.framework.retry import Answer, Clock, aws_retried
from provisioner.kubernetes.failures import CommandFailedError, UnreadableAnswerError
from provisioner.kubernetes.kubectl import ClusterProcess, Kubectl, Run, layer_binary
from provisioner.kubernetes.manifest import DEFINITION, NAMESPACE

_USABLE = frozenset({"ACTIVE", "UPDATING", "PENDING"})
_CREATING, _DELETING = "CREATING", "DELETING"


class ClusterNotFoundError(ProvisioningError):
    """The EKS cluster does not exist (any more), or is being deleted."""


class ClusterFailedError(ProvisioningError):
    """The EKS cluster failed, and never had or no longer has a Kubernetes API."""


def describe(name: str, *, eks: AwsClient, clock: Clock) -> Answer:
    """Return what EKS says of a cluster, whatever its state.

    Raises:
        ClusterNotFoundError: There is no such EKS cluster.
        ClientError: EKS refused.
    """
    found: Answer | None = or_none(
        lambda: aws_retried(lambda: eks.describe_cluster(name=name)["cluster"], clock=clock)
    )
    if found is None:
        raise ClusterNotFoundError(
            f"There is no EKS cluster {name}", next_step="Deploy the platform stack first."
        )
    return found


def require_usable(found: Answer) -> None:
    """Check that the Kubernetes API of a described cluster can be used.

    Raises:
        ClusterNotFoundError: The cluster is being deleted.
        NotReadyError: The cluster is still being created.
        ClusterFailedError: The cluster failed.
    """
    name, status = found["name"], found.get("status", "ACTIVE")
    see = f"aws eks describe-cluster --name {name}"
    if status in _USABLE and found.get("endpoint"):
        return
    if status in _USABLE or status == _CREATING:
        raise NotReadyError(
            f"The EKS cluster {name} is {status} and has no endpoint that can be used yet",
            next_step=f"See {see}; deploy again when it is ACTIVE.",
        )
    what = f"The EKS cluster {name} is {status} and cannot be reached"
    if status == _DELETING:
        raise ClusterNotFoundError(
            what, next_step="Wait until it is gone, then deploy the platform stack again."
        )
    issues = (found.get("health") or {}).get("issues") or []
    raise ClusterFailedError(
        what,
        detail="; ".join(f"{issue.get('code')}: {issue.get('message')}" for issue in issues),
        next_step="EKS does not repair it: delete the stacks, fix what the message names (else see "
        f"{see}), then deploy again.",
    )


_CONTEXT = "cluster"
_PATHS = {
    NAMESPACE: "/api/v1/namespaces",
    DEFINITION: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}
# https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """The names of a cluster's definitions.

    Of these and of its namespaces, `terminating` has kind and name of those being deleted.
    """

    definitions: frozenset[str]
    terminating: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The Kubernetes API of one EKS cluster, with the ARN and the tags of that.

    Attributes:
        server: Endpoint and certificate authority, as a kubeconfig has them.
        token: Makes a token.
    """

    server: Mapping[str, str]
    token: Callable[[], str]
    arn: str
    tags: Mapping[str, str]

    @classmethod
    def of(cls, found: Answer, *, token_signer: TokenSigner) -> "Cluster":
        """Return the Kubernetes API of an EKS cluster that was described.

        Raises:
            ClusterNotFoundError: The cluster is being deleted.
            NotReadyError: The cluster has no endpoint yet.
            ClusterFailedError: The cluster failed.
        """
        require_usable(found)
        authority = (found.get("certificateAuthority") or {}).get("data")
        trust = {"certificate-authority-data": authority} if authority else {}
        return cls(
            server={"server": found["endpoint"], **trust},
            token=partial(token_signer.token, found["name"]),
            arn=found["arn"],
            tags=found.get("tags") or {},
        )

    def write_kubeconfig(self, path: Path, *, namespace: str) -> Path:
        """Write a kubeconfig with a new token and return its path.

        EKS accepts a token for 15 minutes and a request may take longer; making one is no call.
        Only this process's user can read it. The namespace is that of objects that name none.
        """
        user = {"token": self.token()}
        context = {"cluster": _CONTEXT, "user": _CONTEXT, "namespace": namespace}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": _CONTEXT, "cluster": self.server}],
            "users": [{"name": _CONTEXT, "user": user}],
            "contexts": [{"name": _CONTEXT, "context": context}],
            "current-context": _CONTEXT,
        }
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(content, file)
        return path

    def containers(self, *, timeout_seconds: float) -> Containers:
        """Return the namespaces and definitions that exist."""
        found = dict(zip(_PATHS, self._lists(_PATHS.values(), timeout_seconds), strict=True))
        return Containers(
            definitions=frozenset(found[DEFINITION]),
            terminating=frozenset(
                (kind, name)
                for kind, names in found.items()
                for name, terminating in names.items()
                if terminating
            ),
        )

    def has_release(self, name: str, *, namespace: str, timeout_seconds: float) -> bool:
        """Say whether helm stores any revision of a release."""
        selector = quote(f"owner=helm,name={name}")
        path = f"/api/v1/namespaces/{quote(namespace)}/secrets?labelSelector={selector}"
        (revisions,) = self._lists([path], timeout_seconds)
        return bool(revisions)

    def _lists(self, paths: Iterable[str], timeout_seconds: float) -> list[dict[str, bool]]:
        """Return the names at each path, and whether each is being deleted."""
        endpoint = urlsplit(self.server["server"])
        host, port = endpoint.hostname or "", endpoint.port or HTTPS_PORT
        connection = HTTPSConnection(host, port, context=self._trust())
        try:
            # Each address is tried for that long: an EKS endpoint has one in each of its subnets.
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            connection.timeout = timeout_seconds / len(addresses)
            return [self._list(connection, path) for path in paths]
        except (OSError, HTTPException) as error:
            raise CommandFailedError(
                f"cluster unreachable: {self.server['server']}: {error}"
            ) from error
        finally:
            connection.close()

    def _trust(self) -> ssl.SSLContext:
        authority = self.server.get("certificate-authority-data")
        pem = base64.b64decode(authority).decode() if authority else None
        context = ssl.create_default_context(cadata=pem)
        # EKS's certificates lack an authority key identifier, which Python 3.13 and later ask for:
        # https://github.com/kubernetes-client/python/issues/2394. helm and kubectl do not.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context

    def _list(self, connection: HTTPSConnection, path: str) -> dict[str, bool]:
        headers = {"Authorization": f"Bearer {self.token()}", "Accept": _METADATA}
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read()
        if response.status != HTTPStatus.OK:
            text = body[:_LONGEST_TEXT].decode(errors="replace")
            raise CommandFailedError(f"GET {path}: {response.status} {response.reason}: {text}")
        try:
            metadata = [item["metadata"] for item in json.loads(body)["items"]]
            return {item["name"]: bool(item.get("deletionTimestamp")) for item in metadata}
        except (ValueError, KeyError, TypeError) as error:
            text = body[:_LONGEST_TEXT].decode(errors="replace")
            raise UnreadableAnswerError(f"GET {path}: the answer is no list: {text}") from error


# The binaries live for a second or so: to collect no garbage up to half of the function's memory
# saves a quarter of their processor time. https://go.dev/doc/gc-guide#Memory_limit
_COLLECTING_NO_GARBAGE = {"GOGC": "off", "GOMEMLIMIT": "512MiB"}


def _from_layer(name: str) -> Path:
    return layer_binary(name, os.environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCommands:
    """What runs helm and kubectl, connected to one cluster, and a folder for what they read."""

    cluster: Cluster
    helm: Run
    run_kubectl: Run
    home: Path

    def kubectl(self, *, timeout_seconds: float) -> Kubectl:
        """Return kubectl, each command of which may take so long."""
        return Kubectl(
            run=self.run_kubectl, home=self.home, timeout_seconds=lambda: timeout_seconds
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EksConnection:
    """Connects to EKS.

    `binary` returns the path of `helm` or `kubectl`. Default: the one of the kubectl layer.
    """

    eks: AwsClient
    token_signer: TokenSigner
    binary: Callable[[str], Path] = _from_layer

    def describe(self, name: str, clock: Clock) -> Answer:
        """Return what EKS says of a cluster, whatever its state."""
        return describe(name, eks=self.eks, clock=clock)

    @contextmanager
    def connect(self, described: Answer, *, namespace: str) -> Iterator[ClusterCommands]:
        """Yield the commands; everything they write is removed with the context.

        The cluster is as `describe` returned it, the namespace that of objects that name none.

        Raises:
            ProvisioningError: The cluster cannot be reached, or a binary is missing.
        """
        binaries = {name: self.binary(name) for name in ("helm", "kubectl")}
        cluster = Cluster.of(described, token_signer=self.token_signer)
        with tempfile.TemporaryDirectory(prefix="helm-") as folder:
            home = Path(folder)
            kubeconfig = partial(cluster.write_kubeconfig, home / "kubeconfig", namespace=namespace)
            environment = {"PATH": os.environ.get("PATH", os.defpath), **_COLLECTING_NO_GARBAGE}
            helm, kubectl = (
                ClusterProcess(
                    binary=binaries[name], home=home, kubeconfig=kubeconfig, environment=environment
                )
                for name in ("helm", "kubectl")
            )
            yield ClusterCommands(
                cluster=cluster, helm=helm.run, run_kubectl=kubectl.run, home=home
            )


_COMMAND_SECONDS = 30.0
_NAMESPACE = "default"
# A deletion must not fail for what is left in a Kubernetes API that cannot be reached.
_PASSED_OVER: tuple[type[Exception], ...] = (*AWS_ERRORS, CommandFailedError, ProvisioningError)


def delete_node_objects(
    cluster: ClusterInput, clock: Clock, *, connection: Callable[[], EksConnection]
) -> None:
    """Delete the Kubernetes Nodes that outlive their HyperPod cluster, where they can be reached.

    Nothing else deletes them: the instances are in the service's account, where the cloud
    controller manager of EKS does not see them. Pods stay bound to such a Node, and hold up their
    namespaces.
    """
    arn = cluster.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn", "")
    if not arn:
        return
    try:
        eks = connection()
        described = eks.describe(arn.rpartition("/")[2], clock)
        with eks.connect(described, namespace=_NAMESPACE) as commands:
            kubectl = commands.kubectl(timeout_seconds=_COMMAND_SECONDS)
            selector = f"{CLUSTER_LABEL}={cluster['ClusterName']}"
            deleted = kubectl.delete("nodes", selector=selector)
    except _PASSED_OVER as error:
        log.warning("nodes may be left in Kubernetes", eks_cluster=arn, cause=str(error))
        return
    log.info("nodes left in Kubernetes", eks_cluster=arn, deleted=deleted)
