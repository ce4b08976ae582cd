"""A scripted agent program for tests: one scenario, told in any of three dialects (`fake_agent.py DIALECT SCENARIO`).

Scenarios: text, tool, denied, denied_twice, many (four calls, one after the other), plan, two (calls at once),
denied_ends, denied_refusal (end the answer there), envelope (a tool called through another one),
cancelled (waits for ever in the turn), stubborn (ignores that it is told to stop), crashed, hung, garbage,
half_megabyte, one_id (two calls under one id), unknown_request, no_usage, unasked, leftover (starts a process that
outlives it), secret (prints its key), auth, resumed, old (of the protocol), update (says that there is one),
asks_update (and waits for an answer), endless (says more and more), edits (two files, asked about), confirms (tells
back the system prompt it was given).
With the tools that it is lent (each call in `calls.json`, `[[name, arguments]]`): lent (calls them, one after the
other), lent_quietly (and tells nothing of it), lent_dead (when their server is gone).
"""

import json
import os
import signal
import subprocess
import sys
import time

DIALECT, SCENARIO = sys.argv[1:3]
COMMAND = "echo hi > proof.txt && cat proof.txt"
ANSWER = "The answer is 42."


def out(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def run_command():
    with open("proof.txt", "w") as file:
        file.write("hi\n")
    return "hi\n"


def wait_for_ever():
    if SCENARIO == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def before_the_answer(say):
    """What goes wrong, or is unusual, before the answer; the same in each dialect."""
    match SCENARIO:
        case "crashed":
            say("Half an ans")
            sys.stderr.write("Segmentation fault (core dumped)\n")
            sys.stderr.flush()
            os._exit(139)
        case "garbage":
            sys.stdout.write("<html>502 Bad Gateway</html>\n\x00\x01{not json\n[1,2]\n")
            sys.stdout.flush()
            os._exit(1)
        case "hung" | "cancelled" | "stubborn":
            say("I am th")
            wait_for_ever()
        case "leftover":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
            with open("left.pid", "w") as file:
                file.write(str(child.pid))
            say("I left ")
            wait_for_ever()
        case "endless":
            while True:
                say("more ")
                time.sleep(0.01)
        case "secret":
            say("My key is " + os.environ.get("FAKE_API_KEY", "nothing"))
        case _:
            pass


class Lent:
    """The client of the server of tools that it was told of; how it was started stands in `server.json`."""

    def __init__(self, argv, env):
        with open("server.json", "w") as file:
            json.dump([argv, env], file)
        pipe = subprocess.PIPE
        self.server = subprocess.Popen(argv, env={**os.environ, **env}, stdin=pipe, stdout=pipe, text=True)
        greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fake", "version": "1"}}
        assert self.ask("initialize", greeting)["serverInfo"]["name"] == "maia"
        self.names = [tool["name"] for tool in self.ask("tools/list", {})["tools"]]
        if SCENARIO == "lent_dead":
            self.server.kill()
            self.server.wait()

    def ask(self, method, params):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())["result"]

    def call(self, name, arguments):
        try:
            result = self.ask("tools/call", {"name": name, "arguments": arguments})
        except (OSError, ValueError):
            return False, "the server is gone"
        return not result["isError"], result["content"][0]["text"]


def lent_calls(program, tell):
    """Each call: told of before, made, told of after (`tell` returns how). What came back is said."""
    lent = Lent(*program.server)
    program.say(f"I have {', '.join(lent.names)}. ")
    with open("calls.json") as file:
        calls = json.load(file)
    answers = []
    for number, (name, arguments) in enumerate(calls):
        over = tell(f"m{number}", name, arguments) if SCENARIO != "lent_quietly" else lambda *_: None
        succeeded, words = lent.call(name, arguments)
        answers.append([succeeded, words])
        over(succeeded, words)
        program.say(f"<{words}> ")
    with open("answers.json", "w") as file:
        json.dump(answers, file)
    lent.server.kill()
    lent.server.wait()


# The Agent Client Protocol


class Acp:
    server = None

    def __init__(self):
        self.number = 0

    def tell_lent(self, call_id, name, arguments):
        update = {"toolCallId": call_id, "title": f"mcp__maia__{name}", "kind": "other", "rawInput": arguments}
        self.update(sessionUpdate="tool_call", status="pending", **update)
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
        answer = self.call("session/request_permission", toolCall={"toolCallId": call_id}, options=options)
        assert answer["result"]["outcome"]["optionId"] == "y", answer

        def over(succeeded, words):
            status = "completed" if succeeded else "failed"
            self.update(sessionUpdate="tool_call_update", toolCallId=call_id, status=status, rawOutput=words)

        return over

    def reply(self, message, result):
        out({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def update(self, **update):
        params = {"sessionId": "s1", "update": update}
        out({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def say(self, text):
        self.update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})

    def call(self, method, **params):
        self.number += 1
        me = f"agent-{self.number}"
        out({"jsonrpc": "2.0", "id": me, "method": method, "params": {"sessionId": "s1", **params}})
        while True:
            message = read()
            if message.get("id") == me:
                return message
            if message.get("method") == "session/cancel":
                return {"cancelled": True}

    def tool(self, call_id="c1", command=COMMAND):
        self.update(sessionUpdate="tool_call", toolCallId=call_id, title="Shell", kind="execute", status="pending")
        self.update(sessionUpdate="tool_call_update", toolCallId=call_id, rawInput={"command": command})
        options = [
            {"optionId": "x", "name": "Always", "kind": "allow_always"},
            {"optionId": "y", "name": "Yes", "kind": "allow_once"},
            {"optionId": "n", "name": "No", "kind": "reject_once"},
        ]
        answer = self.call("session/request_permission", toolCall={"toolCallId": call_id}, options=options)
        outcome = answer.get("result", {}).get("outcome", {})
        if outcome.get("optionId") == "y":
            done = {"status": "completed", "rawOutput": run_command()}
        else:
            assert outcome.get("optionId") == "n", answer
            done = {"status": "failed", "content": [{"type": "content", "content": {"type": "text", "text": "no"}}]}
            if SCENARIO == "denied_twice":  # as Cline announces a refused call again
                self.update(sessionUpdate="tool_call_update", toolCallId=call_id, **done)
                self.update(sessionUpdate="tool_call", toolCallId=call_id, rawInput={"command": command})
        self.update(sessionUpdate="tool_call_update", toolCallId=call_id, **done)

    def prompt(self, words):
        match SCENARIO:
            case "lent" | "lent_quietly" | "lent_dead":
                lent_calls(self, self.tell_lent)
            case "tool" | "denied" | "denied_twice":
                self.say("I try. ")
                self.tool()
            case "denied_ends" | "denied_refusal":
                self.say("I try. ")
                self.tool()
                return {"stopReason": "cancelled" if SCENARIO == "denied_ends" else "refusal"}
            case "envelope":
                given = {"variant": "UseTool", "tool_name": "run_command", "tool_input": {"command": COMMAND}}
                update = {"toolCallId": "c1", "title": "use_tool", "kind": "other", "rawInput": given}
                self.update(sessionUpdate="tool_call", status="pending", **update)
                options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
                self.call("session/request_permission", toolCall={"toolCallId": "c1"}, options=options)
                self.update(sessionUpdate="tool_call_update", toolCallId="c1", status="completed", rawOutput="hi\n")
            case "asks_twice":  # as OpenCode of a command that names a folder outside: of leaving, then of itself
                leaves = {"kind": "other", "rawInput": {"command": COMMAND, "directories": ["/srv"], "patterns": []}}
                itself = {"kind": "execute", "rawInput": {"command": COMMAND, "description": "x"}}
                self.update(sessionUpdate="tool_call", toolCallId="c1", title="c", kind="execute", status="pending")
                options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
                for asked in (leaves, itself):
                    call = {"toolCallId": "c1", **asked}
                    answer = self.call("session/request_permission", toolCall=call, options=options)
                    assert answer["result"]["outcome"]["optionId"] == "y", answer
                done = run_command()
                self.update(sessionUpdate="tool_call_update", toolCallId="c1", status="completed", rawOutput=done)
            case "one_id":  # as of a server that gives each call of an answer the same id
                options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
                for words in ("one", "another"):
                    edit = {"kind": "edit", "rawInput": {"filePath": "a.txt", "oldString": "", "newString": words}}
                    self.call("session/request_permission", toolCall={"toolCallId": "c1", **edit}, options=options)
                self.update(sessionUpdate="tool_call_update", toolCallId="c1", status="completed")
            case "many":
                for number in range(4):
                    self.say(f"Step {number}. ")
                    self.tool(f"c{number}")
            case "edits":
                for call_id, path, content in (("e1", "notes.txt", "new\n"), ("e2", "made/more.txt", "more\n")):
                    given = {"path": path, "content": content}
                    update = {"toolCallId": call_id, "title": "Edit", "kind": "edit", "rawInput": given}
                    self.update(sessionUpdate="tool_call", status="pending", **update)
                    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
                    self.call("session/request_permission", toolCall={"toolCallId": call_id}, options=options)
                    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
                    with open(path, "w") as file:
                        file.write(content)
                    self.update(sessionUpdate="tool_call_update", toolCallId=call_id, status="completed")
            case "two":
                for call_id in ("c1", "c2"):
                    self.update(
                        sessionUpdate="tool_call",
                        toolCallId=call_id,
                        kind="read",
                        title="Read",
                        status="in_progress",
                        rawInput={"path": f"{call_id}.txt"},
                        content=[{"type": "content", "content": {"type": "text", "text": "line"}}],
                    )
                for call_id in ("c2", "c1"):
                    self.update(sessionUpdate="tool_call_update", toolCallId=call_id, status="completed")
            case "unasked":
                self.update(
                    sessionUpdate="tool_call",
                    toolCallId="c1",
                    kind="execute",
                    title="Shell",
                    status="in_progress",
                    rawInput={"command": COMMAND},
                    content=[{"type": "content", "content": {"type": "text", "text": "hi"}}],
                )
                wait_for_ever()
            case "plan":
                entries = [{"content": "Look", "status": "completed", "priority": "high"}]
                self.update(sessionUpdate="plan", entries=entries)
            case "unknown_request":
                answer = self.call("craft/drainMidTurnQueue")
                assert answer["error"]["code"] == -32601, answer
                answer = self.call("fs/read_text_file", path="/etc/passwd")
                assert answer["error"]["code"] == -32601, answer
            case "half_megabyte":
                self.update(sessionUpdate="available_commands_update", availableCommands=["x" * 500_000])
                self.update(sessionUpdate="agent_thought_chunk", content={"type": "text", "text": "y" * 500_000})
        before_the_answer(self.say)
        self.say(words if SCENARIO in ("resumed", "confirms") else ANSWER)
        usage = {"inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 2, "totalTokens": 17}
        result = {"stopReason": "end_turn"}
        if SCENARIO != "no_usage":
            self.update(sessionUpdate="usage_update", used=17, size=1000, cost={"amount": 0.5, "currency": "USD"})
            result["usage"] = usage
        return result

    def serve(self):
        while True:
            message = read()
            match message.get("method"):
                case "initialize":
                    version = 0 if SCENARIO == "old" else 1
                    info = {"name": "fake", "version": "1.2.3"}
                    self.reply(message, {"protocolVersion": version, "agentCapabilities": {}, "agentInfo": info})
                case "session/new" if SCENARIO == "auth":
                    error = {"code": -32000, "message": "Authentication required"}
                    out({"jsonrpc": "2.0", "id": message["id"], "error": error})
                case "session/new":
                    for server in message["params"]["mcpServers"]:
                        env = {each["name"]: each["value"] for each in server["env"]}
                        self.server = [server["command"], *server["args"]], env
                    told = {"_meta": message["params"].get("_meta")} if SCENARIO == "confirms" else {}
                    self.reply(message, {"sessionId": "s1", **told})
                case "session/prompt":
                    self.reply(message, self.prompt(message["params"]["prompt"][0]["text"]))


# Claude Code


class Claude:
    @property
    def server(self):
        told = json.loads(sys.argv[sys.argv.index("--mcp-config") + 1])["mcpServers"]["maia"]
        assert "--strict-mcp-config" in sys.argv
        assert sys.argv[sys.argv.index("--disallowedTools") + 1] == "Task,Agent", "it delegates by our tools (N-06.03)"
        return [told["command"], *told["args"]], {name: os.path.expandvars(word) for name, word in told["env"].items()}

    def tell_lent(self, call_id, name, arguments):
        name = f"mcp__maia__{name}"
        self.block("assistant", type="tool_use", id=call_id, name=name, input=arguments)
        self.ask("hook_callback", callback_id="ask", input={})
        answer = self.ask("can_use_tool", tool_name=name, input=arguments, tool_use_id=call_id)["response"]
        assert answer == {"behavior": "allow", "updatedInput": arguments}, answer
        return lambda succeeded, words: self.block(
            "user", type="tool_result", tool_use_id=call_id, content=words, is_error=not succeeded
        )

    def say(self, text):
        delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}
        out({"event": delta, "parent_tool_use_id": None, "type": "stream_event"})

    def block(self, kind, **block):
        out({"type": kind, "message": {"content": [block]}, "parent_tool_use_id": None})

    def ask(self, subtype, **request):
        out({"type": "control_request", "request_id": "r1", "request": {"subtype": subtype, **request}})
        while (answer := read()).get("type") != "control_response":
            pass
        return answer["response"]

    def serve(self):
        assert read()["request"]["subtype"] == "initialize"
        words = read()["message"]["content"]
        print("[claude-code:unrecognized_model] {}", flush=True)
        out({"type": "system", "subtype": "init", "session_id": "s1", "model": "claude-x"})
        retry = {"attempt": 1, "retry_delay_ms": 500, "error_status": 529, "error": "overloaded"}
        out({"type": "system", "subtype": "api_retry", **retry})
        if SCENARIO == "compacted":
            out({"type": "system", "subtype": "compact_boundary", "compact_metadata": {"trigger": "auto"}})
        self.turn()
        before_the_answer(self.say)
        self.say(("resumed " if "--resume" in sys.argv else "") + words if SCENARIO == "resumed" else ANSWER)
        result = {"stop_reason": "end_turn", "subtype": "success", "is_error": False, "type": "result"}
        if SCENARIO == "auth":
            result |= {"is_error": True, "result": "Invalid API key · Please run /login"}
        if SCENARIO != "no_usage":
            usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 2}
            result |= {"total_cost_usd": 0.5, "usage": usage}
        out(result)
        sys.stdin.read()

    def turn(self):
        match SCENARIO:
            case "lent" | "lent_quietly" | "lent_dead":
                lent_calls(self, self.tell_lent)
            case "tool" | "denied":
                self.say("I try. ")
                self.block("assistant", type="tool_use", id="c1", name="Bash", input={"command": COMMAND})
                hook = self.ask("hook_callback", callback_id="ask", input={})
                assert hook["response"]["hookSpecificOutput"]["permissionDecision"] == "ask", hook
                given = {"command": COMMAND}
                answer = self.ask("can_use_tool", tool_name="Bash", input=given, tool_use_id="c1")["response"]
                allowed = answer["behavior"] == "allow"
                assert answer.get("updatedInput", given) == given
                words = run_command() if allowed else answer["message"]
                self.block("user", type="tool_result", tool_use_id="c1", content=words, is_error=not allowed)
            case "many":
                for number in range(4):
                    self.say(f"Step {number}. ")
                    given = {"file_path": f"{number}.txt"}
                    self.block("assistant", type="tool_use", id=f"c{number}", name="Read", input=given)
                    self.ask("can_use_tool", tool_name="Read", input=given, tool_use_id=f"c{number}")
                    self.block("user", type="tool_result", tool_use_id=f"c{number}", content="line")
            case "two":
                for call_id in ("c1", "c2"):
                    given = {"file_path": f"{call_id}.txt"}
                    self.block("assistant", type="tool_use", id=call_id, name="Read", input=given)
                for call_id in ("c2", "c1"):
                    self.block("user", type="tool_result", tool_use_id=call_id, content="line")
            case "unasked":
                self.block("assistant", type="tool_use", id="c1", name="Bash", input={"command": COMMAND})
                self.block("user", type="tool_result", tool_use_id="c1", content="hi")
                wait_for_ever()
            case "plan":
                todos = [{"content": "Look", "status": "completed", "activeForm": "Looking"}]
                self.block("assistant", type="tool_use", id="c1", name="TodoWrite", input={"todos": todos})
                self.block("user", type="tool_result", tool_use_id="c1", content="ok")
            case "unknown_request":
                assert self.ask("brew_coffee")["subtype"] == "error"
            case "half_megabyte":
                delta = {"type": "thinking_delta", "thinking": "y" * 500_000}
                out({"type": "stream_event", "event": {"type": "content_block_delta", "delta": delta}})


# Codex


class Codex:
    @property
    def server(self):
        told = {}
        for word in sys.argv:
            if word.startswith("mcp_servers.maia."):
                name, _, value = word.removeprefix("mcp_servers.maia.").partition("=")
                told[name] = json.loads(value)
        return [told["command"], *told["args"]], {name: os.environ[name] for name in told["env_vars"]}

    def tell_lent(self, call_id, name, arguments):
        call = {"id": call_id, "type": "mcp_tool_call", "server": "maia", "tool": name, "arguments": arguments}
        self.item("started", status="in_progress", **call)
        return lambda succeeded, _words: self.item("completed", status="completed" if succeeded else "failed", **call)

    def item(self, state, **item):
        out({"type": f"item.{state}", "item": {"id": "i1", **item}})

    def say(self, text):
        self.item("completed", type="agent_message", text=text)

    def serve(self):
        words = sys.stdin.read().strip()
        out({"type": "thread.started", "thread_id": "s1"})
        out({"type": "turn.started"})
        shell = {"type": "command_execution", "command": f"/bin/bash -lc '{COMMAND}'"}
        match SCENARIO:
            case "lent" | "lent_quietly" | "lent_dead":
                lent_calls(self, self.tell_lent)
            case "auth":
                out({"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}})
                return
            case "tool" | "unasked":
                self.item("started", id="c1", status="in_progress", **shell)
                if SCENARIO == "unasked":
                    wait_for_ever()
                done = {"aggregated_output": run_command(), "exit_code": 0, "status": "completed"}
                self.item("completed", id="c1", **shell, **done)
            case "many":
                for number in range(4):
                    self.say(f"Step {number}. ")
                    change = [{"path": f"{number}.txt", "kind": "add"}]
                    self.item("started", id=f"c{number}", type="file_change", changes=change, status="in_progress")
                    self.item("completed", id=f"c{number}", type="file_change", changes=change, status="completed")
            case "two":
                for state, ids in (("started", ("c1", "c2")), ("completed", ("c2", "c1"))):
                    for call_id in ids:
                        change = [{"path": f"{call_id}.txt", "kind": "add"}]
                        self.item(state, id=call_id, type="file_change", changes=change, status="completed")
            case "plan":
                items = [{"text": "Look", "completed": True}]
                self.item("completed", id="c1", type="todo_list", items=items)
            case "half_megabyte":
                self.item("completed", type="reasoning", text="y" * 500_000)
        before_the_answer(self.say)
        self.say(("resumed " if "resume" in sys.argv else "") + words if SCENARIO == "resumed" else ANSWER)
        usage = {"input_tokens": 12, "cached_input_tokens": 2, "output_tokens": 5}
        out({"type": "turn.completed", **({} if SCENARIO == "no_usage" else {"usage": usage})})


if SCENARIO == "update":
    print("A new version 99.0.0 is available! Run: npm install -g fake-agent", flush=True)
if SCENARIO == "asks_update":
    print("Update now? [Y/n] ", end="", flush=True)
    wait_for_ever()
{"acp": Acp, "claude-code": Claude, "codex-exec": Codex}[DIALECT]().serve()
