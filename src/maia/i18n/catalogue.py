"""Key and values become a sentence in the user's language: the one implementation of the `Say` port."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from maia.core.errors import UsageProblem
from maia.i18n.formats import number

Lang: TypeAlias = Literal["fr", "en"]
LANGUAGES: tuple[Lang, ...] = get_args(Lang)
DEFAULT_LANGUAGE: Lang = "en"

_FOLDER = Path(__file__).parent


def choose_language(option: str | None, env: Mapping[str, str], setting: str | None = None) -> Lang:
    """The language: `--lang`, else `MAIA_LANG`, else the setting `lang`, else the locale, else English.

    As in every POSIX program the first locale variable that is set decides, even when it names a language that is not
    there. Raises `UsageProblem` when `option` names one that is not there.
    """
    if option is not None:
        if lang := _language_of(option):
            return lang
        raise UsageProblem("i18n.unknown_language", given=option, known=", ".join(LANGUAGES))
    for word in (env.get("MAIA_LANG"), setting):
        if word and (lang := _language_of(word)):
            return lang
    locale = next((env[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if env.get(name)), "")
    return _language_of(locale) or DEFAULT_LANGUAGE


def _language_of(word: str) -> Lang | None:
    """`fr`, `FR`, `fr_CA.UTF-8`, `fr-BE@euro` are all French."""
    head = word.strip().replace("-", "_").partition(".")[0].partition("@")[0].partition("_")[0].lower()
    return head if head in LANGUAGES else None


class Catalogue:
    """Sentences of one language; implements `core.ports.Say`.

    `say(key, n=…, name=value)` fills `{name}`; `n` chooses the plural form and fills `{n}`, grouped by thousands as the
    language does. `strict` (tests) raises `KeyError` for an unknown key or a value that is not given; otherwise the key
    or the placeholder is shown as it is.
    """

    def __init__(self, lang: Lang, *, strict: bool = False, folder: Path = _FOLDER) -> None:
        self.lang: Lang = lang
        self._strict = strict
        self._messages = GNUTranslations(BytesIO(_mo(lang, folder)))
        self._messages.add_fallback(_Missing())

    def __call__(self, key: str, /, n: int | None = None, **values: object) -> str:
        try:
            sentence = self._sentence(key, n)
        except KeyError:
            if self._strict:
                raise
            return key
        if n is not None:
            values["n"] = number(n, self.lang)
        return sentence.format_map(values if self._strict else _Lenient(values))

    def has(self, key: str) -> bool:
        """Whether there is a sentence: doors ask before they show an optional remedy (`key + ".fix"`)."""
        try:
            self._sentence(key, None)
        except KeyError:
            return False
        return True

    def _sentence(self, key: str, n: int | None) -> str:
        """The plural form when there are any, else the one sentence, which may show {n} all the same."""
        try:
            return self._messages.ngettext(key, key, 1 if n is None else n)
        except KeyError:
            return self._messages.gettext(key)


class _Missing(NullTranslations):
    """Answers for keys that no catalogue has."""

    def gettext(self, message: str) -> str:
        raise KeyError(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        raise KeyError(msgid1, msgid2, n)


class _Lenient(dict[str, object]):
    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def _mo(lang: Lang, folder: Path) -> bytes:
    """The compiled catalogue, compiled again first where a checkout has newer `.po` files.

    An installed maia has no `.po` files, so there this is one read.
    """
    compiled = folder / f"{lang}.mo"
    sources = folder / lang
    try:
        newest = max((p.stat().st_mtime_ns for p in (sources, *sources.glob("*.po"))), default=0)
    except OSError:
        newest = 0
    if newest == 0 or (compiled.exists() and compiled.stat().st_mtime_ns >= newest):
        return compiled.read_bytes()
    from maia.i18n.po import build  # only in a checkout

    return build(lang, folder, newest)
