"""Finds conversations by the words of their titles and messages: FTS5 in a file, lexemes on PostgreSQL.

Words are cut and folded here, so that both databases find the same. The tables are made by a revision alone, because
SQLAlchemy knows neither of their kinds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, literal_column, text

_LONGEST_WORD, _LONGEST_TEXT, _MOST_ASKED = 60, 200_000, 12
_IDEOGRAPH = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
_WORD = re.compile(r"[^\W_]+")

_PLACES = (
    "CREATE TABLE search_places (id {key}, conversation_id text NOT NULL REFERENCES conversations ON DELETE CASCADE,"
    " message_id text NOT NULL, {words}UNIQUE (conversation_id, message_id))"
)
ON_FILE = (
    _PLACES.format(key="INTEGER PRIMARY KEY", words=""),
    "CREATE VIRTUAL TABLE search_words USING fts5(words)",  # its rowid is the place's id
)
ON_SERVER = (
    _PLACES.format(key="bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", words="words tsvector NOT NULL, "),
    "CREATE INDEX search_places_words ON search_places USING gin (words)",
)
TITLE = ""
"""In place of a message's id: these are the words of the title."""


def words_of(said: str) -> list[str]:
    """The words of a text: in lower case, without accents, each ideograph one by itself."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", said[:_LONGEST_TEXT]) if not _is_mark(each))
    return [word[:_LONGEST_WORD] for word in _WORD.findall(_IDEOGRAPH.sub(r" \1 ", plain.casefold()))]


def _is_mark(char: str) -> bool:
    return unicodedata.category(char) == "Mn"


def keep_words(connection: Connection, conversation_id: str, message_id: str, said: str) -> None:
    """From here on this message, or the title, is found by these words and no others."""
    place = {"c": conversation_id, "m": message_id}
    words = words_of(said)
    if connection.dialect.name == "sqlite":
        _keep_in_file(connection, place, " ".join(words))
    else:
        connection.execute(
            text(
                "INSERT INTO search_places (conversation_id, message_id, words)"
                " VALUES (:c, :m, array_to_tsvector(cast(:w AS text[])))"
                " ON CONFLICT (conversation_id, message_id) DO UPDATE SET words = excluded.words"
            ),
            {**place, "w": sorted(set(words))},
        )


_KNOWN = text("SELECT id FROM search_places WHERE conversation_id = :c AND message_id = :m")
_PLACE = text("INSERT INTO search_places (conversation_id, message_id) VALUES (:c, :m) RETURNING id")
_DROP = text("DELETE FROM search_words WHERE rowid = :n")
_KEEP = text("INSERT INTO search_words (rowid, words) VALUES (:n, :w)")


def _keep_in_file(connection: Connection, place: dict[str, str], words: str) -> None:
    number = connection.execute(_KNOWN, place).scalar()
    if number is not None:
        connection.execute(_DROP, {"n": number})
    else:
        number = connection.execute(_PLACE, place).scalar()
    connection.execute(_KEEP, {"n": number, "w": words})


def asked_for(query: str) -> Sequence[str]:
    """The words that must all be there; the last one may be the beginning of one."""
    return words_of(query)[:_MOST_ASKED]


def matching(connection: Connection, owner_id: str, words: Sequence[str], limit: int) -> Sequence[tuple[str, str]]:
    """The newest conversations of that person that have all these words in the title or in one message.

    Gives (conversation, message), each conversation once; the message is `TITLE` where the title has them all.
    """
    if not words:
        return []
    on_file = connection.dialect.name == "sqlite"
    join, condition = (
        ("JOIN search_words w ON w.rowid = s.id", "w.words MATCH :w")
        if on_file
        else ("", "s.words @@ cast(:w AS tsquery)")
    )
    found = connection.execute(
        text(
            f"SELECT s.conversation_id, min(s.message_id) FROM search_places s {join}"
            f" JOIN conversations c ON c.id = s.conversation_id WHERE {condition}"
            " AND c.owner_id = :o AND c.deleted_at IS NULL"
            " GROUP BY s.conversation_id, c.updated_at ORDER BY c.updated_at DESC LIMIT :n"
        ),
        {"w": _for_file(words) if on_file else _for_server(words), "o": owner_id, "n": limit},
    )
    return [(conversation, message) for conversation, message in found]


def holding(connection: Connection, words: Sequence[str], *, titles_only: bool) -> ColumnElement[bool]:
    """A condition on a row of `conversations`: its title, or unless `titles_only` a message, has all these words."""
    on_file = connection.dialect.name == "sqlite"
    found = (
        "SELECT s.conversation_id FROM search_places s JOIN search_words w ON w.rowid = s.id WHERE w.words MATCH :w"
        if on_file
        else "SELECT s.conversation_id FROM search_places s WHERE s.words @@ cast(:w AS tsquery)"
    )
    found += " AND s.message_id = ''" if titles_only else ""
    given = text(found).bindparams(w=_for_file(words) if on_file else _for_server(words))
    return literal_column("conversations.id").in_(given)


def messages_with_any(connection: Connection, owner_id: str, words: Sequence[str], limit: int) -> Sequence[str]:
    """The newest messages of that person's conversations that have one of these words, as beginnings of theirs."""
    if not words:
        return []
    on_file = connection.dialect.name == "sqlite"
    join, condition, newest = (
        ("search_words w JOIN search_places s ON s.id = w.rowid", "w.words MATCH :w", "w.rowid")
        if on_file
        else ("search_places s", "s.words @@ cast(:w AS tsquery)", "s.id")
    )
    asked = " OR ".join(f'"{word}"*' for word in words) if on_file else " | ".join(f"'{word}':*" for word in words)
    found = connection.execute(
        text(
            f"SELECT s.message_id FROM {join} JOIN conversations c ON c.id = s.conversation_id WHERE {condition}"
            f" AND s.message_id != '' AND c.owner_id = :o AND c.deleted_at IS NULL ORDER BY {newest} DESC LIMIT :n"
        ),
        {"w": asked, "o": owner_id, "n": limit},
    )
    return list(found.scalars())


def _for_file(words: Iterable[str]) -> str:
    return " AND ".join(f'"{word}"' for word in words) + "*"


def _for_server(words: Iterable[str]) -> str:
    return " & ".join(f"'{word}'" for word in words) + ":*"
