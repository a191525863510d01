"""Writes the configuration that an eksctl ClusterConfig becomes, and says what it does not have."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk import Config
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity, key_path
from hyperpod_cdk.schema.yaml_file import YamlFile, read_yaml
from hyperpod_cli.deliver.eksctl.composition import compose
from hyperpod_cli.deliver.eksctl.reading import Draft, read, value_at
from hyperpod_cli.deliver.init.template import schema_comment
from hyperpod_cli.deliver.new_file import refuse_existing, refused, report, write_new
from hyperpod_cli.deliver.yaml_text import YamlText
from hyperpod_cli.terminal.errors import LinesError, OpsError

_API, _KIND = "eksctl.io/v1alpha5", "ClusterConfig"
_OPTION = "--output"
_WIDTH = 96
_NAME: KeyPath = ("name",)
_GROUPS, _HEAD = "node_groups", "Not carried:"
_THEIR_GROUPS = ("managedNodeGroups", "nodeGroups")
_NO_GROUP = (
    "managedNodeGroups: no group can be carried; list one with a name and an instanceType, or "
    "write a configuration with a HyperPod cluster by `make init`"
)
# What a value is refused for that lacks another one next to it.
_NEEDED_BY = {"capacity_reservation_id": "capacity"}
_COMMENTS: Mapping[KeyPath, str] = {
    ("storage",): "eksctl makes no file system; without this line, one of FSx for Lustre is made, "
    "of 1.2 TiB (docs/storage.md)",
    ("cluster",): "No HyperPod cluster; one can be added to the node groups (docs/node-groups.md)",
}
_wrapped = textwrap.TextWrapper(
    width=_WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
).wrap


def import_cluster_config(source: Path, *, output: Path | None) -> int:
    """Write a configuration from eksctl's file, and say what it could not carry."""
    if output is not None:
        refuse_existing(output, option=_OPTION)
    file = read_yaml(source)
    draft = _valid(file, _cluster_config(file))
    path = output or Path("config") / f"{draft.document['name']}.yaml"
    refuse_existing(path, option=_OPTION)
    said = [file.line(_not_carried(finding)) for finding in draft.said]
    config = write_new(_text(draft, file=file, path=path), path=path, option=_OPTION)
    decisions = [file.line(finding) for _, finding in draft.decisions]
    heads = ((_HEAD, said), ("Decide first, where the file has a comment:", decisions))
    before = [line for head, lines in heads if lines for line in (head, *(f"  {x}" for x in lines))]
    print("\n".join(report(config, path=path, before_next=before)))
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
    name = value_at(document, ("metadata", "name"))
    if not isinstance(name, str) or not name:
        message = "is missing: a ClusterConfig has the name of its cluster"
        raise OpsError(file.line(Finding(path=("metadata", "name"), value=name, message=message)))
    return document


def _valid(file: YamlFile, source: Mapping[str, Any]) -> Draft:
    """Return what can be deployed of a ClusterConfig; what cannot is taken out and said."""
    draft = read(source)
    compose(draft, source)
    while refusal := next(refused(draft.document), None):
        if not draft.document.get(_GROUPS):
            raise LinesError("\n".join((*_why_no_group(draft, file), f"{file.path}: {_NO_GROUP}")))
        place = _removable(draft, refusal.path)
        if place is None:
            raise OpsError(f"{file.path}: cannot be carried: {refusal.within(draft.document)}")
        origins = [
            at
            for path, at in draft.origins.items()
            if path[: len(place)] == place or place[: len(path)] == path
        ]
        origin = _shared(origins) or origins[0]
        is_carried = place in draft.origins
        draft.remove(place)
        draft.decide(
            place[:-1],
            origin=origin,
            value=value_at(source, origin),
            message=_why_left_out(refusal, place=place, is_carried=is_carried),
            severity=Severity.ERROR,
        )
    return draft


def _why_left_out(refused: Finding, *, place: KeyPath, is_carried: bool) -> str:
    """Return what is said of a value, or of several for which one of them was refused."""
    if is_carried and refused.path[: len(place)] == place:
        return refused.message
    shared = len(_shared([refused.path, place]))
    inner = refused.path[len(place) :] or refused.path[shared:] or refused.path
    return f"is left out: {key_path(inner)} {refused.message}"


def _shared(paths: Sequence[KeyPath]) -> KeyPath:
    """Return what several paths begin with."""
    are_alike = takewhile(lambda steps: len({*steps}) == 1, zip(*paths, strict=False))
    return tuple(steps[0] for steps in are_alike)


def _why_no_group(draft: Draft, file: YamlFile) -> Iterator[str]:
    """Yield why each group was left out."""
    for _, finding in draft.decisions:
        if finding.severity is Severity.ERROR:
            yield file.line(finding)
    for finding in draft.said:
        if finding.path[0] in _THEIR_GROUPS:
            yield file.line(_not_carried(finding))


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


def _there(document: object, path: KeyPath) -> KeyPath:
    """Return the nearest place of a document to write a comment at."""
    found: KeyPath = ()
    for step in path:
        inside = value_at(document, found)
        is_there = step in inside if isinstance(inside, Mapping) else isinstance(inside, list)
        if not is_there:
            break
        found = (*found, step)
    return found or _NAME


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
        written.add_comment(_there(document, at), _wrapped(comment))
    head = [f"Written by `hyperpod-cdk import-eksctl {file.path.name}`."]
    if draft.said:
        head += ["", _HEAD, *(_about(finding, file=file) for finding in draft.said)]
    lines = [schema_comment(path), "#"]
    lines += [f"# {line}".rstrip() for each in head for line in _wrapped(each) or [""]]
    return "\n".join([*lines, "", written.text])


def _about(finding: Finding, *, file: YamlFile) -> str:
    """Write a finding without its value, which may be a text of several lines."""
    return f"{key_path(finding.within(file.document).path)}: {finding.message}"
