"""The reference of the Python package, written from its sources and its stub: every public name with its words."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from pathlib import Path

from host import ROOT

PACKAGE = ROOT / "bindings/python/python/trunkline"

#: The modules of classes that are their members, and of aliases.
PLAIN = ["reports", "events", "types"]

#: The modules that users import, in the order of the page. Adapters have pages of their own beside it.
MODULES = ["__init__", "sync", *PLAIN, "otel", "adapters/langchain", "adapters/openai_agents", "adapters/pydantic_ai", "adapters/mcp"]

HEAD = """<!-- Written from the sources of the Python package; do not edit. -->

# Python

Every public name, as the package and its stub have it. [How the parts go together](../guide/python.md) is a page of its own; options are in
[their table](options.md), errors in [theirs](errors.md). Durations are float seconds.
"""


@dataclass
class Page:
    """The page under way, and the names that have no words."""

    text: list[str] = field(default_factory=lambda: [HEAD])
    silent: list[str] = field(default_factory=list)

    def add(self, level: int, name: str, signature: str | None, doc: str | None) -> None:
        if not doc:
            self.silent.append(name)
        self.text.append(f"{'#' * level} {name}\n")
        if signature is not None:
            self.text.append(f"`{signature}`\n")
        self.text.append(f"{inspect.cleandoc(doc or '')}\n")


class Module:
    """A module by its text: nothing is imported."""

    def __init__(self, name: str) -> None:
        paths = [PACKAGE / f"{name}.py", PACKAGE / f"{name}.pyi"]
        path = next(path for path in paths if path.is_file())
        self.lines = path.read_text().splitlines()
        self.tree = ast.parse("\n".join(self.lines))
        self.folder = path.parent

    def doc(self) -> str | None:
        return ast.get_docstring(self.tree)

    def public(self) -> list[str]:
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                return [name for name in ast.literal_eval(node.value) if not name.startswith("_") and name not in PLAIN]
        names = [node.name for node in self.tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]
        return [name for name in names if not name.startswith("_")]

    def find(self, name: str) -> tuple[Module, ast.stmt] | None:
        """Where a name is defined: here, or in the module of the package that it comes from."""
        for node in ast.walk(self.tree):
            # One class is made inside of a function, once its framework is there.
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                return self, node
            if isinstance(node, ast.AnnAssign) and node in self.tree.body and getattr(node.target, "id", None) == name:
                return self, node
            if isinstance(node, ast.ImportFrom) and node.level == 1 and any(alias.name == name for alias in node.names):
                return Module(str(self.folder.relative_to(PACKAGE) / (node.module or "__init__"))).find(name)
        return None

    def words_above(self, line: int) -> str:
        """The ``#:`` comment that ends above a line."""
        said: list[str] = []
        while line > 1 and self.lines[line - 2].strip().startswith("#:"):
            said.insert(0, self.lines[line - 2].strip()[2:].strip())
            line -= 1
        return "\n".join(said)


def write() -> Page:
    page = Page()
    for name in MODULES:
        module = Module(name)
        shown = "trunkline" if name == "__init__" else f"trunkline.{name.replace('/', '.')}"
        page.add(2, shown, None, module.doc())
        if name in PLAIN:
            of_plain(page, module)
            continue
        for public in module.public():
            found = module.find(public)
            assert found is not None, f"{shown}.{public} is nowhere defined"
            if isinstance(found[1], ast.ClassDef):
                of_class(page, *found)
            elif isinstance(found[1], ast.AnnAssign):
                page.add(3, public, f"{public}: {ast.unparse(found[1].annotation)}", found[0].words_above(found[1].lineno))
            else:
                page.add(3, public, signature(found[1]), ast.get_docstring(found[1]))
    return page


def of_plain(page: Page, module: Module) -> None:
    """Classes with their members in one list each, and the aliases between them."""
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and node.names[0].asname:
            node = module.find(node.names[0].name)[1]
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            base = ast.unparse(node.bases[0])
            # A private base has what may be absent.
            parts = [f"- `{ast.unparse(item)}`, may be absent" for item in module.find(base)[1].body] if base.startswith("_") else []
            shown = "" if parts or base in ("Record", "Event", "TypedDict") else f", and what a `{base}` has"
            page.add(3, node.name, None, f"{ast.get_docstring(node)}{shown}")
            members = zip(node.body, [*node.body[1:], None])
            parts += [f"- `{ast.unparse(item)}`{meaning(after)}" for item, after in members if isinstance(item, ast.AnnAssign)]
            page.text.append("".join(f"{line}\n" for line in parts))
        elif isinstance(node, ast.Assign) and (words := module.words_above(node.lineno)):
            page.add(3, ast.unparse(node.targets[0]), ast.unparse(node.value), words)


def meaning(after: ast.stmt | None) -> str:
    """The words below a member."""
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return f": {' '.join(after.value.value.split())}"
    return ""


def of_class(page: Page, module: Module, node: ast.ClassDef) -> None:
    bases = ", ".join(ast.unparse(base) for base in node.bases if not is_own(module, base))
    members = list(lineage(module, node))
    made = next((item for _, item in members if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    called = signature(made).removeprefix("__init__") if made is not None else ""
    page.add(3, node.name, f"class {node.name}{called.removesuffix(' -> None')}" + (f": {bases}" if bases else ""), ast.get_docstring(node))
    for name, (where, item) in merged(members).items():
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            is_property = any(ast.unparse(decorator) == "property" for decorator in item.decorator_list)
            shown = f"{name}: {ast.unparse(item.returns)}" if is_property and item.returns else signature(item)
            page.add(4, f"{node.name}.{name}", shown, inherited_doc(name, members))
        elif isinstance(item, ast.AnnAssign):
            page.add(4, f"{node.name}.{name}", f"{name}: {ast.unparse(item.annotation)}", where.words_above(item.lineno))


def lineage(module: Module, node: ast.ClassDef):
    """The members of a class and of its bases in the package, its own first."""
    for item in node.body:
        yield module, item
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            # Attributes are public where they are announced by `#:`.
            yield from ((module, held) for held in ast.walk(item) if isinstance(held, ast.AnnAssign | ast.Assign) and module.words_above(held.lineno))
    # What a public base has stands where that base does.
    for base in node.bases:
        if is_own(module, base):
            yield from lineage(*module.find(ast.unparse(base)))


def merged(members) -> dict[str, tuple[Module, ast.stmt]]:
    named: dict[str, tuple[Module, ast.stmt]] = {}
    for where, item in members:
        if isinstance(item, ast.Assign):
            target = item.targets[0]
            if not isinstance(target, ast.Attribute):
                continue
            item = ast.copy_location(ast.AnnAssign(target, ast.Name("Any"), None, 0), item)
        name = getattr(item, "name", None) or member_of(item)
        if name and not name.startswith("_") and name not in named:
            named[name] = (where, item)
    return named


def member_of(item: ast.stmt) -> str | None:
    if not isinstance(item, ast.AnnAssign):
        return None
    return item.target.attr if isinstance(item.target, ast.Attribute) else getattr(item.target, "id", None)


def inherited_doc(name: str, members) -> str | None:
    docs = (ast.get_docstring(item) for _, item in members if getattr(item, "name", None) == name)
    return next((doc for doc in docs if doc), None)


def is_own(module: Module, base: ast.expr) -> bool:
    found = module.find(ast.unparse(base).partition("[")[0])
    return found is not None and found[1].name.endswith("Base")


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """As it is called: without ``self``."""
    arguments = ast.unparse(node.args)
    for first in ("self", "cls"):
        if arguments == first or arguments.startswith((f"{first},", f"{first}:")):
            arguments = arguments.partition(", ")[2]
    word = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word}{node.name}({arguments}){returns}"


def path() -> Path:
    return ROOT / "docs/reference/python.md"
