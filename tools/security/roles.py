"""Reading the IAM roles of a cloud assembly: who assumes each, its statements, their reasons."""

import json
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk.synthesis.reasons import REASON
from hyperpod_cli.aws.assembly import Value, stacks_by_name

# What CDK appends to a logical id to make it unique.
_HASH = re.compile(r"[0-9A-F]{8}$")
StatementKey = tuple[str, frozenset[str]]
_IN_SUB = re.compile(r"\$\{([^!}.]+)(\.[^}]+)?\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One statement of a policy.

    Its name is its Sid without a number at its end, or else its first action. Of its resources,
    `<S3::Bucket.Arn>` stands for an attribute of a resource of the templates. The conditions are by
    operator and condition key.
    """

    name: str
    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, tuple[str, ...]]]

    @property
    def key(self) -> StatementKey:
        """What tells it from statements of other roles with its name."""
        return self.name, frozenset(self.actions)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why a statement is there: a sentence, and the keys of the configuration that add it.

    Of one that is always there, there are no such keys.
    """

    name: str
    actions: tuple[str, ...]
    why: str
    added_by: str | None

    @property
    def key(self) -> StatementKey:
        """The statement's."""
        return self.name, frozenset(self.actions)


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """A role of the templates, by its logical id without what makes it unique.

    `trust` says who assumes it, and under which conditions each does. The statements are of all
    policies on it that AWS does not manage, those of other stacks included.
    """

    name: str
    trust: Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
    managed_policies: tuple[str, ...]
    statements: tuple[Statement, ...]


def read_reasons(assemblies: Iterable[Path]) -> list[Reason]:
    """Read why the statements of assemblies are there, each once, by what adds them and name."""
    found: dict[StatementKey, Reason] = {}
    for data in (each for assembly in assemblies for each in _reasons(assembly)):
        reason = Reason(
            name=data["sid"].rstrip(string.digits),
            actions=tuple(data["actions"]),
            why=data["why"],
            added_by=data.get("added_by"),
        )
        found[reason.key] = reason
    return sorted(found.values(), key=lambda each: (each.added_by or "", each.name))


def _reasons(assembly: Path) -> Iterator[Value]:
    """Yield what constructs of an assembly have said of one kind."""
    for path in assembly.glob("*.metadata.json"):
        for entries in json.loads(path.read_text("utf-8")).values():
            yield from (each["data"] for each in entries if each["type"] == REASON)


def read_roles(assembly: Path) -> list[Role]:
    """Read the roles of every stack that the last synthesis wrote into a directory, by name."""
    templates = {each.name: each.template for each in stacks_by_name(assembly)}
    exports = {
        output["Export"]["Name"]: (stack, output["Value"])
        for stack, template in templates.items()
        for output in template.get("Outputs", {}).values()
        if "Export" in output
    }
    reader = _Reader(
        types={
            (stack, name): resource["Type"]
            for stack, template in templates.items()
            for name, resource in template["Resources"].items()
        },
        exports=exports,
    )
    rights: dict[tuple[str, str], list[Statement]] = {}
    for stack, template in templates.items():
        for name, resource in template["Resources"].items():
            properties = resource.get("Properties", {})
            if resource["Type"] == "AWS::IAM::Policy":
                owners = [reader.address(stack, role) for role in properties["Roles"]]
                documents = [properties["PolicyDocument"]]
            elif resource["Type"] == "AWS::IAM::Role":
                owners = [(stack, name)]
                documents = [item["PolicyDocument"] for item in properties.get("Policies", [])]
            else:
                continue
            for owner in owners:
                own = rights.setdefault(owner, [])
                for document in documents:
                    own.extend(reader.statements(stack, document))
    return sorted(
        (
            reader.role(stack, name, templates[stack]["Resources"][name]["Properties"], statements)
            for (stack, name), statements in rights.items()
        ),
        key=lambda role: role.name,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reader:
    """Resolves what a value of a template refers to."""

    types: Mapping[tuple[str, str], str]
    exports: Mapping[str, tuple[str, Value]]

    def role(
        self, stack: str, name: str, properties: Value, statements: Sequence[Statement]
    ) -> Role:
        document = self.document(stack, properties["AssumeRolePolicyDocument"])
        managed = [self.text(stack, arn) for arn in properties.get("ManagedPolicyArns", [])]
        return Role(
            name=_HASH.sub("", name),
            trust={
                self.text(stack, principal): self.conditions(stack, each)
                for each in document["Statement"]
                for principal in each["Principal"].values()
            },
            managed_policies=tuple(arn.partition(":policy/")[2] for arn in managed),
            statements=tuple(statements),
        )

    def document(self, stack: str, document: Value) -> Value:
        """Return a policy, which may be a text with values in it."""
        match document:
            case {"Fn::Sub": [str(pattern), values]}:
                known = {name: self.text(stack, _whole(each)) for name, each in values.items()}
                return json.loads(_IN_SUB.sub(lambda found: known[found[1]], pattern))
        return document

    def statements(self, stack: str, document: Value) -> Iterator[Statement]:
        for body in document["Statement"]:
            actions = tuple(_listed(body["Action"]))
            yield Statement(
                name=body.get("Sid", actions[0]).rstrip(string.digits),
                effect=body["Effect"],
                actions=actions,
                resources=tuple(self.text(stack, arn) for arn in _listed(body["Resource"])),
                conditions=self.conditions(stack, body),
            )

    def conditions(
        self, stack: str, statement: Value
    ) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        return {
            operator: {
                key: tuple(self.text(stack, value) for value in _listed(values))
                for key, values in keys.items()
            }
            for operator, keys in statement.get("Condition", {}).items()
        }

    def address(self, stack: str, value: Value) -> tuple[str, str]:
        match value:
            case {"Fn::ImportValue": str(name)}:
                return self.address(*self.exports[name])
            case {"Ref": str(name)}:
                return stack, name
        raise ValueError(f"no reference to a role: {value!r}")

    def text(self, stack: str, value: Value) -> str:
        match value:
            case {"Fn::ImportValue": str(name)}:
                return self.text(*self.exports[name])
            case {"Fn::Join": [separator, parts]}:
                return str(separator).join(self.text(stack, part) for part in parts)
            case {"Fn::Sub": str(pattern)}:
                return _IN_SUB.sub(
                    lambda found: f"<{self._type(stack, found[1])}{found[2] or ''}>", pattern
                )
            case {"Ref": str(name)}:
                return f"<{self._type(stack, name)}>"
            case {"Fn::GetAtt": [name, attribute]}:
                return f"<{self._type(stack, name)}.{attribute}>"
            case str():
                return value
        raise ValueError(f"no text: {value!r}")

    def _type(self, stack: str, name: str) -> str:
        return self.types.get((stack, name), name).removeprefix("AWS::")


def _whole(value: Value) -> Value:
    """Return of what a value is a part; the part itself is known on AWS alone."""
    match value:
        case {"Fn::Select": [_, {"Fn::Split": [_, whole]}]}:
            return whole
    return value


def _listed(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]
