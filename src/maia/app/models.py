"""The engine's `Models` port over the endpoints that are configured or found: list, choose, open, price, window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from maia.app.memory import Remembered
from maia.app.nicknames import near_nicknames, own_model, real_model
from maia.app.refusals import ExplainingWire, explaining
from maia.app.resumed import told_of_program
from maia.core.agent import RealModel
from maia.core.costs import Cost, Usage
from maia.core.endings import Failure
from maia.core.errors import ModelFailed, NotConfigured, UsageProblem
from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say, Wire
from maia.core.requests import ChosenBy, Effort
from maia.core.secret import Secret
from maia.engine.context import Window
from maia.engine.setup import Bound
from maia.engine.views import ModelChoice
from maia.i18n.catalogue import LANGUAGES, Catalogue, Lang
from maia.llm.binding import Choice, Wanted, choose, exactly
from maia.llm.endpoint import Endpoint
from maia.llm.endpoints import Configured, discover, with_entries
from maia.llm.models import Listing, ModelInfo, list_all, list_models, model_row
from maia.llm.transport import get_json
from maia.settings import Settings

if TYPE_CHECKING:
    from maia.app.agentkeys import AgentKey
    from maia.llm.doctor import Check
    from maia.llm.open import OpenWire
    from maia.llm.pricing import Price


_get_json: Final = explaining(get_json)
_NO_SUCH_MODEL: Final = "models.no_such_model"


@dataclass(frozen=True, slots=True)
class Wish:
    """Which model the command line asks for, and whether somebody is there to choose.

    `agent` is what the agent of the session names, which counts where there is no option. One that is not there gives
    way to the usual model with a warning (T7.06), where `is_strict` it is an error. `key` is the agent's own, if any.
    `always_local`: servers of this machine are looked for beside what is configured, too.
    """

    option: str | None
    is_person: bool
    agent: str = ""
    is_strict: bool = False
    key: AgentKey | None = None
    always_local: bool = False


class EndpointModels:
    """All models of all endpoints. Endpoints are looked up once a run, lists anew whenever a person looks at them."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        wish: Wish,
        env: Mapping[str, str],
        say: Catalogue,
        remembered: Remembered,
    ) -> None:
        self._settings = settings
        self._wish = wish
        self._env = env
        self._say = say
        self._remembered = remembered
        self._found: Configured | None = None
        self._added: Mapping[str, JsonObject] = {}
        self._infos: dict[tuple[str, str], ModelInfo] = {}
        self._wires: dict[str, Wire | OpenWire] = {}

    async def choices(self) -> Sequence[ModelChoice]:
        """Every model that can be chosen. Raises `ModelFailed` when the only configured server does not say."""
        listing = await self._list()
        ids = [model.id for model in listing.models]
        return [
            ModelChoice(model.id if ids.count(model.id) == 1 else model.full_name, model.provider, model.window)
            for model in listing.models
            if model.usable
        ]

    async def start(self, resumed: str) -> Bound | None:
        """The model to begin with: the option, the session's, the settings', the last one chosen, else the default.

        None when there are several, nobody asked for one, and a person is there to choose (T1.06). Raises
        `NotConfigured` without a person and without any endpoint, `MaiaError` for a name that is not there.
        """
        found = await self._endpoints()
        wanted = self._wanted(resumed)
        if not found.has_server and not self._wish.is_person and self._wish.option is None:
            raise NotConfigured("cli.nothing_configured")
        named = wanted.option or wanted.resumed or wanted.setting or wanted.remembered
        listing = self._remembered_list(found, named) or await self._list(named)
        if not named and self._wish.is_person and _is_several(listing):
            return None
        choice = told_of_program(self._choose_or_usual(listing, wanted, found), resumed)
        words = (self._wish.option or self._wish.agent, self._settings().model or "")
        return self._bound(self._called(choice, words[0] if wanted.option else words[1]), found)

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        """The model of that name; a person's choice is remembered for the next start."""
        found = await self._endpoints()
        real = own_model(self._nicknames, name)
        listing = await self._list(real)
        choice = self._called(self._choose(listing, Wanted(option=real), found), name)
        if why == "command":
            self._remembered.keep_model(choice.model.full_name)
        return self._bound(Choice(choice.model, why, choice.others, choice.notices), found)

    async def window(self, bound: Bound) -> tuple[Window, Notice]:
        """The model's window in the order of T3.01."""
        from maia.llm.models import window_in_force
        from maia.llm.window import ask_over, find_window

        info, endpoint = await self._described(bound), self._endpoint(bound.provider)

        async def in_force() -> int | None:
            return await window_in_force(endpoint, info, get_json) if endpoint else None

        wire = self._wire(bound.provider)
        found = await find_window(info, self._settings().plain(), ask_over(wire, bound.model), in_force)
        return Window(found.tokens, found.source), found.notice

    def effort(self, bound: Bound, asked: Effort | None) -> Effort | None:
        """The effort to send: the asked one, or the nearest that the model has."""
        if asked is None:
            return None
        from maia.llm.effort import nearest_effort

        info = self._infos.get((bound.provider, bound.model))
        return nearest_effort(asked, info.efforts if info else None)

    def price(self, model: str, provider: str, usage: Usage | None, reported: float | None) -> Cost:
        """What a call cost: as reported, else by the server's or the catalogue's price, else unknown."""
        if usage is None and reported is None:
            return Cost()
        from maia.llm.pricing import cost_of

        info = self._infos.get((provider, model))
        own = self.own_price(provider, model)
        endpoint = self._endpoint(provider)
        target = endpoint.target if endpoint else None
        return cost_of(
            usage,
            model,
            target.base_url if target else "",
            reported=reported,
            declared=own or (info.price if info else None),
            is_local=bool(endpoint and endpoint.is_local),
        )

    def own_price(self, provider: str, model: str) -> Price | None:
        """The price that the settings give a model: under this provider, else wherever it runs."""
        prices = self._settings().pricing
        found = prices.get(f"{provider}/{model}") or prices.get(model)
        if found is None:
            return None
        from maia.llm.pricing import Price, flat

        read, write = (None if rate is None else flat(rate) for rate in (found.cache_read, found.cache_write))
        return Price(flat(found.input), flat(found.output), read, write)

    async def rows(self) -> tuple[list[JsonObject], tuple[tuple[str, Failure], ...]]:
        """One JSON row a model (`maia models --json`), and the servers that did not say."""
        listing = await list_all((await self._endpoints()).endpoints, _get_json)
        failures = tuple((endpoint.name, failure) for endpoint, failure in listing.failures)
        return [model_row(model) for model in listing.models], failures

    def address_of(self, provider: str) -> str | None:
        """The base address of an endpoint, empty for the built-in model, None where it has none that is known."""
        endpoint = self._endpoint(provider)
        if endpoint is None or endpoint.target is None:
            return ""
        return endpoint.target.base_url or None

    @property
    def is_bare(self) -> bool:
        """Whether nothing is configured or found, and nobody asked for the built-in assistant."""
        asked = self._wish.option or self._settings().model
        return self._found is not None and not self._found.has_server and asked is None

    def add_endpoints(self, entries: Mapping[str, JsonObject]) -> None:
        """Entries beside those of the setting `endpoints`; all endpoints are looked up again."""
        self._added, self._found = entries, None

    def add_key(self, variable: str, key: Secret) -> None:
        """One more key, as if the environment had held it; all endpoints are looked up again."""
        self._env = {**self._env, variable: key.reveal()}
        self._found, self._wires = None, {}

    async def exact(self, provider: str, model: str) -> Bound:
        """That model of that endpoint, and no other. Raises `NotConfigured` where the endpoint is not there."""
        found = await self._endpoints()
        if all(endpoint.name != provider for endpoint in found.endpoints):
            raise NotConfigured("models.none", name=f"{provider}/{model}")
        return Bound(model, provider, self._wire(provider), "resumed")

    def has(self, provider: str) -> bool:
        """Whether there is an endpoint of that name."""
        return self._endpoint(provider) is not None

    async def look_again(self) -> Sequence[Endpoint]:
        """All endpoints as they are now; connections to those that changed are made anew."""
        before = {endpoint.name: endpoint for endpoint in (self._found.endpoints if self._found else ())}
        self._found = None
        found = await self._endpoints()
        for endpoint in found.endpoints:
            if before.get(endpoint.name, endpoint) != endpoint:
                self._wires.pop(endpoint.name, None)
        return found.endpoints

    async def list_of(self, provider: str) -> Sequence[ModelInfo]:
        """The models of one endpoint. Raises `ModelFailed`."""
        endpoint = self._endpoint(provider)
        if endpoint is None:
            raise ModelFailed(Failure("not_configured", provider))
        listed = await list_models(endpoint, _get_json)
        for model in listed:
            self._infos[model.provider, model.id] = model
        return listed

    async def problems(self) -> tuple[Notice, ...]:
        """What is wrong with what the settings and the environment say about servers."""
        return (await self._endpoints()).notices

    async def checks(self) -> list[Check]:
        """What `maia doctor` finds about every endpoint; nothing where none is configured or found."""
        from maia.llm.doctor import check_endpoint

        found = await self._endpoints()
        checks: list[Check] = []
        try:
            for endpoint in (point for point in found.endpoints if point.target is not None):
                checks += await check_endpoint(endpoint, _get_json, lambda point: self._wire(point.name))
        finally:
            await self.close()
        return checks

    async def close(self) -> None:
        """Close all connections."""
        wires, self._wires = list(self._wires.values()), {}
        for wire in wires:
            if (aclose := getattr(wire, "aclose", None)) is not None:
                await aclose()

    # Inside

    @property
    def _nicknames(self) -> Mapping[str, RealModel]:
        return self._settings().nicknames

    def _wanted(self, resumed: str) -> Wanted:
        """Who asks for which model, nicknames resolved."""
        option = own_model(self._nicknames, self._wish.option or self._wish.agent)
        setting = own_model(self._nicknames, self._settings().model or "")
        return Wanted(option or None, setting or None, resumed or None, self._remembered.model)

    def _choose_or_usual(self, listing: Listing, wanted: Wanted, found: Configured) -> Choice:
        """As wanted; the usual model, with a warning, where the agent's own is not there (T7.06)."""
        try:
            return self._choose(listing, wanted, found)
        except UsageProblem as problem:
            if self._wish.option or self._wish.is_strict or problem.key != _NO_SUCH_MODEL:
                raise
            usual = self._choose(listing, replace(wanted, option=None), found)
            values = {"name": self._wish.agent, "model": usual.model.full_name, "close": problem.values["close"]}
            return replace(usual, notices=(Notice("warn", "agents.model.gone", values), *usual.notices))

    def _choose(self, listing: Listing, wanted: Wanted, found: Configured) -> Choice:
        try:
            return choose(listing.models, wanted, found.endpoints, _unlisted(listing))
        except UsageProblem as problem:
            if problem.key != _NO_SUCH_MODEL:
                raise
            near = near_nicknames(self._nicknames, str(problem.values["name"]))
            close = ", ".join((*near, str(problem.values["close"])))
            raise UsageProblem(_NO_SUCH_MODEL, name=problem.values["name"], close=close) from None

    def _called(self, choice: Choice, word: str) -> Choice:
        """The choice; where a nickname led to it, with a notice that tells the real model (C6.03)."""
        real = real_model(self._nicknames, word)
        if real is None or choice.why not in ("option", "settings"):
            return choice
        named = Notice("info", "agents.model.named", {"nickname": word, "model": choice.model.full_name})
        return replace(choice, notices=(named, *choice.notices))

    async def _endpoints(self) -> Configured:
        if self._found is None:
            plain, local = self._settings().plain(), self._wish.always_local
            found = await discover(plain, self._env, get_json, always_local=local)
            if self._added:
                found = with_entries(found, self._added, self._env)
            found = self._guarded(found)
            if self._wish.key is not None:
                from maia.app.agentkeys import paid_by

                found = paid_by(found, self._wish.key, self._env)
            self._found = found
        return self._found

    def _guarded(self, found: Configured) -> Configured:
        """Without endpoints whose key is another provider's; keys that stay on this machine need no look."""
        if all(point.is_local or point.target is None or point.target.key is None for point in found.endpoints):
            return found
        from maia.app.keyguard import guarded

        return guarded(found, self._env)

    def _endpoint(self, name: str) -> Endpoint | None:
        endpoints = self._found.endpoints if self._found else ()
        return next((endpoint for endpoint in endpoints if endpoint.name == name), None)

    async def _list(self, wanted: str | None = None) -> Listing:
        """The lists of all servers. What a list says of a model is remembered for prices and windows.

        Raises `ModelFailed` when every server failed, unless the wanted model needs none.
        """
        found = await self._endpoints()
        listing = await list_all(found.endpoints, _get_json)
        for model in listing.models:
            self._infos[model.provider, model.id] = model
        if listing.failures and all(model.is_built_in for model in listing.models):
            if wanted and exactly(listing.models, wanted):
                return listing
            raise ModelFailed(listing.failures[0][1])
        self._remembered.keep_lists(_by_endpoint(found, listing))
        return listing

    def _remembered_list(self, found: Configured, named: str | None) -> Listing | None:
        """The models of the last list where that names the wanted one exactly: no request is then needed to start."""
        if not named:
            return None
        models: list[ModelInfo] = []
        for endpoint in found.endpoints:
            models += self._remembered.models_of(endpoint)
        fits = [model for model in models if named in (model.id, model.full_name)]
        return Listing(tuple(models)) if len(fits) == 1 else None

    def _bound(self, choice: Choice, found: Configured) -> Bound:
        model = choice.model
        notices = [*choice.notices]
        if model.is_built_in and not found.has_server and self._wish.option is None:
            notices.append(Notice("warn", "start.nothing_configured"))
        return Bound(model.id, model.provider, self._wire(model.provider), choice.why, tuple(notices))

    def _wire(self, provider: str) -> Wire:
        if provider not in self._wires:
            endpoint = self._endpoint(provider)
            if endpoint is None or endpoint.target is None:
                from maia.llm.offline import open_offline

                says: dict[Lang, Say] = {lang: Catalogue(lang) for lang in LANGUAGES}
                self._wires[provider] = open_offline(says, self._say.lang, self._env)
            else:
                from maia.llm.open import open_wire

                wire = open_wire(endpoint.target)
                self._wires[provider] = ExplainingWire(wire, endpoint) if endpoint.target.key else wire
        return self._wires[provider]

    async def _described(self, bound: Bound) -> ModelInfo:
        """What is known of a model; the server is asked where it was chosen without its list."""
        key = (bound.provider, bound.model)
        if key not in self._infos:
            with suppress(ModelFailed):
                await self._list()
        if key in self._infos:
            return self._infos[key]
        from maia.llm.models import described

        endpoint = self._endpoint(bound.provider)
        return described(bound.model, endpoint) if endpoint else ModelInfo(bound.model, bound.provider)


def _is_several(listing: Listing) -> bool:
    """Whether there is a choice to make."""
    return sum(model.usable and not model.is_built_in for model in listing.models) > 1


def _unlisted(listing: Listing) -> list[str]:
    return [endpoint.name for endpoint, _ in listing.failures]


def _by_endpoint(found: Configured, listing: Listing) -> list[tuple[Endpoint, list[str]]]:
    """The ids that each server listed, for the next start."""
    silent = {endpoint.name for endpoint, _ in listing.failures}
    return [
        (endpoint, [model.id for model in listing.models if model.provider == endpoint.name])
        for endpoint in found.endpoints
        if endpoint.target is not None and endpoint.name not in silent
    ]
