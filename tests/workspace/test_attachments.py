"""Files of conversations: what waits, goes along, is seen, is written by a model, and is removed."""

import asyncio
import base64
import errno
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import Connection

from maia.core.events import Notice, TextDelta, TurnEnded, UserSaid
from maia.core.messages import ImagePart, TextPart, UserMessage
from maia.core.runtime import Desk, ProgramEnd, ProgramTask
from maia.core.submission import Attachment, Submission
from maia.database.attachments import AttachmentRow, mark_sent
from maia.database.conversations import ConversationRow
from maia.database.messages import open_turn
from maia.database.providers import ModelRow
from maia.engine.setup import Bound
from maia.files.blobs import Incoming
from maia.files.placing import PLACE
from maia.privacy.destination import Destination
from maia.workspace.files import attachments as kept
from maia.workspace.files.attachments import LARGEST_FILE, MOST_FILES
from maia.workspace.files.joining import room_for
from maia.workspace.problems import FileGone, FileRefused, FileTooLarge, NoRoomForFile, NotYours, PrivacyBlocked
from maia.workspace.workspace import Workspace
from tests.files import making
from tests.workspace.doubles import PlayedModels, PlayedSupply, PlayedWire, workspace_on
from tests.workspace.test_turns import until

IBAN = "FR14 2004 1010 0505 0001 3M02 606"
ELSEWHERE = Destination("endpoint", "https://api.example.org/v1")


async def parts(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 1 << 20):
        yield content[start : start + (1 << 20)]


async def given(workspace: Workspace, row: ConversationRow, name: str, content: bytes) -> AttachmentRow:
    return await workspace.attachments.take_in(row, name, parts(content))


async def said(workspace: Workspace, user: Any, row: ConversationRow, text: str, *files: AttachmentRow) -> list[Any]:
    """The events of a turn to its end, and what follows it."""
    row = await workspace.conversation(user, row.id)
    await workspace.submit(user, row, Submission(text), files=[each.id for each in files])
    seen = await until(workspace, row, row.last_seq, TurnEnded)
    await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - what is gathered comes after the end
    now = await workspace.conversation(user, row.id)
    return [*seen, *(each for each in (await workspace.page(now, 1)).logged if each.seq > seen[-1].seq)]


def blobs(folder: Path) -> list[bytes]:
    return [each.read_bytes() for each in (folder / "data" / "attachments").rglob("*") if each.is_file()]


class Model(PlayedSupply):
    """The one model with what is known of its eyes."""

    def __init__(self, models: PlayedModels, sees: bool | None) -> None:
        super().__init__(models)
        self.sees = sees

    async def models(self, provider_id: str, *, asked: bool = False) -> list[ModelRow]:
        return [replace(each, sees_images=self.sees) for each in await super().models(provider_id)]


@pytest.fixture
def eyes(monkeypatch: pytest.MonkeyPatch) -> Any:
    def have(sees: bool | None) -> None:
        def supply(models: PlayedModels) -> Model:
            return Model(models, sees)

        monkeypatch.setattr("tests.workspace.doubles.PlayedSupply", supply)

    return have


def test_a_file_waits_goes_with_a_message_and_stays_with_it(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Read."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            first = await given(workspace, row, "../notes.txt", b"marzipan\n")
            second = await given(workspace, row, "notes.txt", b"other\n")
            assert [(each.name, each.turn, each.kind) for each in await workspace.attachments.waiting(row)] == [
                ("notes.txt", None, "text"),
                ("notes (2).txt", None, "text"),
            ]
            events = [each.event for each in await said(workspace, user, row, "Read it", first)]
            user_said = next(event for event in events if isinstance(event, UserSaid))
            assert user_said.attachments == (
                Attachment("file", "notes.txt", "marzipan\n", id=first.id, media_type="text/plain", size=9),
            )
            file, *words = shown(wire)[-1]
            assert "marzipan" in file
            assert words == ["Read it"]
            assert [each.turn for each in await workspace.attachments.of(row)] == [1, None]
            with pytest.raises(FileGone):
                await workspace.attachments.remove(user, first.id)
            with pytest.raises(FileGone):
                await workspace.submit(user, row, Submission("again"), files=[first.id])
            assert (await workspace.conversation(user, row.id)).last_turn == 1
            await workspace.attachments.remove(user, second.id)
            assert blobs(tmp_path) == [b"marzipan\n"]
            found = await workspace.cards.search(user, "marzipan")
            assert [each.row.id for each in found] == [row.id]

    asyncio.run(story())


def test_a_message_whose_server_was_killed_at_once_keeps_its_files(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire(["Yes."]))) as (workspace, user):
            row = await workspace.create(user, "", "en")
            file = await given(workspace, row, "list.txt", b"one\ntwo")

            def killed(connection: Connection) -> None:
                opened = open_turn(connection, row.id, user.id, "Count them")
                mark_sent(connection, [file.id], opened.turn)

            await workspace._database.write(killed)  # pyright: ignore[reportPrivateUsage] - as its turn begins
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire(["Yes."]))) as (workspace, user):
            shown = await workspace.page(await workspace.conversation(user, row.id), 1)
            said = [each.event for each in shown.logged if isinstance(each.event, UserSaid)]
            kind = file.media_type
            assert said == [
                UserSaid(
                    "Count them", (Attachment("file", "list.txt", "one\ntwo", id=file.id, media_type=kind, size=7),)
                )
            ]

    asyncio.run(story())


def test_files_alone_are_a_message_and_name_it(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Read."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await said(workspace, user, row, "", await given(workspace, row, "plan.txt", b"x"))
            assert (await workspace.conversation(user, row.id)).title == "plan.txt"
            assert len(shown(wire)[-1]) == 1

    asyncio.run(story())


REFUSED: dict[str, tuple[bytes, type[Exception]]] = {
    "empty": (b"", FileRefused),
    "too large": (b"x" * (LARGEST_FILE + 1), FileTooLarge),
}


@pytest.mark.parametrize(("content", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_taken_leaves_nothing(content: bytes, problem: type[Exception], tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(f"sqlite:///{tmp_path}/m.db", tmp_path, PlayedModels(PlayedWire([]))) as (it, user):
            row = await it.create(user, "", "en")
            with pytest.raises(problem):
                await given(it, row, "a", content)
            assert (await it.attachments.of(row), blobs(tmp_path)) == ([], [])

    asyncio.run(story())


def test_a_message_takes_a_number_of_files_and_no_more(tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(f"sqlite:///{tmp_path}/m.db", tmp_path, PlayedModels(PlayedWire([]))) as (it, user):
            row = await it.create(user, "", "en")
            results = await asyncio.gather(
                *(given(it, row, f"{n}.txt", b"%d" % n) for n in range(MOST_FILES + 3)), return_exceptions=True
            )
            assert sum(isinstance(each, FileRefused) for each in results) == 3
            assert len(await it.attachments.waiting(row)) == MOST_FILES

    asyncio.run(story())


def test_a_full_disk_and_a_caller_who_leaves_keep_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def story() -> None:
        async with workspace_on(f"sqlite:///{tmp_path}/m.db", tmp_path, PlayedModels(PlayedWire([]))) as (it, user):
            row = await it.create(user, "", "en")
            with pytest.raises(ConnectionError):
                await it.attachments.take_in(row, "a", broken())
            with monkeypatch.context() as patch:
                patch.setattr(Incoming, "write", full)
                with pytest.raises(NoRoomForFile):
                    await given(it, row, "a", b"x")
            with monkeypatch.context() as patch:
                patch.setattr(kept, "MOST_BYTES", -1)
                with pytest.raises(NoRoomForFile):
                    await given(it, row, "a", b"x")
            assert (await it.attachments.of(row), blobs(tmp_path)) == ([], [])

    asyncio.run(story())


def test_contents_that_no_row_knows_are_swept_and_deleted_conversations_keep_theirs(
    database_url: str, tmp_path: Path
) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire(["Yes."]))) as (workspace, user):
            row = await workspace.create(user, "", "en")
            picture = await given(workspace, row, "a.jpg", making.photograph())
            await said(workspace, user, row, "look", picture)
            files = workspace.attachments
            stray = files._blobs.add(b"stray")  # pyright: ignore[reportPrivateUsage] - as a server that died leaves it
            for each in (tmp_path / "data" / "attachments").rglob("*"):
                os.utime(each, (1, 1))
            await workspace.cards.delete(user, row)
            with pytest.raises(NotYours):
                await files.one(user, picture.id)
            await files.sweep()
            assert not files.path(stray).exists()
            assert len(blobs(tmp_path)) == 3
            await workspace.cards.restore(user, row.id)
            assert (await files.one(user, picture.id)).id == picture.id

    asyncio.run(story())


# Pictures ------------------------------------------------------------------------------------------------------------


def shown(wire: PlayedWire) -> list[list[str]]:
    """What the model got with each message, without the time that rides on it: `image`, or the text."""
    said = ([*map(_shown, m.parts)] for m in wire.requests[-1].messages if isinstance(m, UserMessage))
    return [[each for each in parts if not each.startswith("Current date and time")] for parts in said]


def _shown(part: TextPart | ImagePart) -> str:
    return "image" if isinstance(part, ImagePart) else part.text


@pytest.mark.parametrize("sees", [True, None])
def test_a_model_that_sees_or_may_gets_the_pictures_in_their_places_each_time(
    sees: bool | None, eyes: Any, database_url: str, tmp_path: Path
) -> None:
    eyes(sees)

    async def story() -> None:
        wire = PlayedWire(["Seen."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await said(workspace, user, row, "one", await given(workspace, row, "a.jpg", making.photograph()))
            events = await said(workspace, user, row, "two")
            label = "An image that the user joined to the request: a.jpg."
            assert shown(wire) == [[label, "image", "one"], ["two"]]
            first = wire.requests[-1].messages[0]
            assert isinstance(first, UserMessage)
            sent = next(part for part in first.parts if isinstance(part, ImagePart))
            assert Image.open(BytesIO(base64.b64decode(sent.data))).size == (30, 60)
            assert sent.media_type == "image/jpeg"
            assert [each.event for each in events if isinstance(each.event, Notice)] == []
            text = str([each.event for each in (await workspace.page(row, 9)).logged])
            assert sent.data not in text

    asyncio.run(story())


def test_a_model_that_does_not_see_gets_a_note_and_the_person_is_told_each_time(
    eyes: Any, database_url: str, tmp_path: Path
) -> None:
    eyes(False)

    async def story() -> None:
        wire = PlayedWire(["Not seen."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            pictures = [await given(workspace, row, name, making.picture()) for name in ("a.png", "b.png")]
            first = await said(workspace, user, row, "one", *pictures)
            second = await said(workspace, user, row, "two")
            note = "[The image is not shown: this model cannot see images.]"
            assert [line.count(note) for line in shown(wire)] == [2, 0]
            for events in (first, second):
                told = [each.event for each in events if isinstance(each.event, Notice)]
                assert told == [Notice("info", "files.images_not_passed", {"n": 2, "model": "m"})]
            assert second[-1].event.outcome == "finished"
            composed = await workspace.composition(await workspace.conversation(user, row.id), 2)
            assert composed is not None
            history = next(each for each in composed.sections if each.name == "history")
            assert note in history.text

    asyncio.run(story())


def test_more_pictures_than_a_request_holds_leave_out_the_earliest(
    eyes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    eyes(True)
    monkeypatch.setattr("maia.workspace.files.pictures.MOST_PICTURES", 1)

    async def story() -> None:
        wire = PlayedWire(["Seen."])
        async with workspace_on(f"sqlite:///{tmp_path}/m.db", tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            for n in (1, 2):
                picture = making.picture(size=(10 * n, 10))
                await said(workspace, user, row, str(n), await given(workspace, row, f"{n}.png", picture))
            lines = shown(wire)
            assert lines[0][1].startswith("[The image is not shown again")
            assert lines[1][1] == "image"
            os.remove(workspace.attachments.path((await workspace.attachments.of(row))[1].sent_digest or ""))
            await said(workspace, user, row, "three")
            assert shown(wire)[1][1] == "[The image is not there any more.]"

    asyncio.run(story())


# Texts ---------------------------------------------------------------------------------------------------------------

ROOM: dict[str, tuple[dict[str, int], int | None, dict[str, int]]] = {
    "all fit": ({"a": 10, "b": 20}, 3000, {"a": 10, "b": 20}),
    "short ones whole": ({"a": 10, "b": 900, "c": 900}, 1500, {"a": 10, "b": 245, "c": 245}),
    "no window": ({"a": 1_000_000}, None, {"a": 32_000}),
    "huge window": ({"a": 1_000_000}, 10_000_000, {"a": 200_000}),
    "nothing": ({}, 100, {}),
}


@pytest.mark.parametrize(("sizes", "window", "room"), ROOM.values(), ids=ROOM)
def test_texts_share_what_room_there_is(sizes: dict[str, int], window: int | None, room: dict[str, int]) -> None:
    assert room_for(sizes, window) == room


def test_a_long_text_is_cut_with_a_mark_and_the_model_is_told_where_it_is_whole(tmp_path: Path) -> None:
    async def story() -> None:
        wire = PlayedWire(["Read."])
        async with workspace_on(f"sqlite:///{tmp_path}/m.db", tmp_path, PlayedModels(wire)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            files = [
                await given(workspace, row, "long.txt", b"begin" + b"x" * 200_000 + b"end"),
                await given(workspace, row, "a.bin", bytes(range(256))),
                await given(workspace, row, "scan.pdf", making.pdf("")),
            ]
            await said(workspace, user, row, "read", *files)
            long, binary, scan, _ = shown(wire)[0]
            assert len(long) < 129_000
            assert "begin" in long
            assert "end\n</data" in long
            assert "characters left out" in long
            for text, name in ((long, "long.txt"), (binary, "a.bin"), (scan, "scan.pdf")):
                assert f"The file itself is at {PLACE}/{name}." in text
            assert "not text" in binary
            assert "no text was found" in scan
            placed = tmp_path / "workspaces" / row.id / PLACE / "long.txt"
            assert placed.stat().st_size == 200_008
            composed = await workspace.composition(await workspace.conversation(user, row.id), 1)
            assert composed is not None
            assert [(each.name, each.origin) for each in composed.sections[-4:]] == [
                ("attachment", "long.txt"),
                ("attachment", "a.bin"),
                ("attachment", "scan.pdf"),
                ("message", ""),
            ]
            assert composed.sections[-4].cut_chars > 70_000

    asyncio.run(story())


def test_a_text_from_a_file_is_masked_and_never_refused_and_a_refused_message_gives_its_files_back(
    database_url: str, tmp_path: Path
) -> None:
    async def story() -> None:
        wire = PlayedWire(["Read."])
        async with workspace_on(database_url, tmp_path, PlayedModels(wire), ELSEWHERE) as (workspace, user):
            row = await workspace.create(user, "", "en")
            file = await given(workspace, row, "iban.txt", f"pay to {IBAN}".encode())
            with pytest.raises(PrivacyBlocked):
                await workspace.submit(user, row, Submission(f"or to {IBAN}"), files=[file.id])
            assert await workspace.attachments.waiting(row) == [file]
            assert not (tmp_path / "workspaces" / row.id / PLACE).exists()
            await said(workspace, user, row, "read", file)
            assert IBAN not in str(wire.requests)
            assert "[IBAN" in shown(wire)[0][0]

    asyncio.run(story())


# Programs and what is written ----------------------------------------------------------------------------------------


class Program:
    """Answers a turn and leaves files in its folder, without any tool of ours."""

    name = "played"

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.tasks: list[ProgramTask] = []

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        self.tasks.append(task)
        for name, content in self.files.items():
            place = task.folder / name
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
        desk.tell(TextDelta("Done."))
        return ProgramEnd("finished")

    async def aclose(self) -> None: ...


class Programs(PlayedModels):
    def __init__(self, program: Program) -> None:
        super().__init__(PlayedWire([]))
        self.program = program

    async def bind(self, name: str, why: Any) -> Bound:
        return Bound(name, "played", None, why, runtime=self.program)


def test_a_program_finds_the_files_in_its_folder_and_what_it_writes_is_kept(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        program = Program({"out/report.html": b"<script>1</script>", "chart.png": making.picture(), ".cache": b"x"})
        async with workspace_on(database_url, tmp_path, Programs(program)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            files = [
                await given(workspace, row, "a.jpg", making.photograph()),
                await given(workspace, row, "b.txt", b"text"),
            ]
            events = await said(workspace, user, row, "go", *files)
            task = program.tasks[0]
            assert f"a.jpg. The file itself is at {PLACE}/a.jpg." in task.text
            assert f"The file itself is at {PLACE}/b.txt." in task.text
            assert b"48.8 N" not in (task.folder / PLACE / "a.jpg").read_bytes()
            notice = events[-1].event
            made = {str(each.path): each for each in await workspace.attachments.of(row) if each.origin == "model"}
            assert sorted(made) == ["chart.png", "out/report.html"]
            assert [made[name].kind for name in sorted(made)] == ["image", "text"]
            assert notice.key == "files.written"
            assert [each["name"] for each in notice.values["files"]] == ["chart.png", "report.html"]
            # the same again is nothing new; another content is; what is gone from the folder stays kept
            program.files = {"chart.png": program.files["chart.png"], "out/report.html": b"<p>2</p>"}
            (tmp_path / "workspaces" / row.id / "chart.png").unlink()
            await said(workspace, user, row, "again")
            rows = [each for each in await workspace.attachments.of(row) if each.origin == "model"]
            assert [(each.path, each.turn) for each in rows] == [
                ("chart.png", 1),
                ("out/report.html", 1),
                ("out/report.html", 2),
            ]
            program.files = {}
            (tmp_path / "workspaces" / row.id / "chart.png").unlink()
            events = await said(workspace, user, row, "nothing")
            assert isinstance(events[-1].event, TurnEnded)
            assert (await workspace.attachments.one(user, rows[0].id)).name == "chart.png"

    asyncio.run(story())


def test_more_files_than_are_kept_after_a_turn_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.workspace.files.gathering.MOST_A_TURN", 2)

    async def story() -> None:
        program = Program({f"{n}.txt": b"%d" % n for n in range(5)})
        async with workspace_on(f"sqlite:///{tmp_path}/m.db", tmp_path, Programs(program)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            events = [each.event for each in await said(workspace, user, row, "go")]
            assert [each.key for each in events if isinstance(each, Notice)] == ["files.written", "files.not_all"]
            assert events[-1].values == {"n": 3}

    asyncio.run(story())
