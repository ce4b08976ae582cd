import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maia.database import users
from maia.database.address import database_url
from maia.database.database import Database
from maia.workspace.people.passwords import hashed
from tests.web.serving import Frame, Visitor, serving

API = "/api/v1/conversations"


def made(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def create(visitor: Visitor, *folders: Path | str, **more: Any) -> dict[str, Any]:
    body = {"folders": [{"name": "", "path": str(each)} for each in folders], **more}
    done = visitor.ask("POST", API, body)
    assert done.status_code == 201, done.text
    return done.json()


def turn(visitor: Visitor, conversation: str, content: str = "Go") -> list[Frame]:
    begun = visitor.say(conversation, content)
    return visitor.until_done(conversation, begun["cursor"])


def results(frames: list[Frame]) -> list[dict[str, Any]]:
    return [frame.json["event"] for frame in frames if frame.kind == "ToolCallFinished"]


def succeeded(frames: list[Frame]) -> list[bool]:
    return [each["status"] == "succeeded" for each in results(frames)]


def calls(*calls: tuple[str, dict[str, Any]]) -> list[Any]:
    script: list[Any] = [{"call": {"name": name, "arguments": arguments}} for name, arguments in calls]
    return [*script, {"text": "Done."}]


@pytest.mark.parametrize("body", [{}, {"folders": []}], ids=["no list", "an empty list"])
def test_a_conversation_without_folders_gets_its_own_workspace_at_once(owner: Visitor, body: dict[str, Any]) -> None:
    conversation = owner.ask("POST", API, body).json()
    (folder,) = conversation["folders"]
    path = Path(folder["path"])
    assert (folder["name"], folder["isWorkspace"], path.name) == ("workspace", True, conversation["id"])
    assert path.stat().st_mode & 0o777 == 0o700
    assert owner.ask("GET", f"{API}/{conversation['id']}").json()["folders"] == [folder]


def test_folders_that_were_given_are_kept_in_their_order_and_never_replaced(owner: Visitor, tmp_path: Path) -> None:
    one, two = made(tmp_path / "one"), made(tmp_path / "two")
    conversation = create(owner, f"{one}/", two)
    expected = [{"name": each.name, "path": str(each), "isWorkspace": False} for each in (one, two)]
    assert conversation["folders"] == expected
    turn(owner, conversation["id"])
    assert owner.ask("GET", f"{API}/{conversation['id']}").json()["folders"] == expected


@pytest.mark.parametrize(("lang", "words"), [("fr", "Choisissez plutôt"), ("en", "Choose a project folder inside")])
def test_a_refused_folder_makes_no_conversation_and_says_why(owner: Visitor, lang: str, words: str) -> None:
    before = owner.ask("GET", API).json()
    done = owner.ask("POST", API, {"folders": [{"path": "/"}]}, accept_language=lang)
    body = done.json()
    assert (done.status_code, body["error"], body["code"], body["path"]) == (400, "home", "home", "/")
    assert words in body["message"]
    assert "found" not in body
    assert owner.ask("GET", API).json() == before


def test_a_folder_that_contains_something_protected_names_it(owner: Visitor, tmp_path: Path) -> None:
    vault = made(tmp_path / "docs/Vault/.obsidian").parent
    body = owner.ask("POST", API, {"folders": [{"path": str(vault.parent)}]}).json()
    assert (body["code"], body["path"], body["found"]) == ("containsVault", str(vault.parent), str(vault))
    for path, code in (("relative", "notAbsolute"), (str(tmp_path / "no"), "notFound"), (__file__, "notDirectory")):
        assert owner.ask("POST", API, {"folders": [{"path": path}]}).json()["code"] == code


def test_a_change_of_the_list_is_checked_whole_before_anything_changes(owner: Visitor, tmp_path: Path) -> None:
    one, two = made(tmp_path / "one"), made(tmp_path / "two")
    conversation = create(owner, one, title="Before")
    path = f"{API}/{conversation['id']}"
    made(one / "ai-memory")
    refused = owner.ask("PATCH", path, {"title": "After", "folders": [{"path": str(one)}, {"path": str(two)}]})
    assert (refused.status_code, refused.json()["code"], refused.json()["found"]) == (
        400,
        "containsVault",
        f"{one}/ai-memory",
    )
    now = owner.ask("GET", path).json()
    assert (now["title"], now["folders"]) == ("Before", conversation["folders"])
    changed = owner.ask("PATCH", path, {"folders": [{"name": "Two", "path": str(two)}]}).json()
    assert changed["folders"] == [{"name": "Two", "path": str(two), "isWorkspace": False}]


def test_a_conversation_whose_folders_were_all_removed_gets_its_workspace_at_the_next_message(
    owner: Visitor, tmp_path: Path
) -> None:
    conversation = create(owner, made(tmp_path / "one"))
    path = f"{API}/{conversation['id']}"
    assert owner.ask("PATCH", path, {"folders": []}).json()["folders"] == []
    turn(owner, conversation["id"])
    (folder,) = owner.ask("GET", path).json()["folders"]
    assert (folder["isWorkspace"], Path(folder["path"]).name) == (True, conversation["id"])


def test_tools_work_in_all_folders_and_in_no_other(data: Path, tmp_path: Path) -> None:
    one, two, three = (made(tmp_path / name, note=f"I am {name}") for name in ("one", "two", "three"))
    (one / "door").symlink_to(three)
    reads = [("Read", {"path": path}) for path in ("note", f"{two}/note", f"{three}/note", "door/note")]
    with serving(data, script=calls(*reads)) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        found = results(turn(visitor, create(visitor, one, two)["id"]))
    assert [("I am" in each["text"], each["status"]) for each in found] == [
        (True, "succeeded"),
        (True, "succeeded"),
        (False, "refused"),
        (False, "refused"),
    ]


def test_a_folder_that_is_refused_by_now_is_left_out_of_the_turn_and_told(data: Path, tmp_path: Path) -> None:
    one, two = made(tmp_path / "one", note="one"), made(tmp_path / "two", note="two")
    reads = [("Read", {"path": "note"}), ("Read", {"path": f"{one}/note"})]
    with serving(data, script=calls(*reads)) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = create(visitor, one, two)
        made(one / ".obsidian")
        frames = turn(visitor, conversation["id"])
        events = [frame.json["event"] for frame in frames if frame.kind == "Notice"]
        told = [each["values"] for each in events if each["key"] == "folders.left_out"]
        kept = visitor.ask("GET", f"{API}/{conversation['id']}").json()["folders"]
        page = visitor.client.get(f"/conversations/{conversation['id']}", headers={"accept": "text/html"}).text
    assert told == [{"folder": str(one)}]
    assert [("two" in each["text"], each["status"]) for each in results(frames)] == [
        (True, "succeeded"),
        (False, "refused"),
    ]
    assert kept == conversation["folders"], "what was saved is not rewritten"
    assert str(one) in page


def test_where_every_folder_is_refused_the_own_workspace_takes_their_place(data: Path, tmp_path: Path) -> None:
    one, gone = made(tmp_path / "one", note="one"), made(tmp_path / "gone")
    script = calls(("Read", {"path": f"{one}/note"}), ("Glob", {"pattern": "*"}))
    with serving(data, script=script) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = create(visitor, one, gone)
        made(one / ".obsidian")
        gone.rmdir()
        frames = turn(visitor, conversation["id"])
    notices = [frame.json["event"] for frame in frames if frame.kind == "Notice"]
    folders = [each["values"]["folder"] for each in notices if each["key"] == "start.folder"]
    assert folders in ([], [str(data / "workspaces" / conversation["id"])])
    assert succeeded(frames) == [False, True]
    assert [each["values"]["folder"] for each in notices if each["key"] == "folders.left_out"] == [str(one)]
    assert (data / "workspaces" / conversation["id"]).is_dir()


def test_searches_leave_out_what_is_protected_deep_inside(data: Path, tmp_path: Path) -> None:
    deep = "a/b/c/d/e/f/g/h/i/Vault"
    project = made(tmp_path / "project", harbour="needle here")
    made(project / deep / ".obsidian")
    made(project / deep, secret="needle there")
    (project / ".env").write_text("needle=1")
    script = calls(
        ("Grep", {"pattern": "needle"}), ("Glob", {"pattern": "**/*"}), ("Grep", {"pattern": "x", "path": deep})
    )
    with serving(data, script=script) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        found = results(turn(visitor, create(visitor, project)["id"]))
    assert ["harbour" in each["text"] for each in found] == [True, True, False]
    assert ["secret" in each["text"] or "there" in each["text"] for each in found] == [False] * 3
    assert found[2]["status"] == "refused"


def test_where_no_workspace_can_be_made_there_is_no_folder_and_the_answer_comes(data: Path, tmp_path: Path) -> None:
    blocked, temporary = made(tmp_path / "blocked", ws="a file"), made(tmp_path / "tmp")
    script = calls(("Read", {"path": "/etc/hostname"}), ("Glob", {"pattern": "*"}))
    with (
        serving(data, script=script, MAIA_WORKSPACES_DIR=str(blocked / "ws"), TMPDIR=str(temporary)) as server,
        Visitor(server.url) as visitor,
    ):
        visitor.become_owner(server.token)
        conversation = create(visitor)
        assert conversation["folders"] == []
        frames = turn(visitor, conversation["id"])
    assert frames[-1].json["turnMeta"]["outcome"] == "finished"
    assert succeeded(frames) == [False, False]
    assert list(temporary.glob("maia-nowhere-*")) == []


@pytest.fixture
def two(data: Path) -> Iterator[tuple[Visitor, Visitor]]:
    """Two people of one server."""
    with serving(data) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
    kept = asyncio.run(hashed("another horse"))
    database = Database(database_url(None, data))
    asyncio.run(database.write(lambda c: users.add_user(c, "noor@example.org", "Noor", "admin", kept, None)))
    database.close()
    with serving(data) as server, Visitor(server.url) as one, Visitor(server.url) as other:
        one.sign_in()
        other.sign_in("noor@example.org", "another horse")
        yield one, other


def test_a_workspace_is_open_to_the_same_person_only(two: tuple[Visitor, Visitor], tmp_path: Path) -> None:
    one, other = two
    workspace = create(one)["folders"][0]["path"]
    link = tmp_path / "link"
    link.symlink_to(workspace)
    for path in (workspace, str(link), f"{workspace}/."):
        again = create(one, path)
        assert again["folders"][0]["isWorkspace"] is False
        refused = other.ask("POST", API, {"folders": [{"path": path}]})
        assert (refused.status_code, refused.json()["code"]) == (400, "otherWorkspace")


def test_a_conversation_copies_the_folders_of_its_project_else_of_the_type(owner: Visitor, tmp_path: Path) -> None:
    one, two, three = (made(tmp_path / name) for name in ("one", "two", "three"))
    kind = owner.ask("POST", "/api/v1/project-types", {"name": "Type"}).json()["id"]
    own, bare, none = (
        owner.ask("POST", "/api/v1/projects", {"name": name, "typeId": type_id}).json()["id"]
        for name, type_id in (("Own", kind), ("Bare", kind), ("None", None))
    )
    for place, folder in ((f"projects/{own}", one), (f"project-types/{kind}", two)):
        kept = owner.ask("PUT", f"/api/v1/{place}/folders", {"folders": [{"path": str(folder)}]})
        assert [each["path"] for each in kept.json()["folders"]] == [str(folder)], kept.text
        assert owner.ask("GET", f"/api/v1/{place}/folders").json() == kept.json()

    def paths(conversation: dict[str, Any]) -> list[str]:
        return [each["path"] for each in owner.ask("GET", f"{API}/{conversation['id']}").json()["folders"]]

    assert paths(create(owner, projectId=own)) == [str(one)]
    assert paths(create(owner, projectId=bare)) == [str(two)]
    assert paths(create(owner, three, projectId=own)) == [str(three)], "what was sent is never replaced"
    conversation = create(owner, three)
    path = f"{API}/{conversation['id']}"
    assert paths(owner.ask("PATCH", path, {"projectId": own}).json()) == [str(one)]
    assert paths(owner.ask("PATCH", path, {"projectId": bare}).json()) == [str(two)]
    assert paths(owner.ask("PATCH", path, {"projectId": own, "folders": [{"path": str(three)}]}).json()) == [str(three)]
    (workspace,) = owner.ask("PATCH", path, {"projectId": none}).json()["folders"]
    assert (workspace["isWorkspace"], Path(workspace["path"]).is_dir()) == (True, True)
    refused = owner.ask("PUT", f"/api/v1/projects/{own}/folders", {"folders": [{"path": "/"}]})
    assert (refused.status_code, refused.json()["code"]) == (400, "home")
    assert owner.ask("GET", f"/api/v1/projects/{own}/folders").json()["folders"][0]["path"] == str(one)
    assert owner.ask("PUT", "/api/v1/projects/nowhere/folders", {"folders": []}).status_code == 404
