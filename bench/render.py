"""Drawing: a 10,000-line answer, a tool output of 200,000 characters, a stream of small pieces, a loaded session.

    python bench/harness.py render

None of these may freeze the screen: what is drawn at once stays under a quarter of a second of CPU a row family, and
an answer of 10,000 lines under a second and a half.
"""

from __future__ import annotations

from harness import Row, at_most, cpu_of

ANSWER = "\n".join(f"- line {n} with **bold**, `code` and a [link](https://example.org/{n})" for n in range(10_000))
OUTPUT = "".join(f"line {n}: {'x' * 60}\n" for n in range(3_000))


def main() -> list[Row]:
    from maia.core.costs import Cost
    from maia.core.events import Answered, Event, TextDelta, ToolCallFinished, ToolCallStarted, ToolOutput, UserSaid
    from maia.core.messages import AssistantMessage, TextPart
    from maia.i18n.catalogue import Catalogue
    from maia.terminal.colours import Look, to_ansi
    from maia.terminal.markdown import markdown_lines
    from maia.terminal.render import RenderState, live_lines_of, render, render_all

    say, look = Catalogue("fr"), Look()

    def finished() -> None:
        render(ToolCallFinished("1", "Bash", "failed", OUTPUT, duration=1.0), RenderState(), look, say)

    def printed() -> None:
        state = RenderState()
        render(ToolCallStarted("1", "Bash", {}, "make"), state, look, say)
        for start in range(0, len(OUTPUT), 500):
            render(ToolOutput("1", OUTPUT[start : start + 500]), state, look, say)
            live_lines_of(state, look, say)

    def streamed() -> None:
        state = RenderState()
        for n in range(5_000):
            render(TextDelta("un mot "), state, look, say)
            if n % 3 == 0:
                live_lines_of(state, look, say)

    message = AssistantMessage((TextPart("Un **mot** et `code`.\n\n- a\n- b\n"),))
    turn: list[Event] = [UserSaid("a"), Answered(message, "end", "stop", None, Cost())]
    return [
        at_most(
            "render: 10,000-line answer as Markdown", cpu_of(lambda: markdown_lines(ANSWER, look), runs=3), "s", 1.5
        ),
        at_most("render: end of a 200,000-character output", cpu_of(finished) * 1_000, "ms", 50),
        at_most("render: that output while it runs, 400 frames", cpu_of(printed, runs=3), "s", 1.0),
        at_most("render: 5,000 streamed pieces, 1,700 frames", cpu_of(streamed, runs=3), "s", 2.0),
        at_most(
            "render: a loaded session of 1,000 turns",
            cpu_of(lambda: render_all(turn * 1_000, look, say), runs=3),
            "s",
            2.0,
        ),
        at_most(
            "render: 1,000 rows with their codes",
            cpu_of(lambda: [to_ansi(row, look) for row in markdown_lines(ANSWER[:60_000], look)]) * 1_000,
            "ms",
            250,
        ),
    ]
