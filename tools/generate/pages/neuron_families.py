"""Write charts/training/files/neuron-families.json: the models that train on Trainium."""

import ast
import json
from collections.abc import Mapping
from pathlib import Path

from tools.generate import REPOSITORY

SOURCE = REPOSITORY / "images" / "training" / "hyperpod_training" / "strategies" / "neuron.py"
TARGET = REPOSITORY / "charts" / "training" / "files" / "neuron-families.json"


def render() -> Mapping[Path, str]:
    """Return the file, of the program's table, which cannot be imported without PyTorch."""
    for statement in ast.parse(SOURCE.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "FAMILIES":
            return {TARGET: json.dumps(ast.literal_eval(statement.value)) + "\n"}
    raise SystemExit(f"{SOURCE}: has no FAMILIES")
