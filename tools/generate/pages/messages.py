"""docs/messages.md, which has each message under where a user meets it."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from hyperpod_cdk.checks import ALL_RULES
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_shared import node_group_health as node_groups
from hyperpod_shared.failures import CAUSES
from tools.generate import REPOSITORY
from tools.generate.marks import table
from tools.generate.message_texts import ErrorText, Scope, scopes

TARGET = REPOSITORY / "docs" / "messages.md"

_LIBRARY = REPOSITORY / "constructs" / "hyperpod_cdk"
_PROVISIONER = REPOSITORY / "lambda" / "provisioner"
_CLI = REPOSITORY / "cli" / "hyperpod_cli"
_LOG_GROUP = "`/aws/sagemaker/Clusters/<cluster>/<id>`"
_LOG_STREAM = "`LifecycleConfig/<group>/<instance>`"
# After the value; what else functions return are names and reasons.
_READS_ON = re.compile(r"(does|has|is|must|needs) ")
_TITLES = {
    "aws": "Files of the deployment",
    "deletion_check": "The check before a deletion",
    "authentication_mode": "The EKS cluster",
    "helm": "Helm releases",
    "hyperpod": "The HyperPod cluster",
    "kubernetes": "Kubernetes",
    "lifecycle_scripts": "Lifecycle scripts",
    "file_system_availability": "File systems",
}
_OTHERS = "Any of them"
_HEADER = """# Messages

Each message of this project, where you meet it, and what to do. Search this page for the words that
you see: `…` stands for a name or a value. If you see no message, start at
[troubleshooting.md](troubleshooting.md). [failed-deployments.md](failed-deployments.md) says in
which state a failed stack is left.
"""
_RULES = """## Rules of a configuration

`make validate`, `make synth` and `make deploy` report a mistake in one line: the file, the line,
the key, the value and the message. An error refuses the configuration. A warning does not stop the
deployment; [architecture.md](architecture.md#rooms) says how to acknowledge it.
"""
_SECTIONS = """## Sections of a configuration

The same line, for what a section refuses by itself. [configuration.md](configuration.md) has the
type, the limits and the allowed values of each key.
"""
_PREFLIGHT = """## Before a deployment

`make preflight` and `make deploy` look at the account, and change nothing in it. Each line names
the key, the value and the fix, and the AWS CLI command that shows what was found.
"""
_CAUSES = """## Causes of missing nodes

A failed deployment, the output `HyperPodClusterShortage` and `hyperpod-ops` name the cause before
AWS's own words, such as `capacity: We currently do not have sufficient capacity`.
"""
_NODE_GROUPS = """## Causes of failed EKS node groups

A deployment whose EKS node group fails ends with the cause before EKS's own words. `make verify`,
`hyperpod-ops status` and messages name the cause of a group that exists and lacks nodes.
"""
_NODE_GROUP_COLUMNS = ("cause", "what to do", "for a group that exists")
_DEPLOYMENT = """## In a deployment

You find these at the end of `make deploy`, and in the events of the stack as the reason of a
status. Between the message and the next step is what AWS, Helm or Kubernetes said.
"""
_COMMANDS = """## Commands on your machine

A command that cannot do its work ends with one line and exit code 2.
"""

Function = Callable[..., object]
Texts = Callable[[Scope], Iterable[str]]


def render() -> Mapping[Path, str]:
    """Return the page."""
    parts = (
        [_HEADER],
        [_CAUSES, _table(("cause", "what to do"), _causes())],
        [_NODE_GROUPS, _table(_NODE_GROUP_COLUMNS, _of_node_groups())],
        [_DEPLOYMENT, *_deployment()],
        [_COMMANDS, *_commands()],
        [_PREFLIGHT, _table(("validator", "finds", "says"), _validators())],
        [_RULES, _table(("rule", "finds", "says"), _rules())],
        [_SECTIONS, *_sections()],
    )
    return {TARGET: "\n".join(line for part in parts for line in part) + "\n"}


def _causes() -> Iterator[tuple[str, ...]]:
    for cause in CAUSES:
        yield cause.name, cause.next_step.format(log_group=_LOG_GROUP, log_stream=_LOG_STREAM)


def _of_node_groups() -> Iterator[tuple[str, ...]]:
    for cause in node_groups.CAUSES:
        once_there = cause.once_there or "the same"
        yield cause.name, cause.next_step, once_there


def _deployment() -> Iterator[str]:
    by_title: dict[str, list[ErrorText]] = {}
    for file in sorted(_PROVISIONER.rglob("*.py")):
        title = _TITLES.get(file.relative_to(_PROVISIONER).parts[0].removesuffix(".py"), _OTHERS)
        found = [text for scope in scopes(file) for text in scope.failures()]
        by_title.setdefault(title, []).extend(found)
    for title, texts in sorted(by_title.items()):
        if texts:
            rows = [(text.what, text.next_step or "What the message says.") for text in texts]
            yield f"### {title}\n"
            yield _table(("message", "what to do"), dict.fromkeys(rows))


def _commands() -> Iterator[str]:
    yield from _listed(_texts(_CLI / "terminal" / "explained.py", Scope.returned))
    for file in sorted(_CLI.rglob("*.py")):
        yield from _listed(_texts(file, Scope.raised))
    yield ""


def _validators() -> Iterator[tuple[str, ...]]:
    for name, validator in VALIDATORS.items():
        function = validator.function
        yield name, _summary(function), _says(function) or _says(_shared(function))


def _shared(function: Function) -> Function:
    """Return what a validator without messages of its own has from another one's file."""
    found = vars(sys.modules[function.__module__]).values()
    package = function.__module__.rpartition(".")[0]
    return next(
        (
            each
            for each in found
            if inspect.isfunction(each)
            and each.__module__.startswith(f"{package}.")
            and each.__module__ != function.__module__
        ),
        function,
    )


def _rules() -> Iterator[tuple[str, ...]]:
    for rule in ALL_RULES:
        yield rule.__name__, _summary(rule), _says(rule)


def _sections() -> Iterator[str]:
    rules = {_file(rule) for rule in ALL_RULES}
    by_section: dict[str, dict[str, None]] = {}
    for file in sorted(_LIBRARY.rglob("*.py")):
        if file not in rules:
            section = file.relative_to(_LIBRARY).parts[0].removesuffix(".py")
            found = (*_findings(file), *_texts(file, Scope.raised))
            by_section.setdefault(section, {}).update(dict.fromkeys(found))
    for section, texts in by_section.items():
        if texts:
            yield f"### `{section}`\n"
            yield from _listed(texts)
            yield ""


def _says(function: Function) -> str:
    file = _file(function)
    return "<br>".join(map(_shown, dict.fromkeys(_findings(file))))


def _findings(file: Path) -> Iterator[str]:
    yield from _texts(file, Scope.findings)
    yield from filter(_READS_ON.match, _texts(file, Scope.returned))


def _texts(file: Path, texts: Texts) -> list[str]:
    return [*dict.fromkeys(text for scope in scopes(file) for text in texts(scope))]


def _file(function: Function) -> Path:
    return Path(inspect.getsourcefile(function) or "")


def _summary(function: Function) -> str:
    """Return what a function finds: its docstring's first sentence, which begins with Find."""
    first, *_ = re.split(r"(?<=\.)\s", inspect.getdoc(function) or "", maxsplit=1)
    return _shown(first.removeprefix("Find ").rstrip("."))


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return table(heads, ((_shown(first), *others) for first, *others in rows))


def _listed(texts: Iterable[str] | Mapping[str, None]) -> Iterator[str]:
    return (f"- {_shown(text)}" for text in texts)


def _shown(text: str) -> str:
    """Return a text so that Markdown shows it as it is, its code apart."""
    parts = " ".join(text.replace("{told}", "…").split()).split("`")
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"([*_\[\]<|\\])", r"\\\1", parts[index])
    return "`".join(parts).replace("`|`", "`\\|`")
