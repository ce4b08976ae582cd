import os
import struct
from datetime import date
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

import pytest

from maia.core.errors import UsageProblem
from maia.i18n import formats
from maia.i18n.catalogue import Catalogue, choose_language
from maia.i18n.po import PoProblem, build_all, mo_bytes, read_po


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for lang, one, many in (("fr", "{n} règle", "{n} règles"), ("en", "{n} rule", "{n} rules")):
        (tmp_path / lang).mkdir()
        (tmp_path / lang / "a.po").write_text(
            f'msgid ""\nmsgstr "Language: {lang}\\n"\n\n'
            f'msgid "rules"\nmsgid_plural "rules"\nmsgstr[0] "{one}"\nmsgstr[1] "{many}"\n\n'
            f'#, fuzzy\nmsgid "lang"\nmsgstr ""\n"{lang} "\n"{{name}}\\n"\n',
            "utf-8",
        )
    return tmp_path


@pytest.mark.parametrize(
    ("lang", "n", "shown"),
    [
        ("fr", 0, "0 règle"),
        ("fr", 1, "1 règle"),
        ("fr", 2, "2 règles"),
        ("fr", 12000, "12\u202f000 règles"),
        ("en", 0, "0 rules"),
        ("en", 1, "1 rule"),
        ("en", 12000, "12,000 rules"),
    ],
)
def test_each_language_counts_and_groups_in_its_own_way(folder: Path, lang: str, n: int, shown: str) -> None:
    assert Catalogue(lang, strict=True, folder=folder)("rules", n=n) == shown


def test_a_value_fills_its_placeholder_and_is_never_read_as_a_pattern(folder: Path) -> None:
    assert Catalogue("fr", folder=folder)("lang", name="{x} {0} %s") == "fr {x} {0} %s\n"


def test_an_unknown_key_or_a_missing_value_raises_under_test_and_is_shown_in_use(folder: Path) -> None:
    strict, lenient = Catalogue("en", strict=True, folder=folder), Catalogue("en", folder=folder)
    with pytest.raises(KeyError):
        strict("no.such.key")
    with pytest.raises(KeyError):
        strict("no.such.key", n=3)
    with pytest.raises(KeyError):
        strict("lang")
    assert (lenient("no.such.key"), lenient("lang")) == ("no.such.key", "en {name}\n")
    assert (lenient.has("lang"), lenient.has("rules"), lenient.has("lang.fix")) == (True, True, False)


def test_a_saved_or_removed_source_is_compiled_again_at_the_next_start(folder: Path) -> None:
    Catalogue("en", folder=folder)
    more = folder / "en" / "b.po"
    more.write_text('msgid "b"\nmsgstr "B"\n', "utf-8")
    later = (folder / "en.mo").stat().st_mtime_ns + 10**9
    os.utime(more, ns=(later, later))
    assert Catalogue("en", strict=True, folder=folder)("b") == "B"
    more.unlink()
    os.utime(folder / "en", ns=(later + 10**9, later + 10**9))
    assert not Catalogue("en", folder=folder).has("b")


def test_an_installed_catalogue_needs_no_sources(folder: Path) -> None:
    build_all(folder)
    for path in (*folder.glob("*/*.po"), *folder.glob("??")):
        path.unlink() if path.is_file() else path.rmdir()
    assert Catalogue("fr", strict=True, folder=folder)("rules", n=2) == "2 règles"


def test_a_catalogue_that_cannot_be_written_is_used_from_memory(folder: Path) -> None:
    (folder / "en.mo").mkdir()
    os.utime(folder / "en.mo", ns=(1, 1))
    assert Catalogue("en", strict=True, folder=folder)("rules", n=1) == "1 rule"


@pytest.mark.parametrize(
    ("option", "env", "setting", "lang"),
    [
        pytest.param("fr", {"MAIA_LANG": "en"}, "en", "fr", id="the option wins"),
        pytest.param(None, {"MAIA_LANG": "fr", "LANG": "en_GB.UTF-8"}, "en", "fr", id="then MAIA_LANG"),
        pytest.param(None, {"LANG": "en_GB.UTF-8"}, "fr", "fr", id="then the setting"),
        pytest.param(None, {"LC_ALL": "fr_CA.UTF-8", "LANG": "en"}, None, "fr", id="then LC_ALL"),
        pytest.param(None, {"LC_ALL": "C", "LANG": "fr_FR"}, None, "en", id="the first locale that is set decides"),
        pytest.param(None, {"LC_ALL": "", "LC_MESSAGES": "fr_BE@euro"}, None, "fr", id="an empty one is not set"),
        pytest.param(None, {"LANG": "de_DE.UTF-8"}, None, "en", id="a language we do not have"),
        pytest.param(None, {"MAIA_LANG": "de", "LANG": "fr_FR"}, None, "fr", id="an unknown MAIA_LANG is passed over"),
        pytest.param(None, {}, None, "en", id="nothing set"),
        pytest.param("FR-fr", {}, None, "fr", id="any usual spelling"),
    ],
)
def test_the_language_is_chosen_in_order(option: str | None, env: dict[str, str], setting: str, lang: str) -> None:
    assert choose_language(option, env, setting) == lang


def test_an_option_that_names_no_language_is_a_usage_problem() -> None:
    with pytest.raises(UsageProblem) as caught:
        choose_language("de", {})
    assert (caught.value.key, caught.value.exit_code) == ("i18n.unknown_language", 2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('msgid "a"\n', "no sentence"),
        ('msgid "a"\nmsgstr "x"\nmsgstr "y"\n', "twice"),
        ('msgid "a"\nmsgstr "x"\n\nmsgid "a"\nmsgstr "y"\n', "twice"),
        ('msgid "a"\nmsgstr x\n', "f.po:2: cannot be read"),
        ('"lost"\n', "f.po:1: cannot be read"),
        ('msgid "a"\nmsgstr "\\x"\n', "f.po:2: the quotes"),
        ('msgid "a"\nmsgid_plural "a"\nmsgstr[0] "x"\n', "no sentence"),
    ],
)
def test_a_broken_source_is_named_with_its_place(text: str, why: str) -> None:
    with pytest.raises(PoProblem, match=why):
        read_po(text, "f.po")


def test_the_compiled_file_is_one_that_gettext_reads() -> None:
    data = mo_bytes({"b": ("été",), "a": ("une", "des")}, "fr")
    assert struct.unpack("<3I", data[:12]) == (0x950412DE, 0, 3)
    read = GNUTranslations(BytesIO(data))
    assert (read.gettext("b"), read.ngettext("a", "a", 1), read.ngettext("a", "a", 2)) == ("été", "une", "des")


@pytest.mark.parametrize(
    ("shown", "fr", "en"),
    [
        pytest.param(lambda lang: formats.number(412208, lang), "412\u202f208", "412,208", id="thousands"),
        pytest.param(lambda lang: formats.number(-1234.5, lang, 2), "-1\u202f234,50", "-1,234.50", id="decimals"),
        pytest.param(lambda lang: formats.seconds(3.14, lang), "3,1\u00a0s", "3.1\u00a0s", id="seconds"),
        pytest.param(lambda lang: formats.seconds(59.97, lang), "1\u00a0min\u00a000", "1\u00a0min\u00a000", id="60 s"),
        pytest.param(lambda lang: formats.seconds(7500, lang), "2\u00a0h\u00a005", "2\u00a0h\u00a005", id="hours"),
        pytest.param(lambda lang: formats.size(999, lang), "999\u00a0o", "999\u00a0B", id="bytes"),
        pytest.param(lambda lang: formats.size(1_500_000, lang), "1,5\u00a0Mo", "1.5\u00a0MB", id="megabytes"),
        pytest.param(
            lambda lang: formats.day(date(2026, 11, 27), lang, date(2026, 11, 30)),
            "27\u00a0nov.",
            "27\u00a0Nov",
            id="day",
        ),
        pytest.param(
            lambda lang: formats.day(date(2025, 8, 1), lang, date(2026, 11, 30)),
            "1\u00a0août\u00a02025",
            "1\u00a0Aug\u00a02025",
            id="day of another year",
        ),
    ],
)
def test_numbers_and_days_follow_the_language(shown, fr: str, en: str) -> None:
    assert (shown("fr"), shown("en")) == (fr, en)
