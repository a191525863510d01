"""The official chart's files at one commit of a git repository."""

import shutil
import zipfile
from pathlib import Path

from hyperpod_cli.deliver.charts.pins import ChartSource
from hyperpod_cli.helm.helm import ChartError, CommandError, run

# Line ends as committed, whatever this machine's git is set to.
_GIT = ("git", "-c", "core.autocrlf=false", "-c", "core.eol=lf")
_HANDED_OVER = "or take the package from someone who has it: hyperpod-cdk charts --from FILE"


def check_out_chart(*, source: ChartSource, workspace: Path) -> Path:
    """Write the chart's folder at the commit into the workspace and return it."""
    if shutil.which(_GIT[0]) is None:
        raise ChartError(f"git is not installed or not on PATH: install it, {_HANDED_OVER}")
    repository = workspace / "repository"
    repository.mkdir(parents=True)
    run([*_GIT, "init", "--quiet", "--bare", "."], cwd=repository)
    _fetch(source=source, repository=repository)
    archive, chart = workspace / "chart.zip", workspace / "chart"
    tree = f"{source.git_commit}:{source.path}"
    try:
        run([*_GIT, "archive", "--format=zip", f"--output={archive}", tree], cwd=repository)
    except CommandError as error:
        raise ChartError(
            f"{source.shown_url} has no {source.path} at commit {source.git_commit}: correct "
            "chart.path in the pin file"
        ) from error
    # zipfile never writes outside its target; tarfile learnt that in Python 3.11.4 only.
    with zipfile.ZipFile(archive) as files:
        files.extractall(chart)
    if not (chart / "Chart.yaml").is_file():
        raise ChartError(
            f"{source.path} of {source.shown_url} at commit {source.git_commit} is not a chart: it "
            "has no Chart.yaml; correct chart.path in the pin file"
        )
    return chart


def newest_commit(source: ChartSource, *, workspace: Path) -> str:
    """Return the newest commit of the repository's default branch."""
    try:
        listed = run(
            [*_GIT, "ls-remote", "--", source.git_url, "HEAD"], cwd=workspace, timeout_seconds=120
        )
    except CommandError as error:
        raise ChartError(
            f"cannot reach {source.shown_url}: "
            f"{str(error).replace(source.git_url, source.shown_url)}; check the network and the "
            "proxy, or set CHART_GIT_URL to a mirror or a local clone; without the internet, "
            "also put the archives of its dependencies into a folder and set CHART_ARCHIVES to it; "
            f"{_HANDED_OVER}"
        ) from error
    return listed.split()[0] if listed.strip() else ""


def _fetch(*, source: ChartSource, repository: Path) -> None:
    """Fetch the one commit; where a server serves only branches and tags, all of them."""
    shallow = [*_GIT, "fetch", "--quiet", "--depth=1", "--", source.git_url, source.git_commit]
    everything = [*_GIT, "fetch", "--quiet", "--", source.git_url, "+refs/*:refs/*"]
    for command in (shallow, everything):
        try:
            run(command, cwd=repository)
            run([*_GIT, "cat-file", "-e", f"{source.git_commit}^{{commit}}"], cwd=repository)
        except CommandError:
            continue
        return
    newest_commit(source, workspace=repository)  # raises if it cannot be reached
    raise ChartError(
        f"{source.shown_url} has no commit {source.git_commit}: correct chart.git_commit in the "
        "pin file or CHART_GIT_COMMIT"
    )
