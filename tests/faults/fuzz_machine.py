"""Histories of made-up requests: things are made, and what the served schema's links lead to is done with them.

Whoever asks, at whatever level, in whatever order: an answer is one that the schema promises, a request that is refused
has changed nothing, nobody is let through who may not, what was made can be read at once, what was deleted cannot.
"""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule

from chalicelib.core.permissions import LEVEL_OF, Level, Permission
from chalicelib.settings import settings
from tests.contract.world import is_own
from tests.faults.fuzz_ground import LINKS, Thing
from tests.faults.fuzz_requests import DECLARED, body_for, cases, filled, hold, query_of, some_of

MEMBERS = ("View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control")
STAFF = ("owner", "superuser")
ACTORS = ("owner", "owner", "nobody", "stranger", *MEMBERS, "organization_member", "superuser")
IN_ORGANIZATION = {"owner": Level.FULL, "organization_member": Level.VIEW}
PROJECT_NAMES = {*MEMBERS}
REFERS = {
    "project": "project", "organization": "organization", "media": "media", "media_id": "media", "media_ids": "media",
    "version": "version", "section": "section", "section_id": "section", "user": "newcomer", "parent": "leaf",
    "media_types": "media_type", "localization_ids": "localization", "new_version": "version", "group": "group",
    "add_members": "newcomer", "initial_members": "newcomer", "default_version": "version", "merge_state_id": "state",
    "media_query": None, "bucket": None, "upload_bucket": None, "backup_bucket": None, "cluster": None,
}  # fmt: skip
"""Members that name something → the word of what; None: what is made up stays out, for nothing here answers there."""
TYPED = {"media", "localization", "state", "leaf", "file"}
TOMBSTONED = {"CreateLocalizationList", "CreateStateList"}
"""What makes things that leave tombstones: deleted without `prune`, their earlier marks are still read by their ids."""
NAMED = {"name": "{}-{}", "username": "{}{}", "email": "{1}{0}"}
"""Members that are unique somewhere, and how they are made so."""


class Machine(RuleBasedStateMachine):
    """One history; `ground` is set by whoever runs it."""

    ground = None
    made = Bundle("made")

    def __init__(self):
        super().__init__()
        self.ground.undo.back()
        self.number = itertools.count(1)
        self.there = Counter()
        self.gone = set()
        self.unsure = set()
        """Who has been let in somewhere, and no longer stands where they stood."""
        self.pool = {word: [id_] for word, id_ in self.ground.world.things.items() if isinstance(id_, int)}

    # ------------------------------------------------------------------------------------------------------- rules

    @initialize(target=made, data=st.data())
    def begin(self, data):
        """There are a few things to begin with."""
        names = data.draw(st.lists(st.sampled_from(self.ground.makes), min_size=4, max_size=8, unique=True))
        made = [self.made_by("owner", name, self.ground.requests[name].body) for name in names]
        return multiple(*(thing for thing in made if thing))

    @rule(target=made, data=st.data(), who=st.sampled_from(ACTORS))
    def make(self, data, who):
        """Make something, and look at it."""
        name = data.draw(st.sampled_from(self.ground.makes))
        good = self.fresh(data, self.ground.requests[name].body)
        thing = self.made_by(who, name, self.aimed(data, name, body_for(data, name, good)))
        return multiple() if thing is None else thing

    @rule(thing=made, data=st.data(), who=st.sampled_from(ACTORS))
    def follow(self, thing, data, who):
        """Do something with what was made, be it there or not."""
        name = data.draw(st.sampled_from([name for name in thing.leads if DECLARED[name].method != "DELETE"]))
        request = self.ground.requests.get(name)
        body = self.aimed(data, name, body_for(data, name, self.fresh(data, request.body) if request else None))
        said = self.ask(name, who, thing.path(name), body, request.query if request else {}, thing)
        if thing in self.gone:
            assert said.status >= 400, (name, who, thing, said.body)

    @rule(thing=made, who=st.sampled_from(ACTORS), data=st.data())
    def delete(self, thing, who, data):
        """Delete what was made."""
        name = thing.one("DELETE")
        if name is None:
            return
        body = data.draw(st.sampled_from((None, {"prune": 1}))) if thing.makes in TOMBSTONED else None
        said = self.ask(name, who, thing.path(name), body, {}, thing)
        if said.status >= 300:
            return
        assert thing not in self.gone, (name, who, thing)
        if thing.makes not in TOMBSTONED or body:
            self.gone.add(thing)
            self.there[thing.makes] -= 1
            self.unseen(thing)
        self.unlisted(thing)

    @rule(data=st.data(), who=st.sampled_from(ACTORS))
    def write(self, data, who):
        """Anything else that writes."""
        name = data.draw(st.sampled_from(self.ground.writes))
        request = self.ground.requests[name]
        body = self.aimed(data, name, body_for(data, name, self.fresh(data, request.body)))
        said = self.ask(name, who, request.path, body, {**request.query, **self.query(data, name)})
        if said.status < 300:
            self.lets_in(who, name, body)
            self.is_back(body)

    @rule(data=st.data(), who=st.sampled_from(ACTORS))
    def read(self, data, who):
        """Any list, count or thing of the world, in whatever state that is."""
        name = data.draw(st.sampled_from(self.ground.reads))
        path = filled(DECLARED[name].path, self.ground.world.variables(DECLARED[name]))
        if "{" not in path:
            self.ask(name, who, path, None, self.query(data, name))

    # ---------------------------------------------------------------------------------------------- what is asked

    def made_by(self, who, name, body):
        """Make something, and look at it; None where it was refused."""
        request = self.ground.requests[name]
        said = self.ask(name, who, request.path, body, request.query)
        if said.status >= 300:
            return None
        self.lets_in(who, name, body)
        if said.json.get("id") == []:
            return None  # all of it was there before
        self.is_back(body)
        thing = self.thing(name, who, said.json)
        self.there[name] += 1
        self.pool.setdefault(DECLARED[thing.leads[0]].addresses.kind or name, []).append(thing.id)
        self.seen(thing)
        return thing

    def ask(self, name, who, path, body, query, thing=None):
        """Ask, and hold the answer against what is promised of every answer."""
        declared, ground = DECLARED[name], self.ground
        ground.begin()
        content = {"raw": body} if isinstance(body, bytes) else {"body": body}
        said = ground.actors[who].ask(declared.method, path, **content, **query)
        ground.figures.requests[name] += 1
        ground.figures.ways.add((name, who, said.status))
        ground.figures.states.add(frozenset((+self.there).items()))
        told = (name, who, path, query, body, said.status, said.body)
        assert said.status != 500, told
        hold(name, path, said, query)
        refusals = self.refusals(declared, who, thing)
        assert not refusals or said.status in refusals, told
        if said.status >= 400:
            # a refused writer fills the number it took with an empty commit; a change has rows elsewhere, too
            changed = [each for each in ground.changed() if each[0] != settings().log_table]
            assert not changed, (*told, changed)
        return said

    def refusals(self, declared, who, thing):
        """The statuses of which one must be answered, where the caller may not; empty where they may or who knows."""
        needs = declared.needs
        if who == "nobody" and needs is not Permission.ANYONE:
            return (401,)
        if needs is Permission.STAFF and who not in STAFF:
            return (400, 403, 404)
        if needs.level is Level.NONE or who in self.unsure:
            return ()
        is_others = thing and thing.by != who and is_own(declared)
        level = Level.NONE if is_others else self.level(declared, who, thing)
        if level is None or level >= needs.level:
            return ()
        return (400, 403, 404) if level else (400, 404)

    def level(self, declared, who, thing):
        """How far a caller may go with what an operation addresses; None where that is not known here."""
        root = DECLARED[thing.makes].path if thing else declared.path
        in_project = "{project}" in root or not thing
        if thing and not in_project and "{organization}" not in root:
            return Level.NONE if who == "stranger" != thing.by else None
        if declared.needs.value in PROJECT_NAMES:
            return Level.FULL if who == "owner" else LEVEL_OF.get(who, None if who == "organization_member" else 0)
        return None if who in MEMBERS else IN_ORGANIZATION.get(who, Level.NONE)

    def lets_in(self, who, name, body):
        """Remember who may have come in where they were not: the level they had tells no more."""
        if name == "AcceptInvitation":
            self.unsure.add(who)
        known = {api.user.id: actor for actor, api in self.ground.actors.items() if api.user}
        if isinstance(body, dict) and body.get("user") in known:
            self.unsure.add(known[body["user"]])

    def is_back(self, body):
        """Remember that what was deleted was made again, where the body names its id: see `Transcode`."""
        if isinstance(body, dict):
            self.gone -= {thing for thing in self.gone if thing.id == body.get("uid")}

    def thing(self, name, who, answer):
        """What an answer tells to have been made, by the links of the served schema."""
        variables = {}
        for link in LINKS[name].values():
            found = {key: _at(answer, expression) for key, expression in link["parameters"].items()}
            if None not in found.values():
                variables[link["operationId"]] = tuple(found.items())
        assert variables, (name, answer)
        ((_, id_),) = next(iter(variables.values()))
        return Thing(name, who, id_, tuple(variables.items()))

    def seen(self, thing):
        """Its creator can read what was created."""
        name = thing.one("GET")
        said = self.ask(name, thing.by, thing.path(name), None, {}, thing) if name else None
        if said and thing.by != "nobody":
            assert said.status == 200, (name, thing, said.body)
            told = said.json
            assert thing.id in (told.get("id"), told.get("uid"), told.get("spec", {}).get("uid")), (thing, told)

    def unseen(self, thing):
        """What was deleted is there for nobody."""
        for who in {thing.by, "owner", "stranger"} - {"nobody"}:
            name = thing.one("GET")
            said = self.ask(name, who, thing.path(name), None, {}, thing)
            assert said.status == 404, (name, who, thing, said.body)

    def unlisted(self, thing):
        """What was deleted is in no list any more."""
        path = DECLARED[thing.makes].path
        name = next((name for name in self.ground.reads if DECLARED[name].path == path), None)
        if name:
            said = self.ask(name, "owner", self.ground.requests[thing.makes].path, None, {})
            assert said.status == 200, (name, said.body)
            assert thing.id not in [each.get("id", each.get("uid")) for each in said.json], (name, thing)

    # -------------------------------------------------------------------------------------------- what is made up

    def query(self, data, name):
        """A few query parameters that the schema allows."""
        if not data.draw(st.booleans()):
            return {}
        return self.aimed(data, name, some_of(data, query_of(data.draw(cases(name)))))

    def fresh(self, data, body):
        """A body whose unique members are as nobody has had them; sometimes as they are."""
        if isinstance(body, list):
            return [self.fresh(data, each) for each in body]
        if not isinstance(body, dict) or not data.draw(st.integers(0, 4)):
            return body
        number = next(self.number)
        return {
            key: NAMED[key].format(value, number) if key in NAMED and isinstance(value, str) else value
            for key, value in body.items()
        }

    def aimed(self, data, name, body):
        """A body or query whose members name what there is, most of the time."""
        if isinstance(body, list):
            return [self.aimed(data, name, each) for each in body[:3]]
        if not isinstance(body, dict):
            return body
        addresses = DECLARED[name].addresses
        made = DECLARED[next(iter(LINKS[name].values()))["operationId"]].addresses if name in LINKS else addresses
        what = made.kind if made else ""
        aimed = {}
        for key, value in body.items():
            word = f"{what}_type" if key == "type" and what in TYPED else REFERS.get(key, "")
            if word is None:
                continue
            known = self.pool.get(word) if word else None
            if known and (isinstance(value, int) or _is_ints(value)):
                pick = known[data.draw(st.integers(0, 7)) % len(known)]
                aimed[key] = [pick] if isinstance(value, list) else pick
            else:
                aimed[key] = value
        return aimed


class Successes(Machine):
    """Histories between which every operation is also asked for as it should be."""

    @rule(data=st.data())
    def succeed(self, data):
        """Ask for some of what has not succeeded in this run as it should, and undo it."""
        # what is drawn may depend on this history alone: what has succeeded in earlier ones only chooses among it
        first = data.draw(st.sampled_from(sorted(self.ground.good)))
        left = self.ground.unanswered()
        for name in [*(name for name in left if name >= first), *left][:12]:
            self.succeed_in(name)

    def succeed_in(self, name):
        """Ask for an operation as it should be, and undo it; the status."""
        request = self.ground.good[name]
        with self.ground.undo.within():
            who = next((actor for actor, api in self.ground.actors.items() if api is request.who), "owner")
            return self.ask(name, who, request.path, request.body, request.query).status


def _is_ints(value):
    return isinstance(value, list) and all(isinstance(each, int) for each in value)


def _at(answer, expression):
    """What a link's runtime expression points to; None where nothing is."""
    for step in expression.removeprefix("$response.body#/").split("/"):
        try:
            answer = answer[int(step)] if isinstance(answer, list) else answer[step]
        except (KeyError, IndexError, TypeError):
            return None
    return None if isinstance(answer, list) else answer
