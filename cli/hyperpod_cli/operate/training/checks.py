"""What would keep a training job from running, looked for before it is submitted."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from botocore.exceptions import ClientError
from kubernetes.client import ApiClient, ApiException, CoreV1Api

from hyperpod_cdk.facts.instance_types import instance_facts, is_of_hyperpod
from hyperpod_cdk.facts.job_resources import job_resources
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.job_charts import exists, is_served
from hyperpod_cli.operate.nodes.health import (
    NODE_GROUP_LABEL,
    device_pods,
    is_ready,
    labelled_nodes,
    labels_of,
    node_objects,
)
from hyperpod_cli.operate.training.request import JOB_KINDS, JobRequest
from hyperpod_cli.terminal.errors import LinesError, OpsError
from hyperpod_shared.aws_errors import is_denied

_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/"
    r"(?P<repository>[^:@]{2,})(?::(?P<tag>[^@]+))?(?:@(?P<digest>sha256:.+))?"
)
_CLAIM = "PersistentVolumeClaim"
_ABSENT = ("ImageNotFoundException", "RepositoryNotFoundException")
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-run-jobs-hyperpod-cli.html
_RESUMED_IN = ("kubeflow", "hyperpod")
_RESUMES = "sagemaker.amazonaws.com/enable-job-auto-resume"
# As names at Hugging Face have it: Llama-2-7b-hf, Llama-3.2-1B; of a mixture such as 8x7B, nothing.
_BILLIONS = re.compile(r"--model=[^/].*?(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z0-9])", re.IGNORECASE)
# Weights, gradients, and the two moments of AdamW, in fp32.
_BYTES_PER_PARAMETER = 16


def check(
    api: ApiClient, request: JobRequest, *, session: AwsSession, cluster: str, stop: str
) -> list[str]:
    """Refuse a job that the cluster cannot run, and return what else its user should know.

    The account need not be that of the image's repository. `stop` is the command that deletes a job
    of its name. LinesError: things are missing, or taken: a line for each.
    """
    problems = [*_of_image(request, session), *_of_objects(api, request, stop=stop)]
    nodes: list[str] = []
    try:
        nodes += _of_nodes(api, request, cluster=cluster)
    except OpsError as error:
        problems += error.lines
    if problems:
        raise LinesError("\n".join(problems))
    return [*_of_memory(request), *_warnings(request), *nodes]


def _of_image(request: JobRequest, session: AwsSession) -> Iterator[str]:
    """Yield that the image is not in its ECR repository; others are not looked at."""
    image = str(request.container["image"])
    named = _ECR.fullmatch(image)
    if named is None:
        return
    which = (
        {"imageDigest": named["digest"]}
        if named["digest"]
        else {"imageTag": named["tag"] or "latest"}
    )
    ecr = session.session.client("ecr", region_name=named["region"])
    try:
        images = ecr.describe_images(
            registryId=named["account"], repositoryName=named["repository"], imageIds=[which]
        )["imageDetails"]
    except ClientError as error:
        if is_denied(error):
            return
        if error.response["Error"]["Code"] not in _ABSENT:
            raise
        images = []
    if not images:
        yield (
            f"image: {image} is not in ECR; build and push it (docs: images), or name another "
            "with --image"
        )


def _of_objects(api: ApiClient, request: JobRequest, *, stop: str) -> Iterator[str]:
    """Yield what is not in Kubernetes, or is, in the way."""
    job = request.job
    if not is_served(api, job["apiVersion"], job["kind"]):
        yield (
            f"kind: the cluster does not know {job['kind']}; set "
            f"{JOB_KINDS[job['kind']].switch}: true and deploy"
        )
    where = request.namespace
    if _is_absent(api, "v1", "Namespace", where):
        yield (
            f"--namespace: {where!r} does not exist; create it, or storage.claims can "
            "(create_namespace: true)"
        )
        return
    if exists(api, job):
        yield (
            f"name: {request.name!r} is taken by a {job['kind']} in the namespace {where}; give "
            f"another --name, or stop that one: {stop}"
        )
    for api_version, kind, name, (key, fix) in _needed(request):
        if _is_absent(api, api_version, kind, name, namespace=where):
            others = _claims(api, where) if kind == _CLAIM else ""
            what = f"which has: {others}; name one with --set claim.name=NAME"
            rest = f", {what}" if others else f"; {fix}"
            yield f"{key}: there is no {kind} {name!r} in the namespace {where}{rest}"


def _claims(api: ApiClient, namespace: str) -> str:
    claims = CoreV1Api(api).list_namespaced_persistent_volume_claim(namespace).items
    return ", ".join(sorted(claim.metadata.name for claim in claims))


def _needed(request: JobRequest) -> Iterator[tuple[str, str, str, tuple[str, str]]]:
    """Yield what the job names: version, kind, name, and the value with how to get it."""
    where = request.namespace
    for volume in request.pod["volumes"]:
        if "persistentVolumeClaim" in volume:
            name = volume["persistentVolumeClaim"]["claimName"]
            fix = f"add {{namespace: {where}}} to storage.claims and deploy, or give --namespace"
            yield "v1", _CLAIM, name, ("claim", fix)
    for variable in request.container["env"]:
        secret = variable.get("valueFrom", {}).get("secretKeyRef")
        if secret:
            name, key = secret["name"], secret["key"]
            fix = (
                f'type the token after `read -rs TOKEN`, then `printf %s "$TOKEN" | kubectl create '
                f"secret generic {name} -n {where} --from-file={key}=/dev/stdin`; or --set secret= "
                "for a model without a gate"
            )
            yield "v1", "Secret", name, ("secret", fix)
    for source in request.container.get("envFrom", ()):
        name = source["secretRef"]["name"]
        fix = f"create it: kubectl create secret generic {name} -n {where} --from-env-file=FILE"
        yield "v1", "Secret", name, ("envFrom", fix)
    priority = request.pod.get("priorityClassName")
    if priority:
        fix = "name one of `kubectl get priorityclass`, or add it to helm.priority_classes"
        yield "scheduling.k8s.io/v1", "PriorityClass", priority, ("priorityClass", fix)
    queue = labels_of(request.job).get("kueue.x-k8s.io/queue-name")
    if queue:
        fix = f"name one of `kubectl get localqueue -n {where}`"
        yield "kueue.x-k8s.io/v1beta1", "LocalQueue", queue, ("queue", fix)


def _is_absent(
    api: ApiClient, api_version: str, kind: str, name: str, *, namespace: str = ""
) -> bool:
    """Say whether an object is not there; not so if the caller may not read it."""
    metadata = {"name": name, "namespace": namespace}
    item = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    try:
        return is_served(api, api_version, kind) and not exists(api, item)
    except ApiException as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return False


def _of_memory(request: JobRequest) -> Iterator[str]:
    """Yield that the model, by the size in its name, needs more memory than the GPUs have."""
    arguments = request.container["args"]
    billions = next(filter(None, map(_BILLIONS.match, arguments)), None)
    facts = instance_facts(request.instance_type)
    devices = request.nodes * int(request.container["resources"]["limits"].get("nvidia.com/gpu", 0))
    if not (billions and facts and facts.accelerator and devices):
        return
    needed = float(billions[1]) * _BYTES_PER_PARAMETER
    memory = devices * facts.accelerator.memory_mib * 2**20 / 1e9
    if "hyperpod_training" in arguments and needed > memory:
        yield (
            f"{billions.string} needs about {needed:.0f} GB for weights, gradients and AdamW's "
            f"state ({_BYTES_PER_PARAMETER} bytes for each parameter), and {devices} x "
            f"{facts.accelerator.name} have {memory:.0f} GB: training runs out of memory; give "
            "more --nodes, or a smaller model with --set arguments.model=NAME"
        )


def _warnings(request: JobRequest) -> Iterator[str]:
    resources = job_resources(request.instance_type)
    if request.nodes > 1 and resources is not None and not resources.efa:
        yield (
            f"{request.instance_type} has no EFA: {request.nodes} nodes exchange gradients over "
            "TCP, many times slower; one node, or a type with EFA, trains faster for the money"
        )
    resumes = (request.job["metadata"].get("annotations") or {}).get(_RESUMES)
    if resumes and not request.namespace.startswith(_RESUMED_IN):
        yield (
            f"HyperPod resumes jobs after it has replaced a node in the namespaces kubeflow and "
            f"hyperpod..., not in {request.namespace}: there, start it again yourself; it goes on "
            "from its last checkpoint"
        )


def _nodes(api: ApiClient, request: JobRequest, *, cluster: str) -> Iterator[Mapping[str, Any]]:
    if is_of_hyperpod(request.instance_type):
        return node_objects(api, cluster=cluster)
    return labelled_nodes(api, f"{NODE_GROUP_LABEL}={request.group.name}")


def _of_nodes(api: ApiClient, request: JobRequest, *, cluster: str) -> Iterator[str]:
    """Yield how many nodes are idle; refuse a job that takes more than there are."""
    try:
        nodes = {
            str(node["metadata"]["name"]): node
            for node in _nodes(api, request, cluster=cluster)
            if request.node_labels.items() <= labels_of(node).items() and is_ready(node)
        }
        busy = device_pods(api)
    except ApiException as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        yield "Which nodes are idle is not known: you may not list nodes and all namespaces' pods."
        return
    idle = len(nodes.keys() - busy.keys())
    there = f"{request.group.name} has {len(nodes)} healthy of type {request.instance_type}"
    if request.nodes > max(len(nodes), request.grows_to):
        name, wanted = request.group.name, request.nodes
        more = (
            f"`hyperpod-cdk scale {name} {wanted}`"
            if is_of_hyperpod(request.instance_type)
            else f"set {'max_size' if request.grows_to else 'desired_size'}: {wanted} of {name} "
            "and deploy"
        )
        raise OpsError(
            f"nodes: {wanted} are asked for, and {there}, {idle} of them idle; give --nodes, or "
            f"{more}"
        )
    if request.nodes > idle:
        added = "" if request.nodes <= len(nodes) else ", which the Cluster Autoscaler adds"
        yield f"{there}, and {idle} of them are idle: the job waits for {request.nodes}{added}."
