"""Growing a notebook by measuring: question sets, scores and comparisons.

A question set (`cases`, read by `reading`) is proved consistent by `validation`. `rubric` scores an answer,
`retrieval_metrics` what was found and given to the model, and `comparison` says what is within noise.
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
