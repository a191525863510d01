"""Plays histories: `python -m tests.provisioner.histories --count 1000 --seed 1`."""

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

from tests.provisioner.histories.history import Outcome, play
from tests.provisioner.histories.invariants import Rule
from tests.provisioner.histories.planning import PROFILES, SUBJECTS, planned
from tests.provisioner.histories.recorded import read, replayed
from tests.provisioner.histories.shrink import printed, shrunk

_PROGRESS_SECONDS = 10.0


def main() -> int:
    """Play them, and print the first violation of each kind as small as it gets."""
    parser = argparse.ArgumentParser(prog="python -m tests.provisioner.histories")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", choices=PROFILES)
    parser.add_argument("--subject", choices=SUBJECTS)
    parser.add_argument("--whole", action="store_true", help="print histories as they are")
    parser.add_argument("--until-violated", action="store_true", help="end at the first violation")
    parser.add_argument("--recorded", type=Path, help="replay what `hyperpod-cdk record` wrote")
    options = parser.parse_args()
    if options.recorded:
        print(*replayed(read(options.recorded)), sep="\n")
        return 0
    kinds: dict[tuple[str, str], list[Outcome]] = {}
    violated = 0
    gc.freeze()  # what is imported stays, and most of a history is garbage at once
    gc.set_threshold(50_000)
    began = said = time.monotonic()
    used = time.process_time()
    for number, seed in enumerate(range(options.seed, options.seed + options.count)):
        outcome = play(planned(seed, profile=options.profile, subject=options.subject))
        if options.until_violated and outcome.violations:
            print(f"history {number + 1} (seed {seed}): {outcome.violations[0].kind}")
            return 1
        violated += bool(outcome.violations)
        for key in {(one.invariant.name, one.kind) for one in outcome.violations}:
            kinds.setdefault(key, []).append(outcome)
        if time.monotonic() - said > _PROGRESS_SECONDS:
            said = time.monotonic()
            which = "; ".join(map(_seeds, kinds.values()))
            print(f"{number + 1} histories, {violated} with violations {which}", file=sys.stderr)
    passed, used = time.monotonic() - began, time.process_time() - used
    for (_, kind), outcomes in sorted(kinds.items(), key=itemgetter(0)):
        first = outcomes[0] if options.whole else shrunk(outcomes[0], kind=kind)
        print(printed(first), end="\n\n")
    held = f"every rule held in {options.count - violated} of {options.count} simulated histories"
    pace = options.count / passed * 60, options.count / used * 60
    print(f"{held}, {pace[0]:.0f} a minute, {pace[1]:.0f} a minute of CPU time")
    for (rule_name, kind), outcomes in sorted(kinds.items(), key=itemgetter(0)):
        print(f"{len(outcomes):6}  {rule_name} {kind}  ({_seeds(outcomes)})")
    for rule in Rule:
        if not any(name == rule.name for name, _ in kinds):
            print(f"    ok  {rule.name} {rule.value}")
    return 1 if violated else 0


def _seeds(outcomes: Sequence[Outcome]) -> str:
    """Return the first seeds."""
    return f"seeds {', '.join(str(one.plan.seed) for one in outcomes[:5])}"


if __name__ == "__main__":
    sys.exit(main())
