"""The texts of errors, as the code has them: `…` stands for a name or a value."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_VALUE = "…"
_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")
_MESSAGE = "message"
_PLACE_OF_MESSAGE = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorText:
    """What an error says: what is wrong, and what to do, where the first does not say it."""

    what: str
    next_step: str = ""


class Scope:
    """A function, or what stands outside of functions, and what its names are assigned."""

    def __init__(self, nodes: Sequence[ast.AST], *, outside: "Scope | None" = None) -> None:
        self._nodes = nodes
        self._outside = outside
        self._assigned: dict[str, list[ast.expr]] = {}
        for name, value in (pair for node in nodes for pair in _assignments(node)):
            self._assigned.setdefault(name, []).append(value)

    def failures(self) -> Iterator[ErrorText]:
        """Yield what calls with a next step say, as the provisioner's failures are made."""
        for call in self._calls():
            keywords = {each.arg: each.value for each in call.keywords}
            first = call.args[0] if call.args else keywords.get("what")
            if first is None or "next_step" not in keywords:
                continue
            steps = [each for each in self.texts(keywords["next_step"]) if is_told(each)]
            for what in filter(is_told, self.texts(first)):
                yield ErrorText(what=what, next_step=" Or: ".join(dict.fromkeys(steps)))

    def raised(self) -> Iterator[str]:
        """Yield what errors say that are raised with one text."""
        for node in self._nodes:
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                yield from filter(is_told, self.texts(node.exc.args[0]))

    def findings(self) -> Iterator[str]:
        """Yield what findings about a configuration say after the value."""
        for call in self._calls():
            messages = [each.value for each in call.keywords if each.arg == _MESSAGE]
            # As `error` and `warning` take it, and helpers that make the finding.
            messages += call.args[_PLACE_OF_MESSAGE : _PLACE_OF_MESSAGE + 1]
            messages += [each for each in call.args if _names(each) == {_MESSAGE}]
            for message in messages:
                yield from filter(is_told, self.texts(message))

    def returned(self) -> Iterator[str]:
        """Yield the texts that are returned, or looked up in a table."""
        for node in self._nodes:
            values = node.values if isinstance(node, ast.Dict) else []
            if isinstance(node, ast.Return) and node.value is not None:
                values = [node.value]
            for value in values:
                yield from filter(is_told, self.texts(value))

    def texts(self, node: ast.expr) -> Sequence[str]:
        """Return what an expression may come to."""
        match node:
            case ast.Constant(value=str() as text):
                return [text]
            case ast.JoinedStr(values=parts):
                return ["".join(map(self._part, parts))]
            case ast.IfExp(body=one, orelse=other):
                return [*self.texts(one), *self.texts(other)]
            case ast.BoolOp(values=values):
                return [text for value in values for text in self.texts(value)]
            case ast.Name(id=name):
                return self._texts_of_name(name)
        return [_VALUE]

    def _texts_of_name(self, name: str) -> Sequence[str]:
        # A value that is made of the name's former one tells nothing new.
        values = [each for each in self._assigned.get(name, []) if name not in _names(each)]
        if not values:
            return [_VALUE] if self._outside is None else self._outside._texts_of_name(name)
        return [text for value in values for text in self.texts(value)]

    def _part(self, part: ast.expr) -> str:
        match part:
            case ast.Constant(value=str() as text):
                return text
            case ast.FormattedValue(value=ast.Name() as name):
                found = self.texts(name)
                return found[0] if len(found) == 1 else _VALUE
        return _VALUE

    def _calls(self) -> Iterator[ast.Call]:
        return (node for node in self._nodes if isinstance(node, ast.Call))


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            for target, value in zip(names, values, strict=True):
                if isinstance(target, ast.Name):
                    yield target.id, value


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def scopes(file: Path) -> Iterator[Scope]:
    """Yield the scopes of a module: each function, those inside of it among its nodes."""
    outside, functions = _divided(ast.parse(file.read_text(encoding="utf-8")))
    module = Scope(outside)
    yield module
    for function in functions:
        yield Scope([*ast.walk(function)], outside=module)


def _divided(tree: ast.AST) -> tuple[list[ast.AST], list[ast.FunctionDef]]:
    nodes: list[ast.AST] = []
    functions: list[ast.FunctionDef] = []
    waiting = [*ast.iter_child_nodes(tree)]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef):
            functions.append(node)
        else:
            nodes.append(node)
            waiting.extend(ast.iter_child_nodes(node))
    return nodes, functions


def is_told(text: str) -> bool:
    """Return whether a text has words of its own, and is no command."""
    return _WORDS.search(text) is not None and not text.startswith("aws ")
