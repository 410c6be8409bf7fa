"""Who may import whom, read from the syntax trees (design: data flows one way through the folders)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "fumikura"
STAGES = {
    "loaders",
    "chunkers",
    "embedders",
    "indexes",
    "store",
    "retrieval",
    "prompting",
    "generators",
    "grounding",
    "models",
}
BASE = {"records", "errors", "protocols"}
EXTRAS = {"chromadb", "faiss", "sentence_transformers"}
# Leaves: japanese (pure language functions), backends (HTTP). notebook composes stages; build makes them.
ALLOWED: dict[str, set[str]] = {
    "records": set(),
    "errors": set(),
    "protocols": {"records"},
    "japanese": set(),
    "backends": {"errors"},
    "file_lock": set(),
    "settings": BASE,
    "settings_file": BASE | {"settings"},
    **{stage: BASE | {"japanese", "backends", "file_lock"} for stage in STAGES},
    "ingestion": BASE | STAGES,
    "resident": BASE | STAGES,
    "answer_checks": BASE | STAGES,
    "answering": BASE | STAGES | {"resident", "answer_checks"},
    "notebook": BASE | STAGES | {"ingestion", "answering"},
    "build": BASE | STAGES | {"japanese", "settings", "resident"},
    "removal": BASE | {"store"},
    "library": BASE
    | STAGES
    | {"places", "removal", "resident"}
    | {"settings", "settings_file", "ingestion", "answering", "notebook", "build"},
    "places": set(),
    "doctor": BASE | STAGES | {"japanese", "build", "library"},
    "jobs": BASE | STAGES | {"japanese", "library", "notebook", "ingestion", "answering"},
    "web": BASE
    | STAGES
    | {
        "__init__",
        "file_lock",
        "japanese",
        "settings",
        "settings_file",
        "ingestion",
        "answering",
        "notebook",
        "build",
        "places",
        "library",
        "jobs",
        "removal",
        "resident",
    },
    "evaluation": BASE
    | STAGES
    | {
        "__init__",
        "file_lock",
        "japanese",
        "backends",
        "settings",
        "settings_file",
        "ingestion",
        "build",
        "library",
        "notebook",
    },
    "upload": BASE | {"backends", "loaders", "places"},
    "terminal": BASE | {"resident"},
    "cli_options": BASE | {"library", "notebook", "places"},
    "cli": BASE
    | {"terminal", "__init__", "places", "library", "doctor", "cli_options", "cli_server", "cli_core", "cli_eval"},
    "cli_eval": BASE | {"terminal", "cli_options", "library", "settings", "settings_file", "evaluation"},
    "cli_core": BASE | {"terminal", "places", "cli_options", "library", "resident", "store"},
    "cli_server": BASE | {"terminal", "places", "cli_options", "__init__", "library", "web", "upload"},
    "sample_notebook": set(),
    "__init__": set(),
    "__main__": {"cli"},
}
# The command line shows --help in under 0.5 s only because it loads the parts when a command runs.
LAZY_IMPORTS = {unit: {"fumikura"} for unit in ("cli", "cli_options", "cli_server", "cli_core", "cli_eval")}

# All records on one page, in flow order, are worth more than the limit.
LONGEST = {"records.py": 380}


def _top(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def _unit(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        if node.module == "fumikura":
            return [f"fumikura.{alias.name}" if alias.name[0] != "_" else "fumikura" for alias in node.names]
        return [node.module]
    return []


def _imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (module, inside a function)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        child
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.walk(function)
    }
    for node in ast.walk(tree):
        for name in _imported(node):
            yield name, node in inside


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_follow_the_flow(path: Path) -> None:
    unit = _unit(path)
    assert unit in ALLOWED, f"{unit} has no rule: decide where it stands in the flow"
    for name, inside in _imports(path):
        root = name.split(".")[0]
        if root == "fumikura":
            assert _top(name) in ALLOWED[unit] | {unit}, f"{path.name} may not import {name}"
        if inside:
            assert root in EXTRAS | LAZY_IMPORTS.get(unit, set()), f"{path.name} imports {name} inside a function"


def test_no_utils() -> None:
    assert not [p for p in FILES if p.stem in {"utils", "util", "helpers", "common", "misc"}]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_and_functions_stay_small(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= LONGEST.get(path.name, 300)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 50, f"{path.name}:{node.name} is too long"
