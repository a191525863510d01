"""Write constructs/hyperpod_cdk/facts/service_limits.json from the pinned botocore service models.

The package reads the file, not botocore, because importing botocore would double the time of a
synth.
"""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import botocore
import botocore.session

from tools.generate import REPOSITORY
from tools.json_text import json_text

TARGET = REPOSITORY / "constructs" / "hyperpod_cdk" / "facts" / "service_limits.json"

SOURCE = TARGET.parents[1]
"""The package, whose code names each shape that it reads: `sagemaker.ClusterName`."""

_SHAPE_NAME = re.compile(r"(sagemaker|fsx)\.[A-Z]\w+")
CONSTRAINTS = ("min", "max", "pattern", "enum")


def shape_names() -> list[str]:
    """Return every shape that the package's code names, `<service>.<Shape>`."""
    constants = (
        node.value
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return sorted({text for text in constants if _SHAPE_NAME.fullmatch(text)})


def render() -> Mapping[Path, str]:
    """Return the file as the installed botocore gives it."""
    session = botocore.session.get_session()
    shapes = {}
    for shape in shape_names():
        service, name = shape.split(".")
        metadata = session.get_service_model(service).shape_for(name).metadata
        shapes[shape] = {key: metadata[key] for key in CONSTRAINTS if key in metadata}
    regions = {
        region: partition
        for partition in session.get_available_partitions()
        for region in session.get_available_regions("ec2", partition)
    }
    content = {"botocore": botocore.__version__, "regions": regions, "shapes": shapes}
    return {TARGET: json_text(content, sort_keys=True)}
