"""The privacy policy of this installation, and what of it concerns a message: refused, masked, noted without values."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from sqlalchemy import Connection

from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.submission import Submission
from maia.database import settings
from maia.database.database import Database
from maia.database.users import User
from maia.engine.masking import Masking
from maia.engine.setup import Bound
from maia.privacy.custom import MAX_PATTERN_CHARS, MAX_PATTERNS
from maia.privacy.destination import AUTO
from maia.privacy.kinds import KINDS, Action
from maia.privacy.mask import Masker
from maia.privacy.message import MASKED, REFUSED, Refused, mask_blocked, types_of
from maia.privacy.policy import MAX_HOSTS, InvalidPolicy, Policy, read_policy
from maia.privacy.refused import MessageRefused
from maia.privacy.sent import EGRESS, POLICY_UPDATED, Sent
from maia.workspace.bench import WorkBench
from maia.workspace.news import News
from maia.workspace.people.rights import Right, may
from maia.workspace.problems import NotAllowed, PolicyChanged, PolicyRefused, PrivacyBlocked
from maia.workspace.tally import Tally

_SETTING = "privacy"
_SECRET = "secret"
_AT_ONCE = 1_000
"""Characters of a message that are judged before another thread is awake."""
_log = logging.getLogger("maia.workspace")

Source: TypeAlias = Literal["yaml", "ui", "defaults"]
"""Who said the policy: a file beside the database, a person in the workspace, nobody (N-10.14)."""

LIMITS: Final[Mapping[str, int]] = {"patterns": MAX_PATTERNS, "pattern": MAX_PATTERN_CHARS, "hosts": MAX_HOSTS}
"""How much a policy holds: patterns, characters of one, local hosts."""

_BY_DEFAULT: Final = Policy()
MaskerOf: TypeAlias = Callable[[Policy], Masker]
Along: TypeAlias = Callable[[Connection], None]


@dataclass(frozen=True, slots=True)
class Passed:
    """A message that may be stored and sent: its text, who answers it behind the mask, and what the audit keeps."""

    submission: Submission
    bound: Bound
    masking: Masking
    along: Along


class Privacy:
    """Reads and keeps the policy, and judges messages by it. `masker` makes that of a policy, keys included."""

    def __init__(self, database: Database, seed: Path, masker: MaskerOf, news: News) -> None:
        self._database = database
        self._news = news
        self._masker = masker
        self._made: Masker | None = None
        self._seed = seed
        self._good = _BY_DEFAULT
        self._tally = Tally()
        self._saved: Policy | None = None
        self._was_looked_for = False
        self._seen: tuple[int, int, int] | None = None
        self._of_file: Policy | None = None

    async def policy(self) -> tuple[Policy, Source]:
        """The policy in force: as it was saved, else as the file beside the database has it, else as by default.

        A file that cannot be used leaves the last good one in force, and the log says why (N-10.16).
        """
        if not self._was_looked_for:  # once: nobody but `save` changes it, as one server alone holds a database
            kept = await self._database.look(lambda c: settings.setting(c, _SETTING))
            if not self._was_looked_for:  # saved by somebody meanwhile, another one is in force than was read
                self._saved = _kept(cast(JsonObject, kept)) if isinstance(kept, dict) else None
                self._was_looked_for = True
        if self._saved is not None:
            return self._saved, "ui"
        try:
            seeded = await self._seeded()
        except (OSError, ValueError, InvalidPolicy) as problem:
            _log.warning("privacy: %s: %s", self._seed.name, problem)
            return self._good, "yaml"
        if seeded is None:
            return _BY_DEFAULT, "defaults"
        self._good = seeded
        return seeded, "yaml"

    async def _seeded(self) -> Policy | None:
        """The policy of the file, read again when it is another file. Raises as `_read_seed`."""
        mark = _mark_of_file(self._seed)
        if mark is None:
            return None
        if mark != self._seen:
            self._seen, self._of_file = None, await asyncio.to_thread(_read_seed, self._seed)
            self._seen = mark
        return self._of_file

    async def shown(self, user: User) -> JsonObject:
        """The policy with its version and source. Raises `NotAllowed` for who is neither owner nor admin (N-10.13)."""
        _only(user, "privacy_read")
        return shown_policy(*await self.policy())

    def counted(self, user: User) -> Tally:
        """What was done since the server started. Raises `NotAllowed` as `shown` does."""
        _only(user, "privacy_read")
        return self._tally

    async def tried(self, user: User, text: str) -> JsonObject:
        """What the policy finds in a text, values never shown (N-10.15). Raises `NotAllowed` for all but the owner."""
        _only(user, "privacy")
        policy, _ = await self.policy()
        return await asyncio.to_thread(_tried, self._masker(policy), text)

    async def save(self, user: User, data: Any, seen: str | None = None) -> Policy:
        """Keep another policy; a running turn goes on with the old one. `seen` is the mark of the one it is made from.

        Raises `NotAllowed` for all but the owner, `PolicyRefused` for mistakes, `PolicyChanged` where another one than
        `seen` is in force by now: then nothing is changed.
        """
        _only(user, "privacy")
        try:
            wanted = read_policy(data)
        except InvalidPolicy as problem:
            raise PolicyRefused([(issue.path, issue.reason) for issue in problem.issues]) from None
        before = await self.policy()

        def keep(connection: Connection) -> Policy:
            kept = settings.setting(connection, _SETTING)
            now = (_kept(cast(JsonObject, kept)), "ui") if isinstance(kept, dict) else before
            if seen is not None and seen != mark_of(shown_policy(*now)):
                raise PolicyChanged("privacy.policy_changed", version=now[0].version)
            changed = replace(wanted, number=now[0].number + 1)
            settings.keep_setting(connection, _SETTING, {**changed.to_json(), "number": changed.number}, user.id)
            details = {"version": changed.version, "enabled": changed.enabled}
            settings.note_act(connection, POLICY_UPDATED, by=user.id, details=details)
            return changed

        return await asyncio.shield(asyncio.ensure_future(self._in_force(keep)))

    async def _in_force(self, keep: Callable[[Connection], Policy]) -> Policy:
        """Save it, and go by it from then on, whether or not who asked for it still waits."""
        self._saved, self._was_looked_for = await self._database.write(keep), True
        self._news.tell()
        return self._saved

    async def masking(
        self, say: Say, conversation_id: str | None, heard: Callable[[Sent], None] = lambda _sent: None
    ) -> Masking:
        """The mask of one turn or call, by the policy of now. `heard` is told what is done to each request."""
        policy, _ = await self.policy()
        note_act = self._recorder(policy, conversation_id)

        def record(sent: Sent) -> None:
            heard(sent)
            note_act(sent)

        return Masking(self._masker_of(policy), say, refuses=True, record=record)

    def _masker_of(self, policy: Policy) -> Masker:
        """One serves any number of texts: it is made anew only where the policy is another one."""
        if self._made is None or self._made.policy is not policy:
            self._made = self._masker(policy)
        return self._made

    async def passed(
        self,
        bench: WorkBench,
        bound: Bound,
        conversation_id: str,
        user_id: str,
        submission: Submission,
        *,
        masked: bool,
        heard: Callable[[Sent], None],
        is_auto: bool = False,
    ) -> Passed:
        """Judge a new message by the model that it will run on; with `masked` blocked values are replaced first.

        `is_auto`: that model was chosen for this message, which always counts as elsewhere (R-2.272).
        `heard` is told what is done to each request.

        Raises `PrivacyBlocked` for one that may not leave as it is, which is noted without its values (R-2.281).
        """
        masking = await self.masking(bench.say, conversation_id, heard)
        types: tuple[str, ...] = ()
        if masked:
            replaced = await asyncio.to_thread(mask_blocked, submission.text, masking.masker)
            submission, types = replace(submission, text=replaced.text), types_of(replaced)
        try:
            destination = AUTO if is_auto else bench.destination(bound)
            if len(submission.text) > _AT_ONCE:
                await asyncio.to_thread(masking.screen, submission.text, destination)
            else:
                masking.screen(submission.text, destination)
        except MessageRefused as problem:
            await self.refused(problem.refused, user_id, conversation_id)
            raise blocked(problem) from None

        def note(connection: Connection) -> None:
            if types:
                details: JsonObject = {"types": list(types)}
                settings.note_act(connection, MASKED, by=user_id, conversation=conversation_id, details=details)

        self._tally.sent_masked += bool(types)
        return Passed(submission, masking.bound(bound, bench.destination(bound)), masking, note)

    async def for_keeping(self, text: str) -> str:
        """The text as it may be kept for long: masked as for elsewhere (N-10.18); with the policy off, keys alone."""
        policy, _ = await self.policy()
        if not policy.enabled:
            keys = {kind: "mask" if kind == _SECRET else "off" for kind in KINDS}
            policy = replace(policy, enabled=True, patterns=(), actions=cast(Mapping[str, Action], keys))
        masker = self._masker_of(policy)
        return (await asyncio.to_thread(masker.mask, text)).text

    async def refused(self, refused: Refused, user_id: str, conversation_id: str | None) -> None:
        """Count and note a message that may not leave, by its types alone (R-2.281)."""
        self._tally.refused += 1
        details = refused.noted()
        await self._database.write(
            lambda c: settings.note_act(c, REFUSED, by=user_id, conversation=conversation_id, details=details)
        )

    def _recorder(self, policy: Policy, conversation_id: str | None) -> Callable[[Sent], None]:
        """Counts each request; notes those in which something was masked, where the policy wants that (N-10.17)."""

        def record(sent: Sent) -> None:
            self._tally.take(sent)
            new = sent.new or sent
            if policy.audit and new.counts:
                details = new.noted()
                self._database.write_soon(
                    lambda c: settings.note_act(c, EGRESS, by=None, conversation=conversation_id, details=details)
                )

        return record


def mark_of(shown: JsonObject) -> str:
    """The mark of a policy as it is shown: another one for every other policy, version or source."""
    return sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:16]


def blocked(problem: MessageRefused) -> PrivacyBlocked:
    """The same refusal, as doors answer it."""
    refused = problem.refused
    return PrivacyBlocked(refused.types, str(problem.values["types"]), refused.masked)


def shown_policy(policy: Policy, source: Source) -> JsonObject:
    """The policy as it is shown, with its version and source."""
    return {**policy.to_json(), "version": policy.version, "source": source}


def _only(user: User, right: Right) -> None:
    if not may(user, right):
        raise NotAllowed("privacy.not_allowed")


def _tried(masker: Masker, text: str) -> JsonObject:
    blocked = mask_blocked(text, masker)
    return {
        "matches": [
            {"type": each.kind, "start": each.start, "end": each.end, "action": masker.policy.action(each.kind)}
            | {"value": "***"}
            for each in masker.find(text)
        ],
        "inbound": {"refused": bool(blocked.spans), "types": list(types_of(blocked))},
        "egressPreview": masker.mask(text).text,
        "version": masker.policy.version,
    }


def _kept(data: JsonObject) -> Policy:
    return read_policy({name: part for name, part in data.items() if name != "number"}, int(data.get("number", 1)))


def _mark_of_file(path: Path) -> tuple[int, int, int] | None:
    """What tells one content of a file from another; None where there is none. Raises `OSError`.

    In the folder of the data, which is on this machine: to look is quicker than to wake another thread.
    """
    try:
        seen = path.stat()
    except FileNotFoundError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _read_seed(path: Path) -> Policy | None:
    """The policy of the file, None where there is none. Raises `OSError`, `ValueError` or `InvalidPolicy`."""
    import yaml

    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise ValueError(str(problem)) from None
    return read_policy({} if data is None else data)
