"""The key that an agent names pays for it: at its provider's endpoint or in its program, and nowhere else (C6.03)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from maia.app.keyguard import guarded, policy_of
from maia.core.errors import UsageProblem
from maia.core.providers import BY_NAME
from maia.core.secret import Secret
from maia.credentials.signals import Ballot, named_by
from maia.credentials.vote import Resolution, resolve
from maia.llm.endpoint import Endpoint
from maia.llm.endpoints import Configured
from maia.runtimes.programs import Program


@dataclass(frozen=True, slots=True)
class AgentKey:
    """A key and the name under which it was found. `hint` is the provider that the agent's model names, if it does."""

    variable: str
    secret: Secret
    hint: str = ""

    def vote(self, env: Mapping[str, str]) -> Resolution:
        """Whose it is."""
        return resolve(Ballot(self.secret, self.variable, hint=self.hint, hint_from="model", policy=policy_of(env)))

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """The environment in which it stands under its provider's own name, and no other key of that provider does."""
        provider = BY_NAME.get(self.vote(env).provider)
        if provider is None or not provider.key_vars:
            return env
        kept = {name: value for name, value in env.items() if name not in provider.key_vars}
        return {**kept, provider.key_vars[0]: self.secret.reveal()}


def agent_key(variable: str, model: str, env: Mapping[str, str]) -> AgentKey:
    """The key of that name, of the environment or kept. Raises `UsageProblem` where there is none."""
    value = env.get(variable, "").strip()
    if not value:
        raise UsageProblem("agents.key.absent", variable=variable)
    provider, slash, _ = model.partition("/")
    return AgentKey(variable, Secret(value), provider if slash else "")


def paid_by(found: Configured, key: AgentKey, env: Mapping[str, str]) -> Configured:
    """Only the endpoint that this key pays for: the one that the model names, else its provider's, else the only one.

    Raises `UsageProblem` where there is none, or where the key must not go there.
    """
    servers = [endpoint for endpoint in found.endpoints if endpoint.target is not None]
    provider = key.vote(env).provider
    wanted = [each for name in (key.hint, provider) if name for each in servers if each.name == name][:1]
    if not wanted and len(servers) == 1:
        wanted = servers
    if not wanted:
        raise UsageProblem("agents.key.nowhere", variable=key.variable, provider=provider)
    paid = guarded(Configured((_paying(wanted[0], key),)), env)
    for problem in paid.notices:
        raise UsageProblem(problem.key, **problem.values)
    return Configured(paid.endpoints, found.notices)


def _paying(endpoint: Endpoint, key: AgentKey) -> Endpoint:
    target = endpoint.target
    return (
        endpoint if target is None else replace(endpoint, source=key.variable, target=replace(target, key=key.secret))
    )


def program_environment(program: Program, key: AgentKey, env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of a program with this key as its only one, under the variable in which the program reads it.

    Raises `UsageProblem` where the program has no variable for a key of that provider.
    """
    vote = key.vote(env)
    own = [name for name in program.key_vars if vote.provider in {each.name for each in named_by(name)}]
    fitting = [name for name in vote.key_vars if name in program.key_vars] or own
    if key.variable in program.key_vars:
        fitting = [key.variable]
    elif not fitting and any(name.endswith("BASE_URL") and env.get(name) for name in program.pass_vars):
        fitting = [name for name in program.key_vars if not named_by(name)]  # whoever answers there, says the address
    if not fitting:
        values = {"variable": key.variable, "provider": vote.provider, "program": program.title}
        raise UsageProblem("agents.key.not_for_program", **values)
    kept = {name: value for name, value in env.items() if name not in program.key_vars}
    return {**kept, fitting[0]: key.secret.reveal()}
