"""Mistakes, each of which a history must show: `make mutants` puts them into the provisioner.

A mutant that survives says that a history is not drawn, or that nothing is compared.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[3] / "lambda/provisioner"
_MOST_HISTORIES, _FIRST_SEED = 3000, 500_001


class Mutant(NamedTuple):
    """A mistake: what a file of the provisioner, says instead."""

    name: str
    file: str
    text: str
    instead: str


MUTANTS = (
    Mutant(
        "a request that is given up goes on",
        "framework/turn.py",
        "        if is_newer or is_answered:\n",
        "        if False:\n",
    ),
    Mutant(
        "a late read of the own call is believed",
        "hyperpod/look.py",
        "return self.own is not None and self.own.is_fresh(self.now)",
        "return False",
    ),
    Mutant(
        "a call of the request before is taken for shown",
        "hyperpod/look.py",
        "return self._hides(self.notes.former)",
        "return False",
    ),
    Mutant(
        "a cluster that is not shown is taken for gone",
        "hyperpod/decision.py",
        "    (Look.hides_any_call, _NOT_SHOWN),\n",
        "",
    ),
    Mutant(
        "a call is noted after it",
        "hyperpod/cluster.py",
        '        self._note(notes.calling(call))\n        log.info("updating"',
        '        log.info("updating"',
    ),
    Mutant(
        "a lost answer is taken for yes",
        "hyperpod/cluster.py",
        'log.info("not known to be made", cluster=self.api.name, cause=str(error))',
        "call = replace(call, answered=True)",
    ),
    Mutant(
        "a call without an answer is not repeated",
        "hyperpod/look.py",
        "return made is None or not (made.answered or made.is_fresh(self.now))",
        "return made is None",
    ),
    Mutant(
        "what was there before is not noted",
        "hyperpod/notes.py",
        "before=before, was=note)",
        "before=None, was=None)",
    ),
    Mutant(
        "what a rollback leaves is not noted",
        "hyperpod/notes.py",
        "return replace(self, groups=kept | notes)",
        "return replace(self, groups=kept)",
    ),
    Mutant(
        "an update's event is taken for its rollback's",
        "framework/operation.py",
        "if properties == request.old_properties != wanted:",
        "if False:",
    ),
    Mutant(
        "late events are not waited for",
        "framework/turn.py",
        "if not (is_late and can_wait):",
        "if True:",
    ),
    Mutant(
        "a deletion that sees nothing is done",
        "hyperpod/decision.py",
        "_GONE: Rows = (\n",
        "_GONE: Rows = (\n    (Look.is_deletion, Done()),\n",
    ),
    Mutant(
        "AMIs are patched before the update",
        "hyperpod/look.py",
        "self.todo.update and self._is_due(UPDATE)",
        "self.todo.update and not any(one.groups for _, one in self.todo.software)",
    ),
    Mutant(
        "a request waits for more than an hour",
        "framework/resource.py",
        "_LONGEST_WAIT_SECONDS = 3480.0",
        "_LONGEST_WAIT_SECONDS = 3700.0",
    ),
    Mutant(
        "a request that is throttled as it begins fails",
        "framework/resource.py",
        "if not is_transient(error) or (is_unreached(error) and can_fail):",
        "if True:",
    ),
    Mutant(
        "another stack's cluster is taken for the own one",
        "hyperpod/look.py",
        "return not is_own(self.tags)",
        "return False",
    ),
    Mutant(
        "a rollback asks for the template's number",
        "hyperpod/changes.py",
        'counts[name] = max(note.before, details.get("MinCount") or 0)',
        "counts[name] = groups_of(aim.wanted).get(name, {}).get(COUNT, note.before)",
    ),
    Mutant(
        "what HyperPod takes back is not told",
        "hyperpod/look.py",
        'return "took its update back" if lacks or edited else ""',
        'return ""',
    ),
)


def mutate(mutant: Mutant, folder: Path) -> None:
    """Make the mistake in a copy of the provisioner.

    Raises:
        ValueError: The file does not say what the mutant replaces, or says it twice.
    """
    file = folder / mutant.file
    code = file.read_text("utf-8")
    if code.count(mutant.text) != 1:
        raise ValueError(f"{mutant.name}: {file} has its text {code.count(mutant.text)} times")
    file.write_text(code.replace(mutant.text, mutant.instead), "utf-8")


def fate(mutant: Mutant) -> str:
    """Return what histories say of a mutant: which one violates what, or that every rule held."""
    with tempfile.TemporaryDirectory() as folder:
        mutate(mutant, shutil.copytree(SOURCE, Path(folder) / SOURCE.name))
        play = [sys.executable, "-m", "tests.provisioner.histories", "--until-violated"]
        seeds = ["--count", str(_MOST_HISTORIES), "--seed", str(_FIRST_SEED)]
        ended = subprocess.run(
            [*play, *seeds],
            env={**os.environ, "PYTHONPATH": folder},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if not ended.stdout:
        raise RuntimeError(f"{mutant.name}: its histories ended with {ended.returncode}")
    return ended.stdout.splitlines()[0]


def main() -> int:
    """Print the fate of each mutant, and return 1 if one survives."""
    survivors = 0
    for mutant in MUTANTS:
        if any(word not in mutant.name for word in sys.argv[1:]):
            continue
        told = fate(mutant)
        survivors += told.startswith("every rule held")
        print(f"{mutant.name}: {told}", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
