"""The keys of the terminal's set-up: looked at, tried and kept by the functions of `maia keys` (C5.03)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.events import Notice
from maia.core.secret import Secret
from maia.terminal.ports import PastedKey

if TYPE_CHECKING:
    from maia.app.build import Ground
    from maia.app.keyground import KeyGround
    from maia.app.models import EndpointModels
    from maia.credentials.vote import Resolution


class KeyringDesk:
    """`terminal.ports.KeyDesk` over the vault of this user and the models of this session."""

    def __init__(self, ground: Ground, models: EndpointModels) -> None:
        self._ground = ground
        self._models = models

    @property
    def is_needed(self) -> bool:
        return self._models.is_bare

    def look(self, token: Secret, owner: str = "") -> PastedKey:
        from maia.credentials.explain import other_region, suggested_variable
        from maia.llm.providers import BY_NAME

        vote = self._vote(token, owner)
        owners = () if owner else _open_owners(vote)
        notices = self._notices(vote)
        if vote.key is not None and not owners and vote.provider not in BY_NAME:
            notices = (*notices, Notice("fail", "setup.not_served", {"provider": vote.provider}))
        return PastedKey(
            vote.provider if vote.key is not None else "",
            vote.confidence,
            vote.region,
            vote.host,
            vote.detection.masked,
            suggested_variable(vote) or "",
            owners,
            other_region(vote),
            notices,
        )

    async def attempt(self, token: Secret, found: PastedKey) -> int:
        from maia.app.keytrial import count_models, endpoint_of
        from maia.app.refusals import explained

        vote = self._vote(token, found.provider)
        endpoint = endpoint_of(vote)
        if endpoint is None:
            raise ModelFailed(Failure("not_configured", vote.host))
        try:
            return await count_models(endpoint)
        except ModelFailed as failed:
            raise ModelFailed(explained(failed.failure, endpoint.target)) from None

    def keep(self, token: Secret, found: PastedKey) -> Notice:
        kept = self._desk().vault.set(found.variable, token)
        self._models.add_key(found.variable, token)
        where = self._ground.say(f"keys.keeper.{kept.keeper}")
        return Notice("info", "keys.kept", {"name": kept.name, "token": kept.masked, "where": where})

    # Inside

    def _desk(self) -> KeyGround:
        from maia.app.keyground import KeyGround
        from maia.credentials.vault import open_vault

        ground = self._ground
        vault = open_vault(ground.folders.config / "keys", ground.env)
        return KeyGround(ground.options, ground.env, ground.say, ground.folders.launch, vault)

    def _vote(self, token: Secret, owner: str) -> Resolution:
        from maia.credentials.explain import look_up

        request = self._desk().request(token=token)
        return look_up(replace(request, hint=owner or request.hint))

    def _notices(self, vote: Resolution) -> tuple[Notice, ...]:
        """What is wrong or worth knowing; a person pasted the key, so no standard input is named."""
        typed = self._ground.say("setup.typed")
        return tuple(
            Notice(each.level, each.words, {**each.values, **({"where": typed} if "where" in each.values else {})})
            for each in vote.problems
            if each.code != "AMBIGUOUS_TOKEN"
        )


def _open_owners(vote: Resolution) -> tuple[str, ...]:
    """Whose the key may be, as far as maia can ask them, where its shape does not tell; empty where it does."""
    from maia.credentials.explain import likely_owners
    from maia.llm.providers import PROVIDERS

    codes = {problem.code for problem in vote.problems}
    if vote.detection.error or not codes & {"UNKNOWN_PROVIDER", "AMBIGUOUS_TOKEN"}:
        return ()
    served = [provider.name for provider in PROVIDERS]
    likely = tuple(name for name in likely_owners(vote) if name in served)
    return likely or tuple(sorted(served))
