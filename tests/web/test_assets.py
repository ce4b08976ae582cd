import hashlib
import json
import re
from pathlib import Path

import maia.web
from maia.web.drawing.assets import address, assets
from maia.web.drawing.words import CALLS, NOTICES, OUTCOMES, STATUSES
from maia.web.layout.nav import NAV
from tests.web.serving import Visitor

WEB = Path(maia.web.__file__).parent
VENDOR = WEB / "static" / "vendor"


def test_what_comes_from_elsewhere_is_what_was_locked_and_has_its_licence() -> None:
    lock = json.loads((VENDOR / "vendor.lock.json").read_text("utf-8"))
    for entry in lock:
        body = (VENDOR / entry["target"]).read_bytes()
        assert hashlib.sha256(body).hexdigest() == entry["sha256"], entry["name"]
        assert entry["licence"]
        licence = entry["name"].removeprefix("@").replace("/", "-")
        assert (VENDOR / "LICENSES" / f"{licence}.txt").read_text("utf-8").strip()
    locked = {entry["target"] for entry in lock}
    assert {path.name for path in VENDOR.iterdir() if path.is_file()} - {"vendor.lock.json"} == locked


def test_no_page_and_no_script_names_another_server() -> None:
    for path in (*WEB.rglob("templates/*.html"), *WEB.glob("static/*.*")):
        found = re.findall(
            r"(?:src|href|url\(|fetch\(|import)\s*[=(]?\s*[\"']?(?:https?:)?//[^\s\"')]+", path.read_text("utf-8")
        )
        assert found == [], path.name


def test_templates_hold_nothing_that_the_content_policy_refuses() -> None:
    for path in WEB.rglob("templates/*.html"):
        text = path.read_text("utf-8")
        assert re.findall(r"\son\w+=|hx-on|style=|<style|javascript:|hx-vals=.js:", text) == [], path.name
        assert re.findall(r"<script(?![^>]*\ssrc=)", text) == [], path.name


def test_every_icon_that_is_named_is_there() -> None:
    drawn = set(re.findall(r'id="i-([\w-]+)"', (WEB / "static" / "icons.svg").read_text("utf-8")))
    named = {entry.icon for entry in NAV} | set(NOTICES.values())
    for table in (CALLS, STATUSES, OUTCOMES):
        named |= {sign.icon for sign in table.values() if sign is not None}
    for path in WEB.rglob("templates/*.html"):
        named |= set(re.findall(r'icon\("([\w-]+)"', path.read_text("utf-8")))
    assert named <= drawn


def test_an_address_changes_with_its_content() -> None:
    for name, asset in assets().items():
        assert address(name) == f"/static/{hashlib.sha256(asset.body).hexdigest()[:12]}/{name}"


def test_a_file_is_sent_packed_to_those_who_unpack_it_and_plain_to_others(owner: Visitor) -> None:
    path = address("vendor/sortable.js")
    for encoding, small in (("gzip", True), ("identity", False)):
        answer = owner.ask("GET", path, Accept_Encoding=encoding)
        assert answer.content == assets()["vendor/sortable.js"].body
        assert (int(answer.headers["content-length"]) < 20_000, answer.headers["vary"]) == (small, "accept-encoding")


def test_the_styles_are_within_their_size() -> None:
    assert len(assets()["style.css"].body) <= 56_000


def test_rows_and_columns_of_things_give_way_to_the_components_that_hold_them() -> None:
    style = assets()["style.css"].body.decode()
    (order,) = set(re.findall(r"@layer ([\w, ]+);", style))
    layers = order.split(", ")
    assert layers.index("primitives") < layers.index("components") < layers.index("utilities")
    primitives = re.search(r"@layer primitives\{(.*?)\n\}", style, re.DOTALL)
    assert primitives is not None
    assert re.findall(r"^\.([\w-]+)\{", primitives[1], re.MULTILINE) == ["stack", "stack-lg", "line"]
    assert re.findall(r"^\.(?:line|stack|stack-lg)\{", style.replace(primitives[0], ""), re.MULTILINE) == []


def test_what_every_page_runs_is_one_file_whose_parts_do_not_see_each_other() -> None:
    script, names = assets()["page.js"].body.decode(), set(assets())
    assert not {"app.js", "records.js", "keys.js"} & names
    for part in ("app.js", "records.js", "keys.js"):
        own = (Path(maia.web.__file__).parent / "static" / part).read_text("utf-8")
        assert "{\n" + own + "\n}" in script
        assert not re.search(r"^(import|export) ", own, re.MULTILINE), "a block can hold neither"
