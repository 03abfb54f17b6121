"""An agent loop without a framework: a model asks for tools, they run at their servers, and it is told what came of them.

    python agent.py '{"demo": {"command": "trunkline-testserver"}}'

The model here is a fake one that takes and gives messages in the shape of Chat Completions; a real one takes its place in ``FakeModel.turn``.
"""

import asyncio
import json
import sys
from typing import Any

import trunkline

#: Turns of the model in one conversation, at most.
TURNS_MAX = 10


class FakeModel:
    """Asks for a sum, then for two things at a time, where one fails, and says what it was told."""

    PLAN = [
        [("add", {"a": 2, "b": 3})],
        [("echo", {"message": "at the same time"}), ("fail", {"text": "no such city"})],
    ]

    def __init__(self, chat: trunkline.Session) -> None:
        # Exposed names are looked up, never taken apart: a server's own name may hold anything.
        self._own_names = {tool.name: tool.own_name for tool in chat.tools()}

    async def turn(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        told = [message["content"] for message in messages if message["role"] == "tool"]
        asked = sum(message["role"] == "assistant" for message in messages)
        if asked == len(self.PLAN):
            return {"role": "assistant", "content": "I was told: " + "; ".join(told)}
        # A real model picks by what the tools say of themselves; this one by what its plan says.
        offered = [tool["function"]["name"] for tool in tools]
        calls = [
            {"id": f"{asked}.{at}", "type": "function", "function": {"name": self._pick(offered, name), "arguments": json.dumps(arguments)}}
            for at, (name, arguments) in enumerate(self.PLAN[asked])
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def _pick(self, offered: list[str], name: str) -> str:
        return next(exposed for exposed in offered if self._own_names[exposed] == name)


async def call(chat: trunkline.Session, asked: dict[str, Any]) -> dict[str, Any]:
    """Runs one call; what goes wrong is for the model to read."""
    function = asked["function"]
    try:
        result = await chat.call_tool(function["name"], json.loads(function["arguments"]), timeout=60)
        text = "\n".join(block.get("text", json.dumps(block)) for block in result.content)
        text = f"failed: {text}" if result.is_error else text
    except trunkline.TrunklineError as error:
        text = f"failed: {error}" + (f" ({error.hint})" if error.hint else "")
    print(f"{function['name']} -> {text}")
    return {"role": "tool", "tool_call_id": asked["id"], "content": text}


async def converse(chat: trunkline.Session, model: FakeModel, question: str) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for _ in range(TURNS_MAX):
        # The tools of this moment: servers come, go and change while people talk.
        answer = await model.turn(messages, chat.tools_for("openai"))
        messages.append(answer)
        if not answer.get("tool_calls"):
            return str(answer["content"])
        messages += await asyncio.gather(*(call(chat, asked) for asked in answer["tool_calls"]))
    return "the model asked for tools without end"


async def main(servers: dict[str, Any]) -> None:
    async with trunkline.Pool() as pool:
        await pool.reconcile(servers)
        async with pool.session("agent") as chat:
            await chat.ready()
            print(await converse(chat, FakeModel(chat), "What is 2 + 3, and what is the weather?"))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
