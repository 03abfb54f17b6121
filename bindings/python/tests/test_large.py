"""Large results: SPEC 5.3, 16.8. They are what the server sent, and cost no memory of the system each."""

from __future__ import annotations

import asyncio
import json
import resource

import pytest

import trunkline

from host import Log, run

LONG = 100_000

#: Results by what is long in them, as the server writes them.
RESULTS = {
    "a text": {"content": [{"type": "text", "text": "x" * LONG}]},
    "escapes": {"content": [{"type": "text", "text": 'a"\\/\n\r\t\b\f\x01\x1f\x7f' * (LONG // 10)}]},
    "wide characters": {"content": [{"type": "text", "text": "aä→\u2028\U0001f6a2" * (LONG // 10)}], "isError": True},
    "several": {"content": [{"text": "x" * LONG}, {"text": ""}, {"text": "ä\n" * LONG}], "_meta": {"a": [[], {"b": "y" * LONG}]}},
    "many members": {"structuredContent": {"rows": [{"n": n, "f": n / 7, "ok": None} for n in range(LONG // 20)]}},
}


def written(value: object) -> list[str]:
    """The texts of a value, as several servers write it."""
    plain = json.dumps(value, ensure_ascii=False)
    # A frame is a line.
    pretty = json.dumps(value, ensure_ascii=False, indent=2).replace("\n", " ")
    return [plain, json.dumps(value), pretty, plain.replace("/", "\\/")]


@pytest.mark.parametrize("value", RESULTS.values(), ids=list(RESULTS))
def test_a_large_result_is_what_the_server_sent(log: Log, value: object) -> None:
    async def main() -> None:
        async with trunkline.Pool(cache="off") as pool, pool.session("a", servers=[]) as session:
            lease = await session.acquire("s", log.server())
            for text in written(value):
                result = await lease.call_tool("verbatim", {"result": text})
                assert result.raw.decode() == text
                assert result.decoded == value

    run(main())


#: Texts in which a member that has something long is there twice, or what is long cannot be a text of Unicode.
ODD = {
    "twice": '{"content":[{"text":"%s","text":"last"}]}' % ("x" * LONG),
    "twice with an escape": '{"content":[{"text":"%s","te\\u0078t":"last"}]}' % ("x" * LONG),
    "twice above": '{"content":[{"text":"%s"}],"content":[{"text":"last"}]}' % ("x" * LONG),
    "half a pair": '{"content":[{"text":"%s\\ud83d"}],"half":"\\ud83d"}' % ("x" * LONG),
    "half a pair beside it": '{"content":[{"text":"%s"}],"half":"\\ud83d"}' % ("x" * LONG),
}


@pytest.mark.parametrize("text", ODD.values(), ids=list(ODD))
def test_an_odd_large_result_is_decoded_as_a_small_one(log: Log, text: str) -> None:
    """SPEC 18.3: half a pair is U+FFFD."""

    async def main() -> None:
        async with trunkline.Pool(cache="off") as pool, pool.session("a", servers=[]) as session:
            lease = await session.acquire("s", log.server())
            result = await lease.call_tool("verbatim", {"result": text})
            assert result.raw.decode() == text
            assert result.decoded == json.loads(text.replace("\\ud83d", "\ufffd"))

    run(main())


def test_large_results_take_no_memory_of_the_system(log: Log) -> None:
    """Pages that are given back for each result are taken anew for the next: 25 for each copy of 100 KB."""
    width, turns = 16, 16

    async def main() -> float:
        async with trunkline.Pool(cache="off") as pool, pool.session("a", servers=[]) as session:
            lease = await session.acquire("s", log.server())

            async def look() -> None:
                result = await lease.call_tool("big", {"bytes": LONG})
                assert len(result.content[0]["text"]) == LONG

            async def caller() -> None:
                for _ in range(turns):
                    await look()

            for _ in range(2):
                before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
                await asyncio.gather(*(caller() for _ in range(width)))
            return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / (width * turns)

    assert run(main()) < 2
