"""What the chart training renders with the real helm, and the values it refuses."""

import base64
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_emulator.testing.kubernetes_api import EDITOR, running_cluster
from tests.support.chart_rendering import assert_valid_for_kubernetes, helm, objects, refusal
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "training"
DEFINITIONS = (
    REPOSITORY
    / "rehearsal/hyperpod_rehearsal/chart/hyperpod-helm-chart/charts/training-operators/crds"
)
VARIANTS = sorted(path.stem for path in (CHART / "values").glob("*.yaml"))
_DEVICES = ("nvidia.com", "aws.amazon.com")
IMAGE = {"image": "registry.invalid/train:1"}


def render(variant: str, *, home: Path, **values: Any) -> dict[str, dict[str, Any]]:
    file = CHART / "values" / f"{variant}.yaml"
    made = objects(CHART, "--values", file, values={**IMAGE, **values}, home=home, release="job")
    return {item["kind"]: item for item in made}


def job_of(made: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return made.get("PyTorchJob") or made["HyperPodPyTorchJob"]


def template_of(made: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    spec = job_of(made)["spec"]
    replicas = spec.get("pytorchReplicaSpecs", {}).get("Worker") or spec["replicaSpecs"][0]
    found: dict[str, Any] = replicas["template"]
    return found


def container_of(made: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = template_of(made)["spec"]["containers"][0]
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant(variant: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    made = render(variant, home=tmp_path)
    container = container_of(made)
    key = made["Secret"]["data"].pop("key")
    assert len(base64.b64decode(key)) == 64
    # All of one, and what tells the others apart.
    assert snapshot == (
        made
        if variant == "llama2-7b-p4d"
        else {
            "spec": {k: v for k, v in job_of(made)["spec"].items() if "eplicaSpecs" not in k},
            "runs": " ".join([*container["command"], *container["args"]]),
            "env": {each["name"]: each.get("value") for each in container["env"]},
            "limits": container["resources"]["limits"],
        }
    )
    # By an argument: Kubeflow's operator 1.7.0 passes over nprocPerNode of a job without a master.
    limits = container["resources"]["limits"]
    accelerators = next(int(limits[name]) for name in limits if name.split("/")[0] in _DEVICES)
    processes = accelerators * (2 if variant == "trainium" else 1)
    assert f"--nproc-per-node={processes}" in container["args"]
    # What only the operators' definitions describe is around an ordinary pod.
    pod = {"apiVersion": "v1", "kind": "Pod", **template_of(made)}
    pod["metadata"]["name"] = "worker"
    others = [item for item in made.values() if item is not job_of(made)]
    assert_valid_for_kubernetes([pod, *others], folder=tmp_path)
    values = ("--values", CHART / "values" / f"{variant}.yaml")
    done = helm("lint", "--strict", CHART, *values, values=IMAGE, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_editors_jobs_pass_the_policies_and_their_definition(tmp_path: Path) -> None:
    policy = REPOSITORY / "charts" / "namespace-isolation"
    values = {"namespaces": ["default"], "made": [{"name": "default"}]}
    rules = objects(policy, values=values, home=tmp_path)
    with running_cluster(tmp_path) as cluster:
        cluster.kubectl("apply", "-f", "-", stdin=rules)
        definitions = [yaml.safe_load(each.read_text()) for each in DEFINITIONS.glob("pytorch*")]
        cluster.kubectl("apply", "-f", "-", stdin=definitions)
        etcd = {"backend": "etcd"}
        for number, variant in enumerate(VARIANTS):
            made = render(variant, home=tmp_path, rendezvous=etcd, name=f"job-{number}")
            pod = {"apiVersion": "v1", "kind": "Pod", **template_of(made)}
            pod["metadata"] |= {"name": f"worker-{number}", "namespace": "default"}
            known = [item for kind, item in made.items() if kind != "HyperPodPyTorchJob"]
            cluster.kubectl("apply", "--server-side", "-f", "-", stdin=[*known, pod], token=EDITOR)


def test_etcd_is_started_and_named(tmp_path: Path) -> None:
    made = render("llama2-7b-p4d", home=tmp_path, rendezvous={"backend": "etcd"})

    assert_valid_for_kubernetes([made["Service"], made["Deployment"]], folder=tmp_path)
    policy = made["PyTorchJob"]["spec"]["elasticPolicy"]
    [port] = made["Service"]["spec"]["ports"]
    assert (policy["rdzvHost"], policy["rdzvPort"]) == ("job-etcd", port["port"])
    labels = made["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert made["Service"]["spec"]["selector"].items() <= labels.items()
    # The labels of the workers are not those that it selects.
    assert not (
        made["Service"]["spec"]["selector"].items()
        <= template_of(made)["metadata"]["labels"].items()
    )


def test_the_token_is_a_reference_alone(tmp_path: Path) -> None:
    made = render("llama2-7b-p4d", home=tmp_path, **{"secret": "mine"})
    [token] = [each for each in container_of(made)["env"] if each["name"] == "HF_TOKEN"]
    assert token["valueFrom"] == {"secretKeyRef": {"name": "mine", "key": "token"}}

    made = render("llama2-7b-p4d", home=tmp_path, **{"secret": ""})
    assert "HF_TOKEN" not in json.dumps(made)


def test_the_folders_are_made_for_the_user_that_trains(tmp_path: Path) -> None:
    changed = {"user": os.getuid(), "claim": {"mountPath": str(tmp_path)}, "secret": ""}
    made = render("trainium", home=tmp_path, **changed)
    [folders] = template_of(made)["spec"]["initContainers"]
    [user] = folders["env"]

    # As root, which may chown; here, to the user that it is.
    command = [*folders["command"], *folders["args"]]
    for _ in range(2):
        subprocess.run(command, env={**os.environ, user["name"]: user["value"]}, check=True)

    assert container_of(made)["securityContext"]["runAsUser"] == os.getuid()
    given = {each["name"]: each.get("value") for each in container_of(made)["env"]}
    [checkpoints] = (
        each.partition("=")[2]
        for each in container_of(made)["args"]
        if each.startswith("--checkpoints=")
    )
    for folder in (checkpoints, given["HF_HOME"], given["NEURON_COMPILE_CACHE_URL"]):
        assert Path(folder).stat().st_uid == os.getuid()


def test_names_and_values_that_only_resemble_secrets_arrive(tmp_path: Path) -> None:
    given = {
        "TOKENIZERS_PARALLELISM": "false",
        "MAX_TOKENS": 5,
        "MLFLOW_TRACKING_URI": "http://m:5",
    }
    made = render("llama2-7b-p4d", home=tmp_path, env=given, envFrom=["tracking"])
    found = {each["name"]: each.get("value") for each in container_of(made)["env"]}
    assert {name: found[name] for name in given} == {name: str(it) for name, it in given.items()}
    assert container_of(made)["envFrom"] == [{"secretRef": {"name": "tracking"}}]


def test_a_folder_of_another_user_is_left_theirs(tmp_path: Path) -> None:
    made = render("llama2-7b-p4d", home=tmp_path, claim={"mountPath": str(tmp_path)}, user=4321)
    [folders] = template_of(made)["spec"]["initContainers"]
    script, *named = folders["command"][2:]
    theirs = Path("/")
    if not os.getuid():
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        os.chown(theirs, 4242, -1)
    before = theirs.stat().st_uid
    command = ["sh", "-c", script, *named, theirs]
    subprocess.run(command, env={**os.environ, "USER_ID": "4321"}, check=True)
    assert theirs.stat().st_uid == before


def test_precompiling_is_a_job_of_its_own(tmp_path: Path) -> None:
    made = render("trainium", home=tmp_path, precompile=True)
    assert made["PyTorchJob"]["metadata"]["name"] == "job-precompile"
    assert container_of(made)["command"] == ["neuron_parallel_compile", "torchrun"]
    assert "--max-steps=10" in container_of(made)["args"]


@pytest.mark.parametrize(
    ("values", "where", "expected"),
    [
        ({"queue": "team"}, ("metadata", "labels", "kueue.x-k8s.io/queue-name"), "team"),
        ({"autoResume": {"maxRetries": 0}}, ("metadata", "annotations"), None),
        ({"nodes": 1000}, ("spec", "pytorchReplicaSpecs", "Worker", "replicas"), 1000),
    ],
)
def test_a_value_arrives_in_the_job(
    values: dict[str, Any], where: tuple[str, ...], expected: object, tmp_path: Path
) -> None:
    found: Any = render("llama2-7b-p4d", home=tmp_path, **values)["PyTorchJob"]
    for key in where:
        found = found.get(key)
    assert found == expected


@pytest.mark.parametrize(
    ("values", "where", "expected"),
    [
        ({"priorityClass": "training"}, "priorityClassName", "training"),
        (
            {"tolerations": [{"operator": "Exists"}]},
            "tolerations",
            [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                {"operator": "Exists"},
            ],
        ),
        ({"terminationGracePeriodSeconds": 5}, "terminationGracePeriodSeconds", 5),
    ],
)
def test_a_value_arrives_in_the_pod(
    values: dict[str, Any], where: str, expected: object, tmp_path: Path
) -> None:
    assert template_of(render("llama2-7b-p4d", home=tmp_path, **values))["spec"][where] == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [(1000000, "1000000"), (0.00002, "2e-05"), ("a b", "a b"), (64.5, "64.5")],
)
def test_an_argument_is_written_as_it_is_meant(value: object, text: str, tmp_path: Path) -> None:
    made = render("llama2-7b-p4d", home=tmp_path, arguments={"option": value})
    assert f"--option={text}" in container_of(made)["args"]


def test_an_option_without_a_value_is_given_or_not(tmp_path: Path) -> None:
    made = render("llama2-7b-p4d", home=tmp_path, arguments={"yes": True, "no": False})
    found = [each for each in container_of(made)["args"] if each in ("--yes", "--no")]
    assert found == ["--yes"]


def test_own_resources_replace_those_of_the_type(tmp_path: Path) -> None:
    resources = {"efa": 0, "hugepages2Mi": "", "memory": "5Gi", "accelerators": 4}
    made = render("llama2-7b-p4d", home=tmp_path, resources=resources)
    found = container_of(made)["resources"]
    assert found["limits"] == {"memory": "5Gi", "nvidia.com/gpu": "4"}
    assert "FI_PROVIDER" not in json.dumps(made)


def _on_trainium(model: str, *, family: str = "") -> dict[str, Any]:
    arguments = {"strategy": "neuron", "model": model}
    return {"instanceType": "ml.trn1.32xlarge", "arguments": arguments, "modelFamily": family}


@pytest.mark.parametrize(
    "values",
    [
        _on_trainium("Qwen/Qwen3-8B"),
        _on_trainium("ibm-granite/granite-3.1-8b-base"),
        _on_trainium("/fsx/models/ours"),
        _on_trainium("HuggingFaceTB/SmolLM2-1.7B", family="llama"),
        {"arguments": {"model": "mistralai/Mistral-7B-v0.1"}},
        {"instanceType": "ml.trn1.32xlarge", "entrypoint": ["/fsx/mine.py"]},
    ],
)
def test_what_trains_is_not_refused(values: dict[str, Any], tmp_path: Path) -> None:
    assert render("llama2-7b-p4d", home=tmp_path, **values)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"image": ""}, "image"),
        ({"nodes": 0}, "/nodes"),
        ({"kind": "MPIJob"}, "/kind"),
        ({"rendezvous": {"backend": "static"}}, "/rendezvous/backend"),
        ({"claim": {"mountPath": "fsx"}}, "/claim/mountPath"),
        ({"resources": {"accelerator": "gpu"}}, "/resources/accelerator"),
        ({"name": "a" * 41}, "/name"),
        ({"arguments": {"Model": "x"}}, "Model"),
        ({"instanceType": "ml.m5.2xlarge"}, "ml.m5.2xlarge has no accelerators that are known"),
        ({"env": {"HF_TOKEN": "hf_secret"}}, "env.HF_TOKEN: a token or password does not belong"),
        ({"env": {"AWS_SECRET_ACCESS_KEY": "hf_secret"}}, "env.AWS_SECRET_ACCESS_KEY: a token or"),
        ({"env": {"wandb_api_key": "hf_secret"}}, "env.wandb_api_key: a token or password"),
        ({"env": {"MLFLOW_TRACKING_PASSWORD": "hf_secret"}}, "MLFLOW_TRACKING_PASSWORD: a token"),
        ({"env": {"DB": "mysql://me:hf_secret@db/x"}}, "env.DB: a token or password does not"),
        ({"arguments": {"hub": "hf_secret0000000"}}, "arguments.hub: a token or password does not"),
        ({"envFrom": [""]}, "/envFrom"),
        ({"arguments": {"backend": "smddp"}, "instanceType": "ml.p5.48xlarge"}, "smddp is for"),
        ({"arguments": {"strategy": "neuron"}}, "arguments.strategy: neuron is not for ml.p4d."),
        ({"instanceType": "ml.trn1.32xlarge"}, "arguments.strategy: fsdp is not for ml.trn1."),
        (_on_trainium("mistralai/Mistral-7B-v0.1"), "arguments.model: mistralai/Mistral-7B-v0.1 "),
        (_on_trainium("Qwen/Qwen2.5-7B"), "arguments.model: Qwen/Qwen2.5-7B is not of a family"),
        (_on_trainium("tiny"), "arguments.model: tiny is not of a family"),
        (_on_trainium("meta-llama/Llama-2-7b-hf", family="gemma"), "arguments.model: gemma"),
    ],
)
def test_a_bad_value_is_refused(values: dict[str, Any], told: str, tmp_path: Path) -> None:
    file = CHART / "values" / "llama2-7b-p4d.yaml"
    said = refusal(CHART, "--values", file, values={**IMAGE, **values}, home=tmp_path)
    assert told in said
    assert "hf_secret" not in said
