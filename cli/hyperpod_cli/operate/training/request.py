"""What a training job asks for: the values that are given, and what the configuration says."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk import Config
from hyperpod_cdk.facts import mig
from hyperpod_cdk.facts.instance_types import is_accelerated
from hyperpod_cdk.facts.job_resources import job_resources
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.given_file import given_text
from hyperpod_cdk.storage.claim_section import READ_ONLY
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.teams.section import TeamConfig
from hyperpod_cli.operate.job_charts import Object, merged_values, rendered
from hyperpod_cli.operate.job_options import Given
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.governance import namespace_of, priority_of, queue_of

AnyGroup = NodeGroupConfig | ManagedNodeGroupConfig
"""A group of nodes: of HyperPod, or of EC2."""
_CHART = "training"
_PRIORITY_CLASS = "training"
_CLAIM = "fsx-claim"


@dataclass(frozen=True, kw_only=True)
class JobKind:
    """A kind of job that the chart renders.

    Attributes:
        switch: The key of the configuration that installs its operator.
        name_label: What the operator labels the pods of a job with, by the job's name.
    """

    api_version: str
    switch: str
    name_label: str


# https://github.com/kubeflow/training-operator/blob/v1.8.1/pkg/apis/kubeflow.org/v1/common_types.go
# https://github.com/aws/sagemaker-hyperpod-cli/blob/main/src/sagemaker/hyperpod/training/hyperpod_pytorch_job.py
JOB_KINDS: Mapping[str, JobKind] = {
    "PyTorchJob": JobKind(
        api_version="kubeflow.org/v1",
        switch="helm.components.training_operator",
        name_label="training.kubeflow.org/job-name",
    ),
    "HyperPodPyTorchJob": JobKind(
        api_version="sagemaker.amazonaws.com/v1",
        switch="operators.training_operator",
        name_label="HPJob",
    ),
}


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """A job as it is submitted.

    Attributes:
        added: The values that are not in the user's files, but come from options, settings and
            configuration: with them, helm renders the same objects.
        grows_to: The size to which the Cluster Autoscaler may grow the group; 0 without it.
    """

    group: AnyGroup
    added: Mapping[str, Any]
    objects: Sequence[Object]
    grows_to: int

    @property
    def job(self) -> Object:
        """The job among the objects."""
        return next(item for item in self.objects if item["kind"] in JOB_KINDS)

    @property
    def name(self) -> str:
        """Name of the job."""
        return str(self.job["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Namespace of the job."""
        return str(self.job["metadata"]["namespace"])

    @property
    def nodes(self) -> int:
        """How many nodes it takes."""
        return int(self._replicas["replicas"])

    @property
    def pod(self) -> Object:
        """The spec of its pods."""
        spec: Object = self._replicas["template"]["spec"]
        return spec

    @property
    def container(self) -> Object:
        """The one container of its pods."""
        container: Object = self.pod["containers"][0]
        return container

    @property
    def node_labels(self) -> Mapping[str, str]:
        """Labels that a node has on which its pods run."""
        required = self.pod["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]
        expressions = required["nodeSelectorTerms"][0]["matchExpressions"]
        return {expression["key"]: expression["values"][0] for expression in expressions}

    @property
    def instance_type(self) -> str:
        """The instance type of its nodes."""
        return self.node_labels["node.kubernetes.io/instance-type"]

    @property
    def _replicas(self) -> Object:
        spec = self.job["spec"]
        role: Object = spec.get("pytorchReplicaSpecs", {}).get("Worker") or spec["replicaSpecs"][0]
        return role


def requested(
    given: Given, *, config: Config, built_image: Callable[[str], str | None]
) -> JobRequest:
    """Return the job that is asked for; refuse values that the chart or no group takes.

    `built_image` returns what the deployment has built for an instance type, if anything; it is
    asked for a job that names no image.
    """
    if not given.files:
        raise OpsError(
            "--values: is missing; name a file of values, or one of the chart's, such as "
            "llama2-7b-p4d"
        )
    files = [_file(path) for path in given.files]
    said = _merged(files)
    group = _group(given, said, config=config)
    options: dict[str, Any] = {"name": given.name, "image": given.image, "nodes": given.nodes}
    of_group = _of_group(group, said, named=given.group is not None)
    named = given.image or said.get("image")
    namespace = place_of_job(given, config)
    team = next((each for each in config.teams if namespace in each.namespaces), None)
    configured = {
        **of_group,
        **_of_config(config, namespace=namespace),
        "image": None if named else built_image(of_group["instanceType"]),
        "name": files[-1].stem,
    }
    if team is not None:
        options |= {"user": team.user_ids.first, "userOwnsClaim": True}
    options |= _of_queue(given, config, team=team, group=group)
    added = {
        **{key: value for key, value in configured.items() if key not in said and value},
        **{key: value for key, value in options.items() if value is not None},
    }
    if given.group is not None:
        added |= {key: configured[key] for key in ("group", "instanceType")}
    objects = rendered(
        _CHART,
        name=_CHART,
        namespace=namespace,
        values=added,
        files=files,
        settings=given.settings,
        where=partial(_where, given=given, files=files),
    )
    scales = config.operators.cluster_autoscaler
    grows_to = group.most_nodes if scales and isinstance(group, ManagedNodeGroupConfig) else 0
    if given.settings:
        merged = merged_values(_CHART, values=added, files=files, settings=given.settings)
        # A null takes away what the chart has.
        added = {
            key: value for key, value in merged.items() if key not in said or said[key] != value
        }
    return JobRequest(group=group, added=added, objects=objects, grows_to=grows_to)


def place_of_job(given: Given, config: Config) -> str:
    """Return the namespace that is given, the team's, or that of the first claim."""
    if given.team is None:
        return given.namespace or claim_place(config)[0]
    team = next((each for each in config.teams if each.name == given.team), None)
    if team is None:
        known = ", ".join(each.name for each in config.teams) or "none"
        raise OpsError(f"--team: {given.team!r} is not in teams: {known}")
    # Where its queue is, if it has a quota.
    place = namespace_of(team.name) if team.quota else team.namespaces[0]
    if given.namespace is not None:
        raise OpsError(f"--namespace: must be left out with --team: the job goes to {place}")
    return place


def _of_queue(
    given: Given, config: Config, *, team: TeamConfig | None, group: AnyGroup
) -> dict[str, Any]:
    """Return the queue of a team's job, and its priority there; nothing without a quota."""
    governance = config.governance
    if given.team is None or team is None or not team.quota or governance is None:
        if given.priority is not None:
            raise OpsError(
                "--priority: is of the queue of a team with a quota; name such a team with --team"
            )
        return {}
    if isinstance(group, ManagedNodeGroupConfig):
        raise OpsError(
            f"--team: {group.name} is an EKS node group, of which no team has a quota; leave out "
            "--team, or name an instance group with --group"
        )
    names = [priority.name for priority in governance.priority_classes]
    priority = given.priority or (_PRIORITY_CLASS if _PRIORITY_CLASS in names else None)
    if priority is not None and priority not in names:
        known = ", ".join(names) or "none"
        raise OpsError(f"--priority: {priority!r} is not in governance.priority_classes: {known}")
    return {
        "queue": queue_of(team.name),
        "queuePriority": None if priority is None else priority_of(priority),
    }


def claim_place(config: Config, *, namespace: str | None = None) -> tuple[str, str]:
    """Return namespace and name of the claim that a job writes to, by the configuration.

    It is the first in the namespace, if there is one, else the first of all.
    """
    storage = config.storage_of_teams
    claims = [each for each in storage.claims if each.access != READ_ONLY] if storage else []
    claims.sort(key=lambda each: each.namespace != namespace)
    return (claims[0].namespace, claims[0].name or _CLAIM) if claims else ("default", _CLAIM)


def _file(name: str) -> Path:
    """Return the file of values that is meant."""
    path = Path(name)
    if path.is_file():
        return path.resolve()
    folder = asset_directory("charts") / _CHART / "values"
    file = folder / f"{name}.yaml"
    if file.is_file() and file.parent == folder:
        return file
    known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
    raise OpsError(f"--values: {name!r} is no file, and none of the chart's: {known}")


def _merged(files: Sequence[Path]) -> dict[str, Any]:
    """Return the values of files by their first keys; helm merges what is below."""
    said: dict[str, Any] = {}
    for file in files:
        try:
            document = yaml.safe_load(given_text(file))
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            why = " ".join(str(error).split())
            raise OpsError(f"--values: {file} cannot be read as YAML: {why}") from None
        if not isinstance(document, dict | None):
            raise OpsError(f"--values: {file} must hold keys and values of the chart {_CHART}")
        said |= document or {}
    return said


def _where(key: str, *, given: Given, files: Sequence[Path]) -> str:
    """Return the option or the file that says a key of the values."""
    for setting in reversed(given.settings):
        if re.search(rf"(^|[.,]){re.escape(key)}[.=]", setting):
            return f"--set {setting}"
    first = key.partition(".")[0]
    if vars(given).get(first) is not None:
        return f"--{first}"
    file = next((file for file in reversed(files) if first in _merged([file])), None)
    if file is None:
        return "--name" if key == "name" else f"values: {key}"
    return f"{file.name}: {key}"


def _group(given: Given, said: Mapping[str, Any], *, config: Config) -> AnyGroup:
    groups: list[AnyGroup] = [*config.cluster.all_groups, *config.node_groups]
    able = [group for group in groups if any(map(is_accelerated, group.possible_instance_types))]
    fits = ", ".join(_described(group) for group in able) or "none"
    name = given.group or said.get("group")
    if name:
        group = next((group for group in groups if group.name == name), None)
        if group is None:
            listed = ", ".join(_described(group) for group in groups)
            raise OpsError(f"group: {name!r} is not in the configuration, which has: {listed}")
        if group not in able:
            raise OpsError(
                f"group: {_described(group)} has no accelerators to train on; groups that have: "
                f"{fits}"
            )
        return group
    wanted = said.get("instanceType")
    fitting = [group for group in able if wanted is None or wanted in group.possible_instance_types]
    if not fitting:
        what = f"{wanted} is of no group" if wanted else "no group has accelerators"
        raise OpsError(
            f"instanceType: {what} of the deployment {config.name}; name one with --group, whose "
            f"type the job then takes: {fits}"
        )
    if len(fitting) > 1:
        raise OpsError(f"--group: is missing; the job fits {fits}: name one")
    return fitting[0]


def _described(group: AnyGroup) -> str:
    return f"{group.name} ({' or '.join(group.possible_instance_types)})"


def _type_of(group: AnyGroup, said: Mapping[str, Any], *, named: bool) -> str:
    """Return the values' type, unless a group is named that has others."""
    types = group.possible_instance_types
    wanted = said.get("instanceType")
    if wanted in types or (wanted and not named):
        return str(wanted)
    return next(filter(is_accelerated, types))


def _of_group(group: AnyGroup, said: Mapping[str, Any], *, named: bool) -> dict[str, Any]:
    taints = group.taints if isinstance(group, InstanceGroupConfig | ManagedNodeGroupConfig) else ()
    count = (
        group.desired_size if isinstance(group, ManagedNodeGroupConfig) else group.instance_count
    )
    layout = group.mig_profile if isinstance(group, InstanceGroupConfig) else None
    return {
        **({} if layout is None else _partition(_type_of(group, said, named=named), layout)),
        "group": group.name,
        "instanceType": _type_of(group, said, named=named),
        "nodes": count if layout is None else 1,
        "tolerations": [
            {
                "key": taint.key,
                "effect": taint.effect,
                **(
                    {"operator": "Equal", "value": taint.value}
                    if taint.value
                    else {"operator": "Exists"}
                ),
            }
            for taint in taints
        ],
    }


def _partition(instance_type: str, layout: str) -> dict[str, Any]:
    """Return the request of a pod for the largest partition of a layout, with its part of a node.

    Processes in several partitions cannot exchange gradients by NCCL, and EFA serves whole GPUs:
    https://docs.nvidia.com/datacenter/tesla/mig-user-guide/#application-considerations
    """
    whole = job_resources(instance_type)
    if whole is None:
        return {}
    parts = mig.partitioned(instance_type, layout)
    count = whole.accelerators * sum(parts.values())
    return {
        "resources": {
            "accelerator": mig.resource(max(parts)),
            "accelerators": 1,
            "efa": 0,
            "hugepages2Mi": "",
            "cpu": f"{1000 * whole.cpu // count}m",
            "memory": f"{1024 * whole.memory_gib // count}Mi",
        }
    }


def _of_config(config: Config, *, namespace: str) -> dict[str, Any]:
    classes = [priority.name for priority in config.helm.priority_classes or ()]
    return {
        "claim": {"name": claim_place(config, namespace=namespace)[1]},
        "priorityClass": _PRIORITY_CLASS if _PRIORITY_CLASS in classes else None,
    }
