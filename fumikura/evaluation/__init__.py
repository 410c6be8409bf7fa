"""Growing a notebook by measuring: question sets, scores and comparisons.

A question set (`cases`, read by `reading`) is proved consistent by `validation`. `rubric` scores an answer,
`retrieval_metrics` what was found and given to the model, `faults` says where it went wrong, and `comparison` what is
within noise. `runner` asks a set into a `run_file`, which goes on after any end; `sweep` does so once a value.
`summary`, `side_by_side`, `report_html` and `report_markdown` read run files; `judge` adds models' marks to them.
"""

from fumikura.evaluation.builtin import BUILTIN_SETS, open_set
from fumikura.evaluation.cases import Case, Evidence, FacetGroup, Finding, QuestionSet, QuestionSetError, Rubric
from fumikura.evaluation.reading import read_cases
from fumikura.evaluation.rubric import PlainReply, Score, score
from fumikura.evaluation.validation import source_texts, validate

__all__ = [
    "BUILTIN_SETS",
    "Case",
    "Evidence",
    "FacetGroup",
    "Finding",
    "PlainReply",
    "QuestionSet",
    "QuestionSetError",
    "Rubric",
    "Score",
    "open_set",
    "read_cases",
    "score",
    "source_texts",
    "validate",
]
