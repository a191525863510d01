"""A cohort as Kueue counts it: what each team may still use, and its share of what is borrowed.

https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#cohort
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Kind = tuple[str, str]
"""A flavor and a resource of it, such as an instance type and its accelerators."""
Requests = tuple[tuple[Kind, int], ...]
"""How much a job takes of each kind, all of it or nothing."""
Share = tuple[bool, float]
"""How much of what can be borrowed a team has; the greater has too much."""

_UNLIMITED = 2**63


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """What a team has of a kind.

    Attributes:
        borrowing: The most that it borrows. Default: all that others lend.
        lending: The most that it lends. Default: all.
    """

    nominal: int
    borrowing: int | None = None
    lending: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """A team: a ClusterQueue.

    Attributes:
        quotas: What it has of each kind. It can use no other kind.
        weight: Its part of what is borrowed, in relation to other teams'.
        preempts_own: Whether its jobs of lower priority make room for its others.
    """

    name: str
    quotas: Mapping[Kind, Quota]
    weight: float = 1
    preempts_own: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job of the list.

    Attributes:
        priority: The greater goes first.
        submitted: When, in seconds.
        seconds: How long it runs.
    """

    name: str
    team: str
    priority: int
    requests: Requests
    submitted: int
    seconds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The quotas of a cluster.

    Attributes:
        pool: What is in no team's quota, and is lent.
        fair_share: Whether teams borrow by their weights; else the first that asks does.
    """

    teams: tuple[Team, ...]
    pool: Mapping[Kind, int] = field(default_factory=dict)
    fair_share: bool = True


@dataclass(kw_only=True, slots=True)
class _Line:
    """What is counted of a team and a kind.

    Attributes:
        kept: What of it others never get.
        most: The most that it may use.
    """

    nominal: int
    kept: int
    most: int
    used: int = 0

    @property
    def shared(self) -> int:
        return max(0, self.used - self.kept)


_NOTHING = _Line(nominal=0, kept=0, most=0)
"""What a team has of a kind of which it has no quota."""


class Cohort:
    """What the teams of a cohort use."""

    def __init__(self, rules: Rules) -> None:
        self._weights = {team.name: team.weight for team in rules.teams}
        self._lines = {
            team.name: {kind: _line(quota) for kind, quota in team.quotas.items()}
            for team in rules.teams
        }
        self._lendable = Counter(rules.pool)
        for lines in self._lines.values():
            for kind, line in lines.items():
                self._lendable[kind] += line.nominal - line.kept
        self._lent = Counter[Kind]()
        self._shares: dict[str, Share] = {}
        # Shares are by resource, whatever its flavor.
        self._lendable_resource = Counter[str]()
        for (_, resource), amount in self._lendable.items():
            self._lendable_resource[resource] += amount

    def reach(self, team: str, kind: Kind) -> int:
        """Return the most that a team can use of a kind while no one else uses any."""
        line = self._lines[team].get(kind, _NOTHING)
        return min(line.kept + self._lendable[kind], line.most)

    def available(self, team: str, kind: Kind) -> int:
        """Return what a team may use of a kind besides what it uses."""
        line = self._lines[team].get(kind, _NOTHING)
        left = self._lendable[kind] - self._lent[kind]
        room = line.most - max(line.used, line.kept)
        return max(0, line.kept - line.used) + min(left, room)

    def fits(self, team: str, requests: Requests, *, borrows: bool = True) -> bool:
        """Tell whether a job of a team fits, or if it must not borrow, in its quota."""
        is_there = all(amount <= self.available(team, kind) for kind, amount in requests)
        return is_there and (borrows or self.is_within_quota(team, requests))

    def is_within_quota(self, team: str, requests: Requests = ()) -> bool:
        """Tell whether what a team uses is in its quota, with these requests, for their kinds."""
        lines = self._lines[team]
        return all(
            kind in lines and lines[kind].used + amount <= lines[kind].nominal
            for kind, amount in requests
        )

    def nominal(self, team: str, kind: Kind) -> int:
        """Return a team's quota of a kind."""
        return self._lines[team].get(kind, _NOTHING).nominal

    def used(self, team: str, kind: Kind) -> int:
        """Return what a team uses of a kind."""
        return self._lines[team].get(kind, _NOTHING).used

    def borrows(self, team: str, kinds: Iterable[Kind]) -> bool:
        """Tell whether a team uses more than its quota of one of some kinds."""
        lines = self._lines[team]
        return any(kind in lines and lines[kind].used > lines[kind].nominal for kind in kinds)

    def share(self, team: str, *, more: Requests = (), less: Requests = ()) -> Share:
        """Return a team's share: its greatest part of what can be borrowed, by its weight.

        That is with `more` used besides, and `less` no more.

        https://kueue.sigs.k8s.io/docs/concepts/preemption/#clusterqueue-share-value
        """
        if not more and not less:
            known = self._shares.get(team)
            if known is None:
                known = self._shares[team] = self._share(team, {})
            return known
        change = dict(more)
        for kind, amount in less:
            change[kind] = change.get(kind, 0) - amount
        return self._share(team, change)

    def _share(self, team: str, change: Mapping[Kind, int]) -> Share:
        borrowed: dict[str, int] = {}
        for kind, line in self._lines[team].items():
            over = line.used - line.nominal + change.get(kind, 0)
            if over > 0:
                borrowed[kind[1]] = borrowed.get(kind[1], 0) + over
        if not borrowed:
            return False, 0.0
        ratio = max(
            amount / max(1, self._lendable_resource[resource])
            for resource, amount in borrowed.items()
        )
        weight = self._weights[team]
        # Who borrows with no weight is behind everybody else.
        return (False, ratio / weight) if weight else (True, ratio)

    def add(self, team: str, requests: Requests) -> None:
        """Count a job that begins."""
        self._count(team, requests, sign=1)

    def remove(self, team: str, requests: Requests) -> None:
        """Count a job no more."""
        self._count(team, requests, sign=-1)

    def _count(self, team: str, requests: Requests, *, sign: int) -> None:
        lines = self._lines[team]
        for kind, amount in requests:
            line = lines[kind]
            before = line.shared
            line.used += sign * amount
            self._lent[kind] += line.shared - before
        self._shares.pop(team, None)


def _line(quota: Quota) -> _Line:
    kept = 0 if quota.lending is None else max(0, quota.nominal - quota.lending)
    most = _UNLIMITED if quota.borrowing is None else quota.nominal + quota.borrowing
    return _Line(nominal=quota.nominal, kept=kept, most=most)
