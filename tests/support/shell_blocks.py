"""The shell blocks of README and docs: which one runs where, or why not, and what it prints."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.configs import REPOSITORY
from tests.support.patience import PATIENCE_SECONDS

_BLOCK = re.compile(r"^( *)```(?:bash|console|sh|shell)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s+#.*$", re.MULTILINE)
_PROMPT = "$ "


@dataclass(frozen=True, kw_only=True, slots=True)
class ShellBlock:
    """Commands that a page shows.

    Attributes:
        page: Its file, as seen from the repository.
        commands: Without comments; of a session, without what it prints.
    """

    page: str
    commands: str

    @property
    def key(self) -> tuple[str, str]:
        """Page and first command, by which the tables below name it."""
        return self.page, self.commands.splitlines()[0]


def shell_blocks() -> Iterator[ShellBlock]:
    """Yield the shell blocks of all pages, in their order."""
    pages = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]
    for page in (*pages, *sorted((REPOSITORY / "docs").glob("*.md"))):
        for indent, text in _BLOCK.findall(page.read_text("utf-8")):
            lines = [line.removeprefix(indent) for line in text.splitlines()]
            if any(line.startswith(_PROMPT) for line in lines):
                lines = [line[2:] for line in lines if line.startswith(_PROMPT)]
            commands = _COMMENT.sub("", "\n".join(lines)).strip() + "\n"
            yield ShellBlock(page=str(page.relative_to(REPOSITORY)), commands=commands)


IN_A_CHECKOUT: Sequence[tuple[str, str]] = (
    (
        "docs/start-here.md",
        "hyperpod-cdk init mine.yaml --name team --region us-west-2 --zones usw2-az4 "
        "--type ml.p5.48xlarge --count 4 --storage 4800",
    ),
)
"""Blocks that need no AWS, in the order in which they run."""

IN_A_REHEARSAL: Sequence[tuple[str, str]] = (
    ("docs/failed-deployments.md", "for stack in ml-platform ml-addons ml-storage ml-hyperpod; do"),
    ("docs/upgrade.md", "hyperpod-cdk validate mine.yaml"),
    ("docs/start-here.md", "hyperpod-cdk bootstrap mine.yaml"),
    ("docs/storage.md", "aws fsx describe-data-repository-associations \\"),
    ("docs/start-here.md", "hyperpod-cdk verify mine.yaml"),
    ("docs/verify.md", "hyperpod-cdk verify mine.yaml"),
    (
        "docs/node-health.md",
        "kubectl get nodes -o custom-columns='NAME:.metadata.name,"
        "SINCE:.metadata.annotations.hyperpod-cdk/health-check-fails-since'",
    ),
)
"""Blocks that run on a deployment of `mine.yaml`, a copy of the default, that is kept."""

ELSEWHERE: Mapping[tuple[str, str], str] = {
    ("docs/verify.md", "export AWS_REGION=us-west-2"): "tests/rehearsal/scenarios/test_default.py",
    ("README.md", "make rehearse"): "tests/rehearsal/test_rehearsal.py",
    ("README.md", "python3 -m venv hyperpod && source hyperpod/bin/activate"): (
        "tests/test_installed.py"
    ),
    ("docs/start-here.md", "make rehearse"): "tests/rehearsal/test_rehearsal.py",
    **{
        ("docs/run-a-job.md", command): "tests/rehearsal/examples/test_access.py"
        for command in (
            "aws eks update-kubeconfig --name access-eks --region us-west-2",
            "kubectl apply -f first.yaml",
            "kubectl apply -f reader.yaml",
            "kubectl apply -f train.yaml",
            "kubectl get pods --field-selector status.phase=Pending",
            "kubectl get pvc",
            "kubectl get nodes -o custom-columns=\\",
            "read -rs TOKEN",
            "kubectl apply -f notebook.yaml",
            "kubectl delete job first --ignore-not-found",
        )
    },
    ("docs/node-health.md", "hyperpod-cdk release i-0123456789abcdef0"): (
        "tests/cli/operate/test_quarantine.py"
    ),
    (
        "docs/validate-nodes.md",
        "hyperpod-cdk validate-nodes --group workers --json found.json --junit found.xml",
    ): "tests/cli/operate/validation/test_validate_nodes.py",
}
"""Blocks that another test runs, by that test; those of a page with one test are in `PAGES`."""

PAGES: Mapping[str, str] = {
    "docs/walk-through.md": "tests/rehearsal/test_rehearsal.py",
    "docs/operating.md": "tests/rehearsal/cli/test_commands.py",
    "docs/operators.md": "tests/rehearsal/examples/test_operators.py",
    "docs/slurm-jobs.md": "tests/slurm/test_jobs.py",
    "docs/training.md": "tests/rehearsal/cli/test_commands.py",
}
"""Pages whose blocks one test runs."""

NOT_RUN: Mapping[tuple[str, str], str] = {
    ("README.md", "hyperpod-cdk init mine.yaml"): (
        "asks on a terminal; the others are those of docs/start-here.md and docs/upgrade.md"
    ),
    ("README.md", "P=/path/to/this/project"): "the path is the reader's",
    ("README.md", "hyperpod-cdk validate mine.yaml"): (
        "needs an account; docs/walk-through.md and docs/start-here.md run each of them"
    ),
    ("README.md", "source .venv/bin/activate && hyperpod-cdk charts"): (
        "reaches GitHub; tests/test_examples.py synthesizes the three apps"
    ),
    ("CONTRIBUTING.md", "make test"): "runs this test",
    ("CONTRIBUTING.md", "hyperpod-cdk deploy mine.yaml"): (
        "needs an account; tests/rehearsal/cli/test_commands.py records a function's calls"
    ),
    (
        "docs/dashboards.md",
        "kubectl port-forward -n hyperpod-grafana deployment/hyperpod-grafana 3000",
    ): "no container runs in a rehearsal; tests/charts/test_grafana_chart.py looks at the pod",
    ("docs/dashboards.md", "hyperpod-cdk dashboards mine.yaml --grafana deployed"): (
        "needs a Grafana of AWS; tests/cli/deliver/test_dashboards.py has one that stands for it"
    ),
    (
        "docs/dashboards.md",
        "hyperpod-cdk dashboards mine.yaml "
        "--grafana https://g-0123456789.grafana-workspace.us-west-2.amazonaws.com",
    ): "the address is the reader's; tests/cli/deliver/test_dashboards.py sends to another",
    ("docs/cost.md", "SESSION=$(hyperpod-cdk connect controller --print)"): (
        "a rehearsal's nodes have no Session Manager; tests/cli/operate has what --print prints"
    ),
    ("docs/rehearse-change.md", "hyperpod-cdk rehearse-change mine.yaml --save deployed.zip"): (
        "starts a local AWS; tests/rehearsal/change predicts on an archive of a deployment"
    ),
    ("docs/images.md", "hyperpod-cdk deploy mine.yaml"): (
        "asks on a terminal; tests/rehearsal/examples/test_workloads.py deploys and builds"
    ),
    ("docs/destroy.md", "hyperpod-cdk destroy mine.yaml"): (
        "asks on a terminal; docs/walk-through.md runs both with --yes"
    ),
    ("docs/destroy.md", "CLUSTER=ml-eks"): (
        "needs what the VPC CNI of a node that is gone has left, which no rehearsal has"
    ),
    (
        "docs/existing-resources.md",
        "aws eks update-cluster-config --name research --access-config "
        "authenticationMode=API_AND_CONFIG_MAP",
    ): "changes a cluster of the reader's, which no rehearsal has by that name",
    ("docs/express.md", "hyperpod-cdk deploy mine.yaml --express"): (
        "tests/rehearsal/scenarios play express deployments, by the same command of the CDK"
    ),
    (
        "docs/helm.md",
        "CHART_GIT_URL=/mirror/sagemaker-hyperpod-cli CHART_ARCHIVES=/mirror/charts "
        "hyperpod-cdk charts",
    ): "the mirror is the reader's; tests/charts packages from one",
    ("docs/kubernetes-upgrade.md", "STACK=ml-platform"): (
        "needs a rollback that failed; a test of the local EKS makes one and continues it"
    ),
    (
        "docs/kubernetes-upgrade.md",
        "UPDATE=$(aws eks update-cluster-version --name ml-eks --kubernetes-version 1.34 "
        "--force \\",
    ): "needs an upgrade; the scenario kubernetes-upgrade goes back by the same call",
    (
        "docs/pipeline.md",
        "aws codeconnections create-connection --provider-type GitHub --connection-name hyperpod",
    ): "a connection is completed in AWS's console",
    ("docs/pipeline.md", "hyperpod-cdk bootstrap config/pipeline/pipeline.yaml"): (
        "needs a connection; tests/rehearsal/pipeline plays the pipeline"
    ),
    (
        "docs/pipeline.md",
        "hyperpod-cdk bootstrap config/pipeline/prod.yaml --trust 111122223333 "
        "--policies arn:aws:iam::...",
    ): "the account and its policies are the reader's",
    ("docs/pipeline.md", "hyperpod-cdk pipeline config/pipeline/pipeline.yaml"): (
        "needs a connection; tests/rehearsal/pipeline plays the pipeline"
    ),
    ("docs/pipeline.md", "aws codepipeline get-pipeline-state --name ml"): (
        "needs an execution that waits for approval, which the local AWS does not have"
    ),
    **{
        ("docs/run-a-job.md", command): "needs a container with a GPU, which no rehearsal has"
        for command in (
            "kubectl wait --for=condition=complete job/first --timeout=15m",
            "kubectl get pods -l training.kubeflow.org/job-name=train -o wide",
            "kubectl exec train-worker-0 -- nvidia-smi",
            "kubectl port-forward pod/notebook 8888",
        )
    },
    (
        "docs/run-a-job.md",
        "aws logs filter-log-events --log-group-name /aws/containerinsights/access-eks/application "
        "--region us-west-2 \\",
    ): "needs logs of containers, which no rehearsal runs",
    (
        "docs/slurm.md",
        'aws secretsmanager rotate-secret --secret-id "$SECRET_ARN" --no-rotate-immediately \\',
    ): "the local Secrets Manager does not rotate what RDS has made",
    (
        "docs/storage.md",
        "kubectl rollout restart deployment/fsx-csi-controller --namespace kube-system",
    ): ("the rehearsal runs no pods of add-ons"),
    ("docs/storage.md", "aws fsx update-file-system --file-system-id FILE_SYSTEM_ID \\"): (
        "the file system is the reader's"
    ),
    (
        "docs/verify.md",
        'aws eks create-access-entry --cluster-name "$CLUSTER" --principal-arn "$ROLE"',
    ): "the role is the reader's; tests/cli/inspect/verification looks with that access policy",
    ("docs/templates.md", "hyperpod-cdk templates mine.yaml"): (
        "reaches GitHub for the chart; tests/cli/deliver/templates writes templates"
    ),
    ("docs/templates.md", "aws s3 mb s3://our-assets --region us-west-2"): (
        "the bucket is the reader's; tests/rehearsal/test_plain_templates.py runs deploy.sh"
    ),
    ("docs/templates.md", "aws cloudformation delete-stack --stack-name ml-hyperpod"): (
        "deletes nodes; tests/rehearsal/test_plain_templates.py deletes the stacks"
    ),
}
"""Blocks that no test runs as they are, with the reason."""


_SHOWN_BLOCK = re.compile(r"^```(bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_END = "\0"
_END_FORMAT = r"\0%d\0\0"
_ASKS = re.compile(r"^hyperpod-cdk deploy\b(?!.* --yes)", re.MULTILINE)
# A checkout of one's own has these itself.
_OWN = {".git", "build", "cdk.out", "config"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Commands of a page.

    Attributes:
        commands: As the page has them.
        shown: What they print; "" where the page does not say.
    """

    commands: str
    shown: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the shell blocks of a page, each with the output that follows it."""
    found = _SHOWN_BLOCK.findall(page.read_text("utf-8"))
    for index, (kind, text) in enumerate(found):
        if kind == "bash":
            following = found[index + 1 : index + 2]
            shown = following[0][1] if following and following[0][0] == "text" else ""
            yield Block(commands=text, shown=shown)


def checkout(directory: Path) -> Path:
    """Return a folder that looks like a checkout in which nothing has been made yet."""
    # Else make would install the package from this folder into the environment of the tests.
    is_set_up = subprocess.run(["make", "-q", "setup-development"], cwd=REPOSITORY, check=False)
    assert is_set_up.returncode == 0, "run `make setup-development` first"
    for path in REPOSITORY.iterdir():
        if path.name not in _OWN:
            (directory / path.name).symlink_to(path)
    shutil.copytree(REPOSITORY / "config", directory / "config")
    return directory


def outputs(run: Sequence[Block], *, directory: Path) -> list[tuple[str, int]]:
    """Run blocks one after the other in one shell; return the output and exit code of each."""
    script = "".join(f"{block.commands}printf '{_END_FORMAT}' $?\n" for block in run)
    # Where a page shows a command that asks, nobody can be asked here.
    script = _ASKS.sub(r"\g<0> --yes", script)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=directory,
        # As if no make had started these tests.
        env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    *parts, _ = done.stdout.split(_END * 2)
    return [(text, int(code)) for text, _, code in (part.rpartition(_END) for part in parts)]


def matches(shown: str, printed: str) -> bool:
    """Say whether output is as shown: `…` stands for anything, alone in its line for any lines."""
    wanted = "".join(_line_pattern(line) for line in shown.splitlines())
    lines = "".join(f"{' '.join(line.split())}\n" for line in printed.splitlines())
    return re.fullmatch(wanted, lines) is not None


def _line_pattern(line: str) -> str:
    if line == "…":
        return r"(?:.*\n)*?"
    return ".*".join(map(re.escape, " ".join(line.split()).split("…"))) + r"\n"
