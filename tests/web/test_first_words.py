from pathlib import Path

from tests.web.serving import Frame, Visitor, parsed, serving


def test_the_first_words_reach_a_page_before_what_else_they_change(tmp_path: Path) -> None:
    """They are drawn at once; only with the rest, which has a number, is the page that far."""
    script = [{"wait": 1, "text": "Bonjour à vous"}]
    with serving(tmp_path, script=script) as server, Visitor(server.url) as owner, Visitor(server.url) as page:
        owner.become_owner(server.token)
        page.client.cookies.update(dict(owner.client.cookies))
        conversation = owner.conversation()
        seen: list[Frame] = []
        with page.client.stream("GET", f"/ui/stream?conversation={conversation}&cursor=0") as answer:
            owner.say(conversation, "Salut")
            for frame in parsed(answer.iter_lines()):
                seen.append(frame)
                if 'class="caption"' in frame.data:
                    break
        first = next(n for n, frame in enumerate(seen) if "Bonjour" in frame.data)
        assert (seen[first].id, seen[first].event, "foot" in seen[first].data) == ("", "", False)
        assert seen[first + 1].id != ""
