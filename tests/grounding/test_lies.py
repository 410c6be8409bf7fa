"""Lying answers with right words around them, and true ones that must not be lost with them.

Caught before numbers were tied to their subjects, names and weekdays to the passages (same notes): 10 of 88 lies in
Japanese, 3 of 14 across languages; now all. On 20 more lies about the notes of everyday.json: 4 before, 18 now (a thing
told apart by its verb only, and an opposite verb, pass). On 39 numbers of a JSQuAD paragraph put in the place of the
right one: 5 before, 31 now, with 2 of 55 right ones lost.
"""

import json
import re
import time
from pathlib import Path

import pytest

from fumikura.grounding import ground
from fumikura.records import Passage

HERE = Path(__file__).parent
LIES = json.loads((HERE / "lies.json").read_text(encoding="utf-8"))


def as_passages(notes: list[tuple[str, list[str], str]]) -> list[Passage]:
    return [
        Passage(n, f"s{n}", source, tuple(path), None, 0, len(text), text, title=path[0])
        for n, (source, path, text) in enumerate(notes, 1)
    ]


JAPANESE = as_passages(LIES["notes"])
WITH_ENGLISH = as_passages([*LIES["notes"], LIES["english"]])
ENGLISH = as_passages([LIES["english"]])
HOUSEHOLD = as_passages(LIES["household"]["notes"])
SAMPLES = Path(__file__).parents[2] / "fumikura" / "sample_notebook"


def sample(n: int, name: str, evidence: str = "") -> Passage:
    """Return the section of a sample note that holds the evidence, under its headings."""
    path: list[str] = []
    sections: list[tuple[tuple[str, ...], str]] = []
    for part in re.split(r"^(?=#+ )", (SAMPLES / name).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        marks, _, title = heading.partition(" ")
        path[len(marks) - 1 :] = [title]
        sections.append((tuple(path), text.strip()))
    found, text = next((found, text) for found, text in sections if text and evidence in text)
    return Passage(n, name, name, found, None, 0, len(text), text, title=sections[0][0][0])


def among_others(place: int, name: str, evidence: str) -> list[Passage]:
    others = iter(one for one in ("home-server.md", "travel-yuzusawa.md", "diary-umbrella.md") if one != name)
    return [sample(n, name, evidence) if n == place else sample(n, next(others)) for n in (1, 2, 3)]


@pytest.mark.parametrize("given", [JAPANESE, WITH_ENGLISH], ids=["japanese", "with an english note"])
@pytest.mark.parametrize(("kind", "question", "answer"), LIES["lies"])
def test_a_lie_is_not_shown(given, kind, question, answer):
    grounded = ground(answer, given, question=question)
    assert (grounded.status, grounded.citations) == ("not_in_sources", ()), (kind, grounded.text)


@pytest.mark.parametrize(("question", "answer"), LIES["lies_across_languages"])
def test_an_english_note_among_japanese_ones_supports_no_nonsense(question, answer):
    grounded = ground(answer, WITH_ENGLISH, question=question)
    assert (grounded.status, grounded.citations) == ("not_in_sources", ()), grounded.text


@pytest.mark.parametrize("given", [JAPANESE, WITH_ENGLISH], ids=["japanese", "with an english note"])
@pytest.mark.parametrize(("question", "answer", "n"), LIES["truths"])
def test_a_truth_is_shown_with_its_passage(given, question, answer, n):
    grounded = ground(answer, given, question=question)
    assert grounded.status == "answered", grounded.unsupported
    assert {citation.n for citation in grounded.citations} == {n}


@pytest.mark.parametrize(("question", "answer"), LIES["household"]["lies"])
def test_a_lie_about_notes_of_many_shapes_is_not_shown(question, answer):
    grounded = ground(answer, HOUSEHOLD, question=question)
    assert (grounded.status, grounded.citations) == ("not_in_sources", ()), grounded.text


@pytest.mark.parametrize(("question", "answer"), LIES["household"]["truths"])
def test_a_truth_about_notes_of_many_shapes_is_shown(question, answer):
    assert ground(answer, HOUSEHOLD, question=question).status == "answered"


@pytest.mark.parametrize(("question", "answer", "n"), LIES["truths_across_languages"])
def test_an_english_answer_about_japanese_notes_is_shown(question, answer, n):
    grounded = ground(answer, JAPANESE, question=question)
    assert grounded.status == "answered", grounded.unsupported
    assert {citation.n for citation in grounded.citations} == {n}


@pytest.mark.parametrize(
    ("question", "answer", "is_shown"),
    [
        ("井戸の深さは？", "井戸の深さは12メートルです。", True),
        ("井戸は何をした？", "井戸は手で掘られました。[1]", True),  # only foreign passages, marked, in my language
        ("井戸は何をした？", "井戸は手で掘られました。", False),
        ("井戸の深さは？", "井戸の深さは15メートルです。[1]", False),
        ("井戸の深さは？", "申し訳ありませんが、提供された情報からはお答えできません。[1]", False),
        ("井戸の深さは？", "申し訳ありません。[1]", False),
        ("What is it?", "井戸は手で掘られました。[1]", False),
    ],
)
def test_only_english_notes_and_a_japanese_question(question, answer, is_shown):
    assert (ground(answer, ENGLISH, question=question).status == "answered") is is_shown


def test_a_lie_beside_a_truth_is_left_out():
    answer = "年会費は3,000円です。[1]会長は山田太郎さんです。[1]会員は14名です。[1]"
    grounded = ground(answer, JAPANESE, question="年会費と会長と会員は？")
    assert grounded.text == "年会費は3,000円です。[1]"
    assert len(grounded.unsupported) == 2


def test_an_apology_before_a_supported_remainder_is_no_support_of_its_own():
    answer = "申し訳ありませんが、駐車場のことは資料に記載がありません。年会費は3,000円です。[1]"
    grounded = ground(answer, JAPANESE, question="駐車場と年会費は？")
    assert grounded.status == "partly"
    assert [citation.n for citation in grounded.citations] == [1]


def test_every_right_answer_about_the_sample_notes_is_shown():
    lines = (HERE.parent / "flow" / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["answerable"]]
    assert len(cases) == 26
    for case in cases:
        for place in (1, 2, 3):
            given = among_others(place, case["source"], case["evidence"])
            grounded = ground(f"{case['answer']}[{place}]", given, question=case["question"])
            assert grounded.status == "answered", case
            assert [citation.n for citation in grounded.citations] == [place], case


@pytest.mark.parametrize(
    ("question", "answer", "name", "evidence"),
    [
        ("露草会の今の年会費はいくら？", "1,500円[3]", "minutes_2026_spring.md", "から1,500円**"),
        ("露草会の前の年会費は？", "1,200円[1]", "2025-04-19_露草会議事録.md", "1,200円"),
        ("kuraのIPは？", "kuraのIPアドレスは192.168.40.12です。[3]", "home-server.md", "| kura |"),
        ("hikaeのいまの版は？", "hikaeのいまの版は2.4.1です。[1]", "home-server.md", "いまの版は2.4.1"),
        ("里芋は何グラム？", "里芋は600g。[2]", "レシピ_里芋と鶏の味噌煮.md", "600g"),
        ("かもめ櫓荘の一泊二食の値段は？", "9,800円[2]", "2025-10-11_灯ノ浦の島わたり.md", "9,800円"),
        ("灯台守の記念室の入場料は？", "350円[2]", "2025-10-11_灯ノ浦の島わたり.md", "三百五十円"),
        ("露草会の今の年会費は？", "露草会の今の年会費は1,500円です。[3]", "minutes_2026_spring.md", "から1,500円**"),
        (
            "2025年4月に決めた露草会の年会費は？",
            "2025年4月に決めた露草会の年会費は1,200円でした。[1]",
            "2025-04-19_露草会議事録.md",
            "1,200円",
        ),
        ("露草会の会長は？", "露草会の会長は髙瀬ふみのさんです。[1]", "minutes_2026_spring.md", "髙瀬"),
        ("体験の料金は？", "匙づくりの体験は2,400円で、時間は90分です。[1]", "travel-yuzusawa.md", "2,400円"),
        ("帰りの船は何時？", "帰りの船は午後3時40分です。[2]", "2025-10-11_灯ノ浦の島わたり.md", "15時40分"),
        ("洗濯機の値段は？", "洗濯機の値段は74,500円です。[3]", "家の設備一覧.md", "74,500円"),
    ],
)
def test_terse_and_full_answers_of_a_small_model_are_shown(question, answer, name, evidence):
    place = int(answer.partition("[")[2][0])
    grounded = ground(answer, among_others(place, name, evidence), question=question)
    assert grounded.status == "answered", grounded.unsupported
    assert [citation.n for citation in grounded.citations] == [place]


@pytest.mark.parametrize(
    ("text", "question", "answer", "status"),
    [
        ("新しい会計は小津原ミチ。", "会計は？", "小津原さんです。", "answered"),
        ("訳者は蓑島 律。", "訳者は？", "訳者は蓑島律さんです。", "answered"),
        ("訳者は蓑島 律。", "訳者は？", "訳者は蓑島恵さんです。", "not_in_sources"),
        ("担当：渡邊朔之介", "担当は？", "担当は渡辺朔之介さんです。", "answered"),
        ("ごみは火・金に出す。", "ごみはいつ？", "ごみは火曜と金曜に出します。", "answered"),
        ("ごみは火・金に出す。", "ごみはいつ？", "ごみは月曜と金曜に出します。", "not_in_sources"),
        ("紙は火曜と金曜、資源は第二水曜。", "資源は？", "資源は火曜です。", "not_in_sources"),
        ("開いているのは（土日だけ）。", "いつ開く？", "土曜と日曜に開きます。", "answered"),
        ("料金は大人500円、子ども300円。", "子どもの料金は？", "子どもの料金は300円です。", "answered"),
        ("料金は大人500円、子ども300円。", "子どもの料金は？", "子どもの料金は500円です。", "not_in_sources"),
        ("会議室の管理は小菅さん。定員は32名。", "定員は？", "小菅さんの会議室の定員は32名です。", "answered"),
        ("総会は10:00から。", "総会は何時？", "総会は10時からです。", "answered"),
        ("総会は10時から。", "総会は何時？", "総会は10:00からです。", "answered"),
        ("番号は2.4.1。", "番号は？", "番号は2.4.1です。", "answered"),
        ("滞在は三時間。", "滞在は？", "滞在は3時です。", "not_in_sources"),
        ("資源ごみは第二水曜。", "資源ごみは？", "資源ごみは第2水曜日です。", "answered"),
        ("祖母の誕生日は四月二日。", "誕生日は？", "おばあちゃんの誕生日は4月2日です。", "answered"),
        ("北町図書室の開館は九時、閉館は十七時。", "閉館は？", "図書室は午後5時に閉まります。", "answered"),
        ("りんごの値段は100円、みかんの値段は200円。", "りんごは？", "りんごの値段は200円です。", "not_in_sources"),
        ("昭和64年に開店した。", "開店は？", "開店は1989年です。", "answered"),
        ("りんごは100円。みかんは200円。", "りんごは？", "りんごは200円です。", "not_in_sources"),
        ("りんごは100円。みかんは200円。", "りんごは？", "りんごは200円です。みかんは100円です。", "not_in_sources"),
    ],
)
def test_names_weekdays_and_numbers_in_other_shapes(passages, text, question, answer, status):
    assert ground(answer, passages(text), question=question).status == status


def test_checking_five_passages_takes_less_than_a_moment():
    answer = "年会費は3,000円です。[1]例会は毎月第二土曜の14時からです。[2]里芋は600gです。[4]"
    ground(answer, JAPANESE[:5], question="年会費と例会と里芋は？")
    begun = time.process_time()
    for _ in range(5):
        ground(answer, JAPANESE[:5], question="年会費と例会と里芋は？")
    assert (time.process_time() - begun) / 5 < 0.05
