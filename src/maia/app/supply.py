"""The workspace's supply of models: endpoints of settings, keys and this machine, agent programs, and kept keys."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from maia.core.costs import Cost, Usage
from maia.core.endings import Failure
from maia.core.errors import MaiaError, ModelFailed
from maia.core.events import Notice, WireAnswer, WireFailed
from maia.core.messages import TextPart, UserMessage
from maia.core.providers import TITLES
from maia.core.requests import ModelRequest
from maia.core.runtime import OWN_MODEL
from maia.core.secret import Secret
from maia.database.providers import Kind, ModelRow, ProviderRow
from maia.engine.setup import Bound
from maia.engine.turn import Price
from maia.llm.binding import default_model
from maia.llm.endpoint import OFFLINE, Endpoint
from maia.llm.models import ModelInfo
from maia.runtimes.offered import OfferedModel
from maia.runtimes.programs import PROGRAMS, PROVIDER_MARK, Program, find
from maia.workspace.composition import PROGRAM_WINDOWS
from maia.workspace.models.catalogue import Pair
from maia.workspace.models.supply import Address, KeyLook, Reached, Trial

if TYPE_CHECKING:
    from maia.app.agentkeys import AgentKey
    from maia.app.keyground import KeyGround
    from maia.app.models import EndpointModels
    from maia.app.paying import Purses
    from maia.app.runtimes import Yard
    from maia.credentials.vote import Resolution
    from maia.llm.pricing import Price as Rates

_TRIAL: Final = "Answer with the single word: ready"
_TRIAL_TOKENS: Final = 64


class Supplied:
    """`workspace.supply.Supply`. `models` are those of the server; `offers_offline` puts the built-in model in.

    `outside` is where a program runs that is only asked something, as `yard` where there is no better place.
    """

    def __init__(
        self,
        models: EndpointModels,
        yard: Yard,
        keys: Callable[[], KeyGround],
        usual: str,
        *,
        offers_offline: bool,
        purses: Purses,
        outside: Callable[[], Yard] | None = None,
    ) -> None:
        self._models = models
        self._yard = yard
        self._keys = keys
        self._usual = usual
        self._offers_offline = offers_offline
        self._purses = purses
        self._outside = outside or (lambda: yard)
        self._endpoints: dict[str, Endpoint] = {}
        self._added: dict[str, ProviderRow] = {}

    @property
    def usual(self) -> str:
        return self._usual

    async def providers(self) -> Sequence[ProviderRow]:
        endpoints = await self._models.look_again()
        self._endpoints = {each.name: each for each in endpoints if each.name != OFFLINE or self._offers_offline}
        found = [self._row(each) for each in self._endpoints.values()]
        return [*found, *self._programs()]

    async def models(self, provider_id: str, *, asked: bool = False) -> Sequence[ModelRow]:
        if (program := program_of(provider_id)) is not None:
            offered = await self._asked(program) if asked else ()
            return models_of_program(program, provider_id, offered)
        listed = await self._models.list_of(provider_id)
        endpoint = self._endpoints[provider_id]
        if not listed:
            return []
        best = default_model(listed, (endpoint,))
        ordered = [best, *(each for each in listed if each is not best)]
        return [_model(each, endpoint, self._models.own_price(provider_id, each.id)) for each in ordered]

    async def attempt(self, pair: Pair) -> Trial:
        began = time.monotonic()
        if program_of(pair.provider) is not None:
            text = await self._version(pair.provider)
        else:
            text = await self._answer(pair)
        return Trial(text, round(time.monotonic() - began, 2))

    async def reach(self, pair: Pair) -> Reached:
        from maia.engine.masking import destination_of

        if program_of(pair.provider) is not None:
            raise MaiaError("provider.no_single_calls", name=pair.provider)
        bound = await self._models.exact(*pair)
        return Reached(bound, destination_of(bound, self._models.address_of), priced(self._models))

    def known_owners(self) -> Sequence[tuple[str, str]]:
        from maia.llm.providers import PROVIDERS as SERVED

        return sorted(((each.name, title_of(each.name)) for each in SERVED), key=lambda owner: owner[1].casefold())

    def look(self, key: Secret, owner: str) -> KeyLook:
        vote = self._vote(key, owner)
        provider = vote.provider if self._is_usable(vote) else ""
        return KeyLook(provider, vote.detection.masked, vote.host, _likely(vote), tuple(_told(vote)))

    def keep(self, key: Secret, owner: str) -> str:
        from maia.credentials.explain import suggested_variable

        vote = self._vote(key, owner)
        if vote.error is not None:
            raise MaiaError(vote.error.words, **{"where": "", **vote.error.values})
        variable = suggested_variable(vote)
        if not self._is_usable(vote) or not variable:
            raise MaiaError("provider.key_of_nobody", token=vote.detection.masked)
        self._keys().vault.set(variable, key)
        self._models.add_key(variable, key)
        return vote.provider

    def know(self, added: Sequence[ProviderRow]) -> None:
        from maia.app.addresses import entry_of

        self._added = {each.id: each for each in added}
        self._models.add_endpoints({each.id: entry_of(each) for each in added})

    def settle(self, address: Address) -> ProviderRow:
        from maia.app.addresses import provider_of, resolved

        row = provider_of(address, [*self._endpoints, *self._added], resolved)
        if address.key is not None and row.secret_name:
            self._keys().vault.set(row.secret_name, address.key)
            self._models.add_key(row.secret_name, address.key)
        return row

    def forget(self, row: ProviderRow) -> None:
        if row.secret_name:
            self._keys().vault.remove(row.secret_name)

    async def close(self) -> None:
        await self._models.close()
        await self._purses.close()

    # Inside

    def _row(self, endpoint: Endpoint) -> ProviderRow:
        """The provider of an endpoint; one that a person added is as they added it."""
        return self._added.get(endpoint.name) or _provider(endpoint)

    def _programs(self) -> Iterator[ProviderRow]:
        for program in PROGRAMS:
            if find(program, self._yard.env) is not None:
                health = "ready" if is_signed_in(program, self._yard) else "auth"
                yield ProviderRow(
                    f"{program.name}{PROVIDER_MARK}", program.title, "cli", origin="program", health=health
                )

    async def _asked(self, program: Program) -> Sequence[OfferedModel]:
        """What the program itself says that it offers; it is started for that, in an empty folder behind its wall."""
        from maia.app.runtimes import models_told

        return await models_told(program, await asyncio.to_thread(self._outside))

    async def _version(self, provider_id: str) -> str:
        """What the program's own check says; it is asked for its version only, so that nothing is spent."""
        from maia.app.runtimes import check_programs

        of_all = await check_programs(self._yard)
        findings = [each for each in of_all if f"{each.program}{PROVIDER_MARK}" == provider_id]
        bad = next((each for each in findings if each.state == "warn"), None)
        if bad is not None:
            raise MaiaError(bad.reason.key, **bad.reason.values)
        return " ".join(str(each.reason.values.get("version", "")) for each in findings).strip()

    async def _answer(self, pair: Pair) -> str:
        bound = await self._models.exact(pair.provider, pair.model)
        if bound.wire is None:
            raise MaiaError("provider.empty", name=pair.provider)
        message = UserMessage((TextPart(_TRIAL),))
        request = ModelRequest(pair.model, (), (message,), max_output_tokens=_TRIAL_TOKENS)
        last: object = None
        async for event in bound.wire.stream(request):
            last = event
        if isinstance(last, WireFailed):
            raise ModelFailed(last.failure)
        if not isinstance(last, WireAnswer):
            raise ModelFailed(Failure("incomplete", pair.provider))
        return "".join(part.text for part in last.message.parts if isinstance(part, TextPart)).strip()[:200]

    def _vote(self, key: Secret, owner: str) -> Resolution:
        from maia.credentials.explain import look_up

        request = self._keys().request(token=key)
        return look_up(replace(request, hint=owner or request.hint))

    def _is_usable(self, vote: Resolution) -> bool:
        from maia.llm.providers import BY_NAME

        return vote.key is not None and vote.error is None and vote.provider in BY_NAME


def is_signed_in(program: Program, yard: Yard) -> bool:
    """Whether it has a key, or somebody signed in in the home that it has here."""
    home = yard.home(program)
    return any(yard.env.get(name) for name in program.key_vars) or any(
        (home / name).exists() for name in program.logins
    )


def opener(
    models: EndpointModels, yard: Yard, key: AgentKey | None, purses: Purses
) -> Callable[[Pair], Awaitable[Bound]]:
    """How the turns of one conversation reach a model; programs work in the conversation's folder.

    `key` is the agent's own: it pays at its own provider and in a program that takes it, and goes nowhere else.
    """

    async def opened(pair: Pair) -> Bound:
        program = program_of(pair.provider)
        if program is None:
            paid = await purses.bound(key, *pair) if key else None
            return paid or await models.exact(pair.provider, pair.model)
        from maia.app.runtimes import program_models

        own = None if pair.model == OWN_MODEL else pair.model
        return await program_models(program.name, own, yard, key).bind(pair.model, "resumed")

    return opened


def priced(models: EndpointModels) -> Price:
    """What a call costs; of a program only what it reports, since nobody knows through whom it is paid."""

    def price(model: str, provider: str, usage: Usage | None, reported: float | None) -> Cost:
        if program_of(f"{provider}{PROVIDER_MARK}") is not None and not models.has(provider):
            return Cost() if reported is None else Cost(reported, "reported")
        return models.price(model, provider, usage, reported)

    return price


def program_of(provider_id: str) -> Program | None:
    """The program that a provider's id names, None for an endpoint."""
    return next((each for each in PROGRAMS if provider_id == f"{each.name}{PROVIDER_MARK}"), None)


def title_of(name: str) -> str:
    """The name of an endpoint as people read it everywhere."""
    return TITLES.get(name, name)


def _provider(endpoint: Endpoint) -> ProviderRow:
    kind: Kind = "local" if endpoint.is_local else "api"
    url = endpoint.target.base_url if endpoint.target else ""
    key = endpoint.target.key if endpoint.target else None
    return ProviderRow(
        endpoint.name, title_of(endpoint.name), kind, url, endpoint.source if key else None, endpoint.source
    )


def _model(info: ModelInfo, endpoint: Endpoint, own: Rates | None) -> ModelRow:
    return ModelRow(
        endpoint.name,
        info.id,
        info.id,
        window=info.window,
        max_output=info.max_output,
        sees_images=info.images,
        efforts=info.efforts,
        effort_source="unknown" if info.efforts is None else "catalogue",
        price=_price(info, endpoint, own),
        enabled=info.usable,
        no_tools=info.tools is False,
    )


def _price(info: ModelInfo, endpoint: Endpoint, own: Rates | None) -> dict[str, float] | None:
    """Dollars a million tokens: as the settings have it, the server declares or the catalogue knows, else None."""
    from maia.llm.pricing import known_price

    url = endpoint.target.base_url if endpoint.target else ""
    price = own or info.price or (None if endpoint.is_local else known_price(info.id, url))
    return None if price is None else {"input": price.input[0][1], "output": price.output[0][1]}


def models_of_program(program: Program, provider_id: str, offered: Sequence[OfferedModel] = ()) -> list[ModelRow]:
    """The program's own choice first, then what it offers; the names that it takes in every version where it said none.

    An entry without a window has the usual one of its program, where its models have one (R-2.101).
    """
    window = PROGRAM_WINDOWS.get(program.name) if program.models else None
    told = {each.id: each for each in offered} or {each: OfferedModel(each, each) for each in program.models}
    own = told.pop(OWN_MODEL, OfferedModel(OWN_MODEL, OWN_MODEL))
    listed = (OfferedModel(own.id, OWN_MODEL, own.real_id, own.window), *told.values())
    return [ModelRow(provider_id, each.id, each.name, each.real_id, each.window or window) for each in listed]


def _told(vote: Resolution) -> Iterator[Notice]:
    for problem in vote.problems:
        if problem.code != "AMBIGUOUS_TOKEN":
            yield Notice(problem.level, problem.words, {"where": "", **problem.values})


def _likely(vote: Resolution) -> tuple[str, ...]:
    """Whose the key may be, where its shape does not tell."""
    from maia.credentials.explain import likely_owners

    codes = {problem.code for problem in vote.problems}
    return tuple(likely_owners(vote)) if codes & {"UNKNOWN_PROVIDER", "AMBIGUOUS_TOKEN"} else ()
