"""Reading a CloudFormation template: resources by type, what refers to what, texts with tokens."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.template_parts import references


class TemplateView:
    """A template as tests look at it: no logical id has to be known."""

    def __init__(self, template: Mapping[str, Any]) -> None:
        self.resources: Mapping[str, dict[str, Any]] = template["Resources"]
        self.outputs: Mapping[str, Any] = template.get("Outputs", {})

    def ids(self, resource_type: str, **properties: object) -> list[str]:
        """Return the logical ids of a type's resources that have the given properties."""
        return [
            name
            for name, resource in self.resources.items()
            if resource["Type"] == resource_type
            and all(resource["Properties"].get(key) == value for key, value in properties.items())
        ]

    def id(self, resource_type: str, **properties: object) -> str:
        """Return the logical id of the only such resource."""
        (name,) = self.ids(resource_type, **properties)
        return name

    def all(self, resource_type: str, **properties: object) -> list[dict[str, Any]]:
        """Return the properties of a type's resources."""
        return [
            self.resources[name].get("Properties", {})
            for name in self.ids(resource_type, **properties)
        ]

    def one(self, resource_type: str, **properties: object) -> dict[str, Any]:
        """Return the properties of the only such resource."""
        result: dict[str, Any] = self.resources[self.id(resource_type, **properties)]["Properties"]
        return result

    def dependencies(self, name: str) -> set[str]:
        """Return the logical ids of everything that must exist before a resource."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for reference in self._references(waiting.pop()) - found:
                found.add(reference)
                waiting.append(reference)
        return found

    def dependency_types(self, name: str) -> set[str]:
        """Return the types of everything that must exist before a resource."""
        return {self.resources[dependency]["Type"] for dependency in self.dependencies(name)}

    def _references(self, name: str) -> set[str]:
        resource = self.resources[name]
        explicit = resource.get("DependsOn", [])
        named = {explicit} if isinstance(explicit, str) else set(explicit)
        return {*named, *references(resource.get("Properties", {}))} & self.resources.keys()

    def text(self, value: object) -> str:
        """Return a value with `<type>` or `<type.attribute>` in place of each reference."""
        match value:
            case str(text):
                written = text
            case {"Ref": str(name)}:
                written = f"<{self._name(name)}>"
            case {"Fn::GetAtt": [str(name), str(attribute)]}:
                written = f"<{self._name(name)}.{attribute}>"
            case {"Fn::ImportValue": str(name)}:
                written = f"<output {name.rpartition(':')[2]}>"
            case {"Fn::Join": [str(separator), [*parts]]}:
                written = separator.join(self.text(part) for part in parts)
            case {"Fn::Select": [int(index), {"Fn::Split": [str(separator), whole]}]}:
                written = f"<{self.text(whole)} split at {separator}, {index}>"
            case {"Fn::Sub": str(text)}:
                written = re.sub(r"\$\{([^}]+)\}", r"<\1>", text)
            case _:
                raise ValueError(f"not a text: {value!r}")
        return written

    def exported(self, name: str) -> object:
        """Return the value that the stack exports under a name."""
        (value,) = (
            output["Value"]
            for output in self.outputs.values()
            if output.get("Export") == {"Name": name}
        )
        return value

    def _name(self, name: str) -> str:
        return self.resources[name]["Type"] if name in self.resources else name

    def statements(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the type of each resource with a policy, and each statement of its policies."""
        for resource in self.resources.values():
            properties = resource.get("Properties", {})
            inline = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
            own = [properties["PolicyDocument"]] if "PolicyDocument" in properties else []
            for document in [*own, *inline]:
                for statement in document["Statement"]:
                    yield resource["Type"], statement

    def statement(self, sid: str) -> dict[str, Any]:
        """Return the only statement with a Sid."""
        (found,) = [item for _, item in self.statements() if item.get("Sid") == sid]
        return found


def listed(value: object) -> list[Any]:
    """Return a policy element that may be one value or a list as a list."""
    return value if isinstance(value, list) else [value]
