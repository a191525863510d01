"""Deploying the rows of `pairs.jsonl`: valid configurations in which any two switches meet."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyperpod_cdk import load_config
from hyperpod_cdk.checks.eks.closed_network import closed_network
from hyperpod_cdk.checks.way_out import way_out
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_rehearsal.cdk_cli import AppRefusedError
from hyperpod_rehearsal.existing_resources import DEFAULT_REGION, account_of
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.run import Played, Rehearsal
from hyperpod_rehearsal.stand_in_chart import choose_chart

ROWS = Path(__file__).with_name("pairs.jsonl")
QUARTERS = 4


def deploy_rows(quarter: int, *, work_directory: Path, progress: Progress) -> list[Played]:
    """Deploy, verify and delete a quarter of the rows; return what came of each.

    A row that `hyperpod-cdk deploy` refuses for what is in the account does not apply, with its
    lines; nor does one whose nodes need routes that only its owner can add. No row of pairs is one
    that `hyperpod-cdk validate` refuses.

    Raises:
        LocalAwsError: The local AWS did not start.
    """
    # Rows name files of the examples.
    folder = work_directory / "rows"
    shutil.copytree(asset_directory("config") / "examples", folder, dirs_exist_ok=True)
    played = []
    for number, line in enumerate(ROWS.read_text(encoding="utf-8").splitlines()):
        if number % QUARTERS == quarter:
            path = folder / f"row-{number}.yaml"
            write_row(json.loads(line), path=path)
            played.append(_deployed(path, work_directory=work_directory, progress=progress))
    return played


def write_row(row: dict[str, Any], *, path: Path) -> None:
    """Write a row as a file, with a registry of images where its network has a way to no other."""
    path.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    config = load_config(path)
    if config.control_plane is not None and any(closed_network(config)):
        region = config.region or DEFAULT_REGION
        registry = f"{account_of(config)}.dkr.ecr.{region}.amazonaws.com"
        helm = {**(row.get("helm") or {}), "image_registry": registry}
        path.write_text(json.dumps({**row, "helm": helm}, indent=1) + "\n", encoding="utf-8")


def rows_line(rows: Sequence[Played]) -> str:
    """Return how many rows deployed, how many `hyperpod-cdk deploy` refuses, and the failures."""
    refused = sum(not row.applies for row in rows)
    failed = sum(not row.ok for row in rows)
    return (
        f"Rows of pairs: {len(rows) - refused - failed} deployed, {refused} refused before "
        f"anything changed, {failed} failed."
    )


def _deployed(path: Path, *, work_directory: Path, progress: Progress) -> Played:
    config = load_config(path)
    for warning in way_out(config):
        return Played(config=path.stem, scenario="(refused)", wrong=(str(warning),), applies=False)
    begun = progress.elapsed
    rehearsal = Rehearsal(
        config=config,
        config_path=path,
        chart=choose_chart(config),
        scenario=None,
        work_directory=work_directory / path.stem,
        region=config.region or DEFAULT_REGION,
        may_be_refused=True,
    )
    is_refused = False
    try:
        report = rehearsal.run(progress)
        is_refused = report.refused
        wrong = [check.title for check in report.verify if not check.ok]
        if report.error is not None:
            wrong.append(report.error)
    except AppRefusedError as error:
        wrong = [str(error)]
    return Played(
        config=path.stem,
        scenario="(refused)" if is_refused else "(deployed)",
        seconds=progress.elapsed - begun,
        wrong=tuple(wrong),
        applies=not is_refused,
    )
