"""From a key's shape to who issued it: one table of rules, and what a pasted key is cleaned of first (C1).

Sources: seed 003; gitleaks b58d3f1, trufflehog 3ab759f, detect-secrets 5e14193, the redaction list of hermes-agent
0.19 and redact-secret 0.1.0-beta.15, all of 2026. No scanner has a rule for MiniMax or Z.AI: those are the seed's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from maia.credentials.problems import Problem, fail, warn

Confidence: TypeAlias = Literal["exact", "ambiguous", "low", "none"]
"""`exact`: the shape decides. `ambiguous`: address, hint or variable decides, else the usual. `low`: never alone."""

Kind: TypeAlias = Literal["api", "oauth", "admin", "not-llm", "not-a-key"]
"""`admin` keys manage an account and answer no prompt; `not-llm` belongs to a service without models."""

UNKNOWN: Final = "unknown"
NONE: Final = "none"

SHORT: Final = 16
"""Characters after the prefix below which a key looks cut."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape. `prefix` ends where the secret begins; `pattern`, where there is one, must fit the whole token.

    `others` may have issued it too, beside `provider`.
    """

    name: str
    prefix: str
    provider: str
    confidence: Confidence = "exact"
    kind: Kind = "api"
    pattern: str = ""
    others: tuple[str, ...] = ()


def _exact(provider: str, *prefixes: str, kind: Kind = "api") -> tuple[Rule, ...]:
    return tuple(Rule(prefix, prefix, provider, kind=kind) for prefix in prefixes)


_BARE_SK: Final = (
    *("deepseek", "moonshot", "dashscope", "minimax", "siliconflow", "stepfun"),
    *("baichuan", "novita", "nebius", "deepinfra", "litellm"),
)
"""Who else issues keys that begin with a bare `sk-`."""

RULES: Final[tuple[Rule, ...]] = (
    *_exact("minimax", "sk-cp-", "sk-mm-"),
    *_exact("anthropic", "sk-ant-oat", kind="oauth"),
    *_exact("anthropic", "sk-ant-admin", kind="admin"),
    *_exact("anthropic", "sk-ant-api03-", "sk-ant-"),
    *_exact("openrouter", "sk-or-v1-", "sk-or-"),
    *_exact("openai", "sk-proj-", "sk-svcacct-", "sk-service-"),
    *_exact("openai", "sk-admin-", kind="admin"),
    *_exact("kimi", "sk-kimi-"),
    *_exact("langfuse", "sk-lf-", "pk-lf-", kind="not-llm"),
    Rule("sk-…T3BlbkFJ…", "sk-", "openai", pattern=r"sk-[\w-]*T3BlbkFJ[\w-]*"),
    Rule("sk- and 32", "sk-", "deepseek", "ambiguous", pattern=r"sk-[0-9a-f]{32}", others=("openai", *_BARE_SK[1:])),
    Rule("sk-", "sk-", "openai", "ambiguous", others=_BARE_SK),
    *_exact("google", "AIza"),
    *_exact("groq", "gsk_"),
    *_exact("xai", "xai-"),
    *_exact("perplexity", "pplx-"),
    *_exact("huggingface", "hf_", "api_org_"),
    *_exact("replicate", "r8_"),
    *_exact("fireworks", "fw_", "fw-", "fpk_"),
    *_exact("cerebras", "csk-", "csk_"),
    *_exact("nvidia", "nvapi-"),
    *_exact("github-models", "ghp_", "github_pat_", "gho_", "ghu_", "ghs_"),
    *_exact("bedrock", "ABSK", "bedrock-api-key-"),
    *_exact("langsmith", "lsv2_pt_", "lsv2_sk_", kind="not-llm"),
    Rule("elevenlabs", "sk_", "elevenlabs", kind="not-llm", pattern=r"sk_[0-9a-f]{48}"),
    Rule("databricks", "dapi", "databricks", pattern=r"dapi[0-9a-f]{32}(?:-\d)?"),
    *(
        Rule(prefix, prefix, "aws", kind="not-a-key", pattern=rf"{prefix}[0-9A-Z]{{16}}")
        for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")
    ),
    Rule("together", "tgp_v1_", "together", "ambiguous"),
    Rule("32 hex, dot", "", "zai", pattern=r"[0-9A-Fa-f]{32}\.[0-9A-Za-z]{16,}"),
    Rule("32 hex, dot, few", "", "zai", "low", pattern=r"[0-9A-Fa-f]{32}\.[0-9A-Za-z]{1,15}"),
    Rule("32 hex", "", "zai", "ambiguous", pattern=r"[0-9A-Fa-f]{32}", others=("azure-openai", "mistral")),
    # A card number is digits too: such a thing is sent nowhere.
    Rule("digits", "", UNKNOWN, "low", "not-a-key", pattern=r"[0-9]{12,19}"),
    Rule("16 or more hex", "", "zai", "low", pattern=r"[0-9A-Fa-f]{16,}", others=("cohere", "together")),
    Rule("jwt", "eyJ", UNKNOWN, "none", pattern=r"eyJ[\w-]+\.[\w-]+\.[\w-]*"),
)
"""Longest prefix first where one begins with another; what has no prefix comes after what has one."""


@dataclass(frozen=True, slots=True)
class Detection:
    """Who issued a key, by its shape alone. It holds no part of the key but the rule's own prefix.

    `provider` is a family (`minimax`), `unknown`, or `none` where there is no key at all. `others` may have issued it
    too. `problems` of level `fail` say why it cannot be used.
    """

    provider: str
    confidence: Confidence
    rule: str = ""
    kind: Kind = "api"
    others: tuple[str, ...] = ()
    prefix: str = ""
    length: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def error(self) -> Problem | None:
        return next((problem for problem in self.problems if problem.level == "fail"), None)

    @property
    def candidates(self) -> tuple[str, ...]:
        """All who may have issued it, the likeliest first; empty when nothing is known."""
        return () if self.provider in (UNKNOWN, NONE) else (self.provider, *self.others)

    @property
    def masked(self) -> str:
        """How a person sees the key: prefix and length only (C5.02)."""
        return f"{self.prefix}…({self.length})"


NOTHING: Final = Detection(NONE, "none")
"""Where there is no key at all."""


# Cleaning -------------------------------------------------------------------------------------------------------------

_QUOTES: Final = "\"'`“”‘’«»"
_BLANK: Final = "\ufeff\u200b\u2060"
_BEARER: Final = "bearer"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A token without what came along when it was pasted. `text` is empty whenever there is an error."""

    text: str
    problems: tuple[Problem, ...] = ()

    def __repr__(self) -> str:
        return f"Cleaned(…{len(self.text)}, {self.problems!r})"

    @property
    def error(self) -> Problem | None:
        return next((problem for problem in self.problems if problem.level == "fail"), None)


def clean_token(raw: str) -> Cleaned:
    """Take off white space, line ends, quotes and `Bearer`, and refuse what is no key (C1.01)."""
    text = _bare(raw)
    if problem := _refusal(text):
        return Cleaned("", (problem,))
    return Cleaned(text, () if text == raw else (warn("TOKEN_WHITESPACE"),))


def _bare(raw: str) -> str:
    text, before = raw, None
    if _plain().fullmatch(raw):  # nothing to take off: nearly every key
        return raw
    while text != before:
        before = text
        text = text.strip().strip(_BLANK)
        if text[:1] in _QUOTES and text[-1:] in _QUOTES:
            text = text[1:-1]
        if text[:6].lower() == _BEARER and (len(text) == len(_BEARER) or text[6].isspace()):
            text = text[6:]
    return text


def _refusal(text: str) -> Problem | None:
    if not text:
        return fail("EMPTY_TOKEN")
    if _control().search(text):
        return fail("CONTROL_CHARACTER")
    if text[0] == "$" and _reference().fullmatch(text):
        return fail("MISSING_ENV_VAR", variable=_variable(text))
    if "***" in text or "•" in text or "…" in text or "..." in text or set(text) <= {"*"}:
        return fail("MASKED_TOKEN")
    if not text.isascii() or " " in text:
        return fail("BAD_CHARACTER")
    return None


def _variable(reference: str) -> str:
    """The name in `$NAME`, `${NAME}` or `${NAME:-…}`, as it may be shown."""
    return shown_name(re.split(r"\W", reference.strip("${}"), maxsplit=1)[0])


@cache
def _plain() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_.-]{7,}")


@cache
def _control() -> re.Pattern[str]:
    return re.compile(r"[\x00-\x1f\x7f-\x9f]")


@cache
def _reference() -> re.Pattern[str]:
    return re.compile(r"\$[A-Za-z_]\w*|\$\{[^}]*\}", re.ASCII)


# Detecting ------------------------------------------------------------------------------------------------------------


def detect(raw: str) -> Detection:
    """Who issued a key. Pure; never raises."""
    cleaned = clean_token(raw)
    if cleaned.error:
        return Detection(NONE, "none", problems=cleaned.problems)
    return _by_rules(cleaned.text, cleaned.problems)


def _by_rules(token: str, problems: tuple[Problem, ...]) -> Detection:
    rule = _rule_of(token)
    if rule is None:
        return Detection(UNKNOWN, "none", length=len(token), problems=problems)
    if len(token) == len(rule.prefix):
        cut = (*problems, fail("TRUNCATED_TOKEN", prefix=rule.prefix))
        return Detection(UNKNOWN, "none", rule.name, prefix=rule.prefix, length=len(token), problems=cut)
    return Detection(
        rule.provider,
        rule.confidence,
        rule.name,
        rule.kind,
        rule.others,
        rule.prefix,
        len(token),
        (*problems, *_about(rule, token)),
    )


def _about(rule: Rule, token: str) -> tuple[Problem, ...]:
    """What is known of a key of this rule beside who issued it."""
    match rule.kind:
        case "admin":
            return (fail("ADMIN_KEY", provider=rule.provider),)
        case "not-llm":
            return (fail("NOT_AN_LLM_KEY", provider=rule.provider),)
        case "not-a-key":
            return (fail("NOT_AN_API_KEY", shape=rule.name),)
        case _:
            few = rule.name == "32 hex, dot, few" or (rule.prefix and len(token) - len(rule.prefix) < SHORT)
            return (warn("TOKEN_TOO_SHORT", length=len(token)),) if few else ()


def _rule_of(token: str) -> Rule | None:
    by_prefix, lengths, shapes = _index()
    for length in lengths:
        for rule in by_prefix.get(token[:length], ()):
            if not rule.pattern or _compiled(rule.pattern).fullmatch(token) or len(token) == length:
                return rule
    return next((rule for rule in shapes if _compiled(rule.pattern).fullmatch(token)), None)


@cache
def _index() -> tuple[dict[str, tuple[Rule, ...]], tuple[int, ...], tuple[Rule, ...]]:
    """Rules by prefix, the lengths of prefixes from long to short, and the rules without one."""
    by_prefix: dict[str, tuple[Rule, ...]] = {}
    for rule in RULES:
        if rule.prefix:
            by_prefix[rule.prefix] = (*by_prefix.get(rule.prefix, ()), rule)
    lengths = tuple(sorted({len(prefix) for prefix in by_prefix}, reverse=True))
    return by_prefix, lengths, tuple(rule for rule in RULES if not rule.prefix)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


@cache
def prefixed() -> frozenset[str]:
    """Providers whose keys show who issued them, so that a key of another known shape is none of theirs."""
    # MiniMax also issues pay-as-you-go keys without a prefix (MiniMax-01 issue 69).
    return frozenset(rule.provider for rule in RULES if rule.confidence == "exact" and rule.provider != "minimax")


def shown_name(name: str) -> str:
    """A variable's name as it may be shown: somebody may have written a key where a name belongs.

    Names are of one case with few digits; anything else gives its length only.
    """
    is_name = re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}|[a-z_][a-z0-9_]{0,63}", name) is not None
    few_digits = sum(char.isdigit() for char in name) <= 3
    return name if is_name and few_digits and _rule_of(name) is None else f"…({len(name)})"


def mask(token: str) -> str:
    """A key as it may be shown: the prefix of its rule and its length."""
    return detect(token).masked
