"""What is listed: new lists of frozen items, and what is held shows itself."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

import trunkline
import trunkline.sync

from host import Log, run

LISTS = ["tools", "prompts", "resources", "resource_templates"]


@pytest.fixture
def session(log: Log):
    with trunkline.sync.Pool() as pool, pool.session("a") as session:
        pool.reconcile({"s": log.server("--list-changes")})
        session.ready("s")
        yield session


@pytest.mark.parametrize("kind", LISTS)
def test_an_unchanged_list_is_another_of_the_same_items(session: Any, kind: str) -> None:
    first, second = getattr(session, kind)(), getattr(session, kind)()
    assert first and first == second and first is not second and first.revision == second.revision
    assert all(one is other for one, other in zip(first, second))
    first.clear()
    assert getattr(session, kind)() == second


@pytest.mark.parametrize("shape", ["mcp", "openai", "openai_responses", "anthropic", "gemini", "any"])
def test_tools_for_a_shape_are_another_list_of_the_same_frozen_tools(session: Any, shape: Any) -> None:
    first, second = session.tools_for(shape), session.tools_for(shape)
    assert first == second and first is not second and first.revision == second.revision == session.tools().revision
    assert first[0] is second[0]
    first.clear()
    with pytest.raises(TypeError, match="frozen"):
        second[0]["cache_control"] = {"type": "ephemeral"}
    changed = {**second[0], "cache_control": {"type": "ephemeral"}}
    assert "cache_control" not in session.tools_for(shape)[0] and "cache_control" in changed
    assert json.loads(json.dumps(second)) == second


def test_a_changed_list_has_what_is_new(session: Any) -> None:
    before, shaped = session.tools(), session.tools_for("openai")
    session.call_tool("mcp__s__change_list", {"add": "fresh"})
    session.listed()
    tools = session.tools()
    assert tools.revision > before.revision and {tool.own_name for tool in tools} - {tool.own_name for tool in before} == {"fresh"}
    assert len(session.tools_for("openai")) == len(shaped) + 1


def test_another_mark_is_another_item(session: Any) -> None:
    assert not session.tools()[0].trust
    session.configure(trust={"s": True})
    assert session.tools()[0].trust


def test_items_and_definitions_are_frozen(session: Any) -> None:
    tool = session.tools()[0]
    for change in (lambda: setattr(tool, "trust", True), lambda: delattr(tool, "name")):
        with pytest.raises(AttributeError, match="frozen"):
            change()
    schema = tool.input_schema
    for change in (
        lambda: schema.update(a=1), lambda: schema.pop("type"), lambda: schema.clear(), lambda: schema.setdefault("x", 1),
        lambda: tool.definition.__delitem__("name"), lambda: tool.definition.__ior__({"a": 1}), lambda: schema.popitem(),
    ):
        with pytest.raises(TypeError, match="frozen"):
            change()
    for copied in (copy.deepcopy(tool.definition), pickle.loads(pickle.dumps(tool.definition))):
        assert copied == tool.definition
    copied = copy.deepcopy(tool.definition)
    copied["inputSchema"]["x"] = [1]
    assert "x" not in session.tools()[0].definition["inputSchema"]
    assert pickle.loads(pickle.dumps(tool)).definition == tool.definition


def test_arrays_of_a_definition_are_frozen() -> None:
    text = '{"name":"a","inputSchema":{"required":["x",["y",{"z":[1]}]]},"annotations":{}}'
    tool = trunkline.Tool(("mcp__s__a", "s", "a", text, False, False, False))
    required = tool.input_schema["required"]
    for array in (required, required[1], required[1][1]["z"]):
        for change in (
            lambda: array.append(1), lambda: array.sort(), lambda: array.__setitem__(0, 1), lambda: array.__iadd__([1]),
            lambda: array.extend([1]), lambda: array.insert(0, 1), lambda: array.pop(), lambda: array.remove("x"),
            lambda: array.reverse(), lambda: array.clear(), lambda: array.__delitem__(0), lambda: array.__imul__(2),
        ):
            with pytest.raises(TypeError, match="frozen"):
                change()
    assert required == ["x", ["y", {"z": [1]}]] and type(copy.deepcopy(required)[1]) is list


def test_another_init_changes_nothing_that_is_frozen() -> None:
    text = '{"name":"a","inputSchema":{"required":["x"]}}'
    tool = trunkline.Tool(("mcp__s__a", "s", "a", text, False, False, False))
    schema = tool.input_schema
    for again in (lambda: schema.__init__({"a": 1}), lambda: schema["required"].__init__(["y"])):
        with pytest.raises(TypeError, match="frozen"):
            again()
    with pytest.raises(AttributeError, match="frozen"):
        tool.__init__(("other", "s", "a", "{}", True, False, False))
    assert (tool.name, tool.trust, schema) == ("mcp__s__a", False, {"required": ["x"]})


def test_a_refused_change_names_the_copy_that_can_be_changed() -> None:
    tool = trunkline.Tool(("mcp__s__a", "s", "a", '{"inputSchema":{"required":["x"]}}', False, False, False))
    for frozen, change in ((tool.input_schema, dict.clear), (tool.input_schema["required"], list.clear)):
        with pytest.raises(TypeError, match=rf"a {type(frozen).__name__} .*`copy\.deepcopy`") as caught:
            getattr(frozen, change.__name__)()
        assert "**" not in str(caught.value) and type(copy.deepcopy(frozen)) in (dict, list)


class ClosesMeanwhile:
    """The native half of a session that another thread closes while this one lists."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def list(self, kind: str, known: object) -> tuple[Any, ...]:
        self._session.close()
        return [("mcp__s__a", "s", "a", "{}", False, False, False)], 1, object()

    def tools_for(self, shape: str, known: object) -> tuple[str, int]:
        self._session.close()
        return '[{"name":"a"}]', 1

    def close(self, keep_for_ms: object) -> None:
        pass


def test_a_close_beside_a_list_leaves_no_list(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(session, "_native", ClosesMeanwhile(session))
        assert [tool.name for tool in session.tools()] == ["mcp__s__a"]
        assert session.tools_for("mcp") == [{"name": "a"}]
    assert (session._lists, session._shaped) == ({}, {})


def test_a_close_that_fails_leaves_no_list_either(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refuses:
        def close(self, keep_for_ms: object) -> None:
            raise trunkline.ForkedError("not here")

    assert session.tools() and session.tools_for("mcp")
    with monkeypatch.context() as meanwhile, pytest.raises(trunkline.ForkedError):
        meanwhile.setattr(session, "_native", Refuses())
        session.close()
    assert (session._lists, session._shaped) == ({}, {})


def test_to_show_a_session_fetches_no_list(session: Any) -> None:
    assert repr(session) == "<Session 'a'>"
    assert session._lists == {}
    session.close()
    assert repr(session) == "<Session 'a', closed>"


def test_each_kind_is_of_its_class(session: Any) -> None:
    classes = (trunkline.Tool, trunkline.Prompt, trunkline.Resource, trunkline.ResourceTemplate)
    for kind, class_ in zip(LISTS, classes):
        item = getattr(session, kind)()[0]
        assert type(item) is class_ and repr(item).startswith(f"<{class_.__name__} {item.name!r} of 's'")
    with session.acquire("s") as lease:
        assert {type(tool) for tool in lease.tools()} == {trunkline.Tool}
    assert session.resources()[0].uri == session.resources()[0].own_name
    assert "{" in session.resource_templates()[0].uri_template
    assert isinstance(session.prompts()[0].arguments, list)


def test_requests_of_a_session_have_results_of_their_own(session: Any) -> None:
    read = session.read_resource("s", session.resources()[0].uri)
    assert type(read) is trunkline.ResourceResult and read.contents[0]["text"] == read.text
    prompt = session.prompts()[0]
    given = {argument["name"]: "x" for argument in prompt.arguments}
    got = session.get_prompt("s", prompt.own_name, given)
    assert type(got) is trunkline.PromptResult and got.messages and isinstance(got.text, str)
    assert type(session.request("s", "ping")) is trunkline.Result
    with pytest.raises(trunkline.NotAdmittedError) as caught:
        session.read_resource("nowhere", "x://")
    assert caught.value.outcome == "not_sent" and caught.value.server == "nowhere"
    for copied in (copy.deepcopy(read), pickle.loads(pickle.dumps(got))):
        assert type(copied) in (trunkline.ResourceResult, trunkline.PromptResult) and copied.decoded


def test_a_call_has_its_text(session: Any) -> None:
    result = session.call_tool("mcp__s__echo", {"message": "hi"})
    assert (result.text, result.content[0]["text"]) == ("hi", "hi")
    assert repr(result).startswith("<CallResult {") and "hi" in repr(result)
    mixed = trunkline.CallResult(trunkline._results._Received(
        b'{"content":[{"type":"text","text":"a"},{"type":"image","data":""},{"type":"text","text":"b"}]}'
    ))
    assert mixed.text == "a\nb"


def test_what_is_held_shows_itself(log: Log) -> None:
    async def main() -> list[str]:
        pool = trunkline.Pool()
        session = pool.session("chat-1", servers=[])
        waiting = session.acquire("s", log.server())
        lease = await waiting
        events = session.events()
        shown = [repr(it) for it in (pool, session, lease, events, trunkline.start_logs("error"))]
        await pool.aclose()
        return [*shown, repr(pool), repr(session), repr(lease), repr(waiting)]

    pool, session, lease, events, logs, *after = run(main())
    assert pool == "<Pool of 1 servers, 1 sessions>" and session == "<Session 'chat-1'>"
    assert lease == "<Lease on 's', active>" and events == f"<EventStream of {session}>" and logs == "<Logs, running>"
    assert after[:3] == ["<Pool of 0 servers, 0 sessions, closing>", "<Session 'chat-1', closed>", "<Lease on 's', closed>"]


def test_an_error_shows_its_code() -> None:
    with pytest.raises(trunkline.InvalidArgumentError) as caught:
        trunkline.Pool(workers=0)
    assert repr(caught.value) == f"InvalidArgumentError({str(caught.value)!r}, code='invalid_argument')"
