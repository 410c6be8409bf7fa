"""The two built-in question sets, and sets that a person keeps in files.

`story`: one invented short story, 50 questions. `notes`: 40 dated notes of one invented person, 50 questions.
"""

from pathlib import Path

from fumikura.evaluation.cases import QuestionSet
from fumikura.evaluation.reading import read_cases

BUILTIN_SETS = ("story", "notes")
QUESTION_FILE = "questions.jsonl"
_SETS = Path(__file__).parent / "sets"


def open_set(name_or_path: str | Path) -> QuestionSet:
    """Return a built-in set by name, or the set in a question file or in the folder that holds one.

    Raises QuestionSetError when the file is missing or has findings.
    """
    folder = _SETS / name_or_path if str(name_or_path) in BUILTIN_SETS else Path(name_or_path)
    path = folder / QUESTION_FILE if folder.is_dir() else folder
    name = path.parent.name if path.name == QUESTION_FILE else path.stem
    return QuestionSet(name, path, read_cases(path))
