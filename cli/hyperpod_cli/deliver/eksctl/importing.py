"""Writes the configuration that an eksctl ClusterConfig becomes, and says what it does not have."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from hyperpod_cdk import Config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity, key_path
from hyperpod_cdk.schema.section import findings_of
from hyperpod_cdk.schema.yaml_file import YamlFile, read_yaml
from hyperpod_cli.deliver.eksctl.composition import compose
from hyperpod_cli.deliver.eksctl.reading import Draft, read
from hyperpod_cli.deliver.init.template import schema_comment
from hyperpod_cli.deliver.new_file import refuse_existing, report, write_new
from hyperpod_cli.deliver.yaml_text import YamlText
from hyperpod_cli.terminal.errors import OpsError

_API, _KIND = "eksctl.io/v1alpha5", "ClusterConfig"
_OPTION = "--output"
_WIDTH = 96
_NAME: KeyPath = ("name",)
_GROUPS, _HEAD = "node_groups", "Not carried:"
# What a value is refused for that lacks another one next to it.
_NEEDED_BY = {"capacity_reservation_id": "capacity"}
_COMMENTS: Mapping[KeyPath, str] = {
    ("storage",): "eksctl makes no file system; without this line, one of FSx for Lustre is made, "
    "of 1.2 TiB (docs/storage.md)",
    ("cluster",): "No HyperPod cluster; one may be beside the node groups (docs/node-groups.md)",
}
_wrapped = textwrap.TextWrapper(
    width=_WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
).wrap


def import_cluster_config(source: Path, *, output: Path | None) -> int:
    """Write a configuration from eksctl's file, and say what it could not carry.

    Args:
        source: A ClusterConfig.
        output: The file to write. Default: config/<name>.yaml.

    Raises:
        ConfigError: The source cannot be read, or what cannot be left out of it not be deployed.
        OpsError: It is no ClusterConfig, or the output exists or cannot be written.
    """
    if output is not None:
        refuse_existing(output, option=_OPTION)
    file = read_yaml(source)
    draft = _valid(file, _cluster_config(file))
    path = output or Path("config") / f"{draft.document['name']}.yaml"
    refuse_existing(path, option=_OPTION)
    said = [file.line(_not_carried(finding)) for finding in draft.said]
    config = write_new(_text(draft, file=file, path=path), path=path, option=_OPTION)
    for line in report(config, path=path):
        print(line)
    decisions = [file.line(finding) for _, finding in draft.decisions]
    for head, lines in (("Decide, where the file has a comment:", decisions), (_HEAD, said)):
        if lines:
            print(head)
        for line in lines:
            print(f"  {line}")
    return 0


def _not_carried(finding: Finding) -> Finding:
    return replace(finding, message=f"is not carried: {finding.message}")


def _cluster_config(file: YamlFile) -> Mapping[str, Any]:
    """Return the document of a file that is a ClusterConfig of the API that the table knows."""
    document = file.document
    if document is None:
        raise OpsError(f"{file.path}: is empty; give an eksctl ClusterConfig")
    if not isinstance(document, dict):
        raise OpsError(f"{file.path}: must be a mapping of keys to values, as a {_KIND} is")
    for key, wanted in (("kind", _KIND), ("apiVersion", _API)):
        if document.get(key) != wanted:
            finding = Finding(path=(key,), value=document.get(key), message=f"must be {wanted}")
            raise OpsError(file.line(finding))
    name = _at(document, ("metadata", "name"))
    if not isinstance(name, str) or not name:
        message = "is missing: a ClusterConfig has the name of its cluster"
        raise OpsError(file.line(Finding(path=("metadata", "name"), value=name, message=message)))
    return document


def _valid(file: YamlFile, source: Mapping[str, Any]) -> Draft:
    """Return what can be deployed of a ClusterConfig; what cannot is taken out and said.

    Raises:
        OpsError: Too little can be deployed.
    """
    draft = read(source)
    compose(draft, source)
    while refused := next(_refused(draft.document), None):
        place = _removable(draft, refused.path)
        if place is None:
            raise OpsError(f"{file.path}: cannot be carried: {refused.within(draft.document)}")
        [origin, *_] = [
            at
            for path, at in draft.origins.items()
            if path[: len(place)] == place or place[: len(path)] == path
        ]
        draft.remove(place)
        message = refused.message
        draft.decide(place[:-1], origin=origin, value=_at(source, origin), message=message)
    return draft


def _refused(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what keeps a document from being deployed."""
    try:
        config = Config.model_validate(document)
    except ValidationError as error:
        yield from findings_of(error, model=Config)
        return
    yield from (found for found in findings(config) if found.severity is Severity.ERROR)


def _removable(draft: Draft, path: KeyPath) -> KeyPath | None:
    """Return what to take out for a finding: the value that was carried, or what lacks another."""
    if path == (_GROUPS,):
        # One group must take the pods of add-ons, which tolerate no taints.
        return next((each for each in draft.origins if each[-1] == "taints"), None)
    needing = (*path[:-1], _NEEDED_BY.get(str(path[-1])))
    carried = [
        each for each in draft.origins if each != _NAME and each in (path[: len(each)], needing)
    ]
    if carried:
        return max(carried, key=lambda each: (each == path, len(each)))
    for length in range(len(path), 0, -1):
        place = path[:length]
        if any(each[:length] == place for each in draft.origins if each != _NAME):
            return place
    return None


def _at(source: object, path: KeyPath) -> object:
    for step in path:
        if isinstance(source, Mapping):
            source = source.get(str(step))
        elif isinstance(source, list) and isinstance(step, int):
            source = source[step]
    return source


def _text(draft: Draft, *, file: YamlFile, path: Path) -> str:
    """Return the text of a file: the document with a comment for each decision."""
    document = {key: draft.document[key] for key in Config.model_fields if key in draft.document}
    groups = [
        {key: group[key] for key in ManagedNodeGroupConfig.model_fields if key in group}
        for group in document.get(_GROUPS, ())
    ]
    text = yaml.safe_dump(
        document | ({_GROUPS: groups} if groups else {}),
        sort_keys=False,
        default_flow_style=None,
        width=_WIDTH,
    )
    written = YamlText(text)
    decisions = [(at, _about(finding, file=file)) for at, finding in draft.decisions]
    for at, comment in (*_COMMENTS.items(), *decisions):
        written.add_comment(at or _NAME, _wrapped(comment))
    head = [f"Written by `hyperpod-cdk import-eksctl {file.path.name}`."]
    if draft.said:
        head += ["", _HEAD, *(_about(finding, file=file) for finding in draft.said)]
    lines = [schema_comment(path), "#"]
    lines += [f"# {line}".rstrip() for each in head for line in _wrapped(each) or [""]]
    return "\n".join([*lines, "", written.text])


def _about(finding: Finding, *, file: YamlFile) -> str:
    """Write a finding without its value, which may be a text of several lines."""
    return f"{key_path(finding.within(file.document).path)}: {finding.message}"
