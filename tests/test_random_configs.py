"""Random configurations: each gives valid templates or errors of one line, never a traceback.

A few by default; `make random-configs COUNT=10000` tries that many. What is synthesized must pass
CDK's validation and cfn-lint. A part is reproducible: its number is its seed.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, event, given, seed, settings

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.helm.chart.chart import HyperPodChartError
from hyperpod_cdk.synthesis.refusals import TooLargeError
from tests.support.assembly import synthesized
from tests.support.linter import findings
from tests.support.random_documents import documents

EXAMPLES = int(os.environ.get("RANDOM_CONFIGS", "12"))
MOST_A_PART = 500
PARTS = -(-EXAMPLES // MOST_A_PART)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_random_configuration_deploys_or_is_refused_in_lines(part: int, chart: Path) -> None:
    @seed(part)
    @settings(
        max_examples=-(-EXAMPLES // PARTS),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(documents())
    def each(document: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "config.yaml"
            path.write_text(yaml.safe_dump(document), encoding="utf-8")
            try:
                config = load_config(path)
                templates = synthesized(config, chart=chart, directory=Path(scratch)).texts()
            except (ConfigError, HyperPodChartError, TooLargeError) as error:
                lines = str(error).splitlines()
                assert lines
                assert all(line.isprintable() for line in lines)
                event("refused")
                return
            event("deployable")
            check(config, templates)

    each()


def check(config: Config, templates: dict[str, str]) -> None:
    assert len(templates) == (3 if config.storage is None else 4)
    for name, template in templates.items():
        found = findings(template, region=config.region or "us-west-2")
        assert not found, f"{name}: {found}"
