"""Each type of resource that is deployed has a row, and what is billed is named in the cost."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.cost.cost import cost
from hyperpod_cli.inspect.resource_types import RESOURCE_TYPES
from tests.conftest import Assemble
from tests.support.assembly import Assembly
from tests.support.configs import CONFIGS


def billed(assembly: Assembly) -> Iterator[tuple[str, str]]:
    """Yield the type of each resource that is billed, and the words that must name it."""
    for template in assembly.texts().values():
        for resource in json.loads(template)["Resources"].values():
            row = RESOURCE_TYPES.get(resource["Type"])
            assert row is not None, (
                f"{resource['Type']}: add a row to cli/hyperpod_cli/inspect/resource_types.py, and "
                "run `make generate`"
            )
            words = row.billed_as(resource.get("Properties", {}))
            if words is not None:
                yield resource["Type"], words


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_what_is_billed_is_a_charge_or_said_to_be_left_out(path: Path, assemble: Assemble) -> None:
    config = load_config(path)
    found = cost(config, region=None, day=date(2026, 10, 6))
    named = "\n".join([*(charge.name for charge in found.standing), *found.left_out])

    missing = {name for name, words in billed(assemble(config)) if words not in named}
    assert not missing, "constructs/hyperpod_cdk/cost/cost.py does not name what is billed"
