"""Proves a question set consistent before anybody's answers are scored with it. An empty result is the proof."""

from collections.abc import Iterator, Mapping

from fumikura.evaluation.cases import Case, Evidence, Finding, QuestionSet
from fumikura.evaluation.rubric import PlainReply, Score, score
from fumikura.japanese import normalize
from fumikura.loaders import LoaderRegistry, find_files, read_file
from fumikura.records import Notice

_SOURCE_BYTES = 10_000_000
_SPLIT_FROM = 12  # below this many questions a third cannot be kept
_REFUSAL = PlainReply("not_in_sources", "資料にありません。")


def source_texts(questions: QuestionSet, loaders: LoaderRegistry) -> dict[str, str]:
    """Return the extracted text of a set's sources by file name. Raises NotFound, SourceError."""
    files = find_files(questions.source_files())
    sources = [loaders.load(read_file(file, _SOURCE_BYTES)) for file in files]
    return {source.name: source.text for source in sources}


def validate(questions: QuestionSet, texts: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return what is wrong with a set over sources with these extracted texts."""
    findings = [
        Finding(questions.path.name, case.line, case.id, problem)
        for case in questions.cases
        for problem in _case_problems(case, texts)
    ]
    findings += [
        Finding(questions.path.name, case.line, case.id, problem) for case, problem in _set_problems(questions)
    ]
    return tuple(findings)


def _case_problems(case: Case, texts: Mapping[str, str]) -> Iterator[Notice]:
    for evidence in (*case.evidence, *case.near):
        yield from _evidence_problems(evidence, texts)
    yield from _shape_problems(case)
    if case.answerable and case.rubric.groups:
        yield from _model_answer_problems(score(case, PlainReply("answered", case.answer)))
    if (score(case, _REFUSAL).points == 2) == case.answerable:
        yield Notice("断りの点が型と合いません。", "a refusal's score does not fit the type")
    for text in case.wrong:
        if score(case, PlainReply("answered", text)).points == 2:
            yield Notice(
                f"誤答「{text}」が2点になります。要点を狭めてください。",
                f"the wrong answer '{text}' scores 2: narrow the facets",
            )


def _evidence_problems(evidence: Evidence, texts: Mapping[str, str]) -> Iterator[Notice]:
    if evidence.source not in texts:
        yield Notice(
            f"根拠の資料「{evidence.source}」がありません。ファイル名を確かめてください。",
            f"evidence names the source '{evidence.source}', which is not there: check the file name",
        )
    elif evidence.quote not in texts[evidence.source]:
        yield Notice(
            f"根拠「{evidence.quote}」が {evidence.source} にありません。一字一句そのまま写してください。",
            f"the evidence '{evidence.quote}' is not in {evidence.source}: copy it letter by letter",
        )


def _shape_problems(case: Case) -> Iterator[Notice]:
    if case.answerable and not (case.evidence and case.rubric.groups):
        yield Notice(
            "答えのある質問には根拠と要点が要ります。", "a question with an answer needs evidence and facet groups"
        )
    if not case.answerable and (case.evidence or case.rubric.groups):
        yield Notice(
            "unknown に根拠や要点があります。似た記述は near に書いてください。",
            "an unknown question has evidence or facets: put what is similar into 'near'",
        )


def _model_answer_problems(result: Score) -> Iterator[Notice]:
    if result.points != 2 or result.missed:
        reasons = result.reasons
        yield Notice(
            f"模範解答が {result.points} 点です（{'、'.join(reason.ja for reason in reasons)}）。",
            f"the model answer scores {result.points} ({'; '.join(reason.en for reason in reasons)})",
        )


def _set_problems(questions: QuestionSet) -> Iterator[tuple[Case, Notice]]:
    ids: dict[str, Case] = {}
    asked: dict[str, Case] = {}
    for case in questions.cases:
        if ids.setdefault(case.id, case) is not case:
            yield case, Notice(f"id が {ids[case.id].line} 行目と同じです。", f"same id as line {ids[case.id].line}")
        same = asked.setdefault(normalize(case.question).text, case)
        if same is not case:
            yield case, Notice(f"{same.id} と同じ質問です。", f"asks the same as {same.id}")
    held_out = len(questions.of_split("held_out"))
    if len(questions.cases) >= _SPLIT_FROM and not 0.25 <= held_out / len(questions.cases) <= 0.42:
        share = f"{held_out}/{len(questions.cases)}"
        yield (
            questions.cases[0],
            Notice(
                f"held_out が {share} です。三分の一にしてください。",
                f"{share} are held out: make it a third of the set",
            ),
        )
