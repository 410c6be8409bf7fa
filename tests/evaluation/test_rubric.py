"""Scores 0, 1, 2 as a person would give them, whatever the spelling of the answer."""

import pytest

from fumikura.evaluation import PlainReply, read_cases, score

THREE = {"groups": [["午後三時", "15時"]]}


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        ("15時", "会議は１５時からです[1]。"),
        ("十五時", "**15時** からです。"),
        ("サーバー", "サーバの話です。"),
        ("令和8年", "2026年です。"),
        ("4,800円", "四千八百円でした。"),
        ("真木野 遼", "真木野遼さんです。"),
        ("Lantern House", "宿は LANTERN HOUSE です。"),
        ("12", "[3] 12 です"),
        ("16GB", "16 GBです。"),
        ("6か月", "六ヶ月です。"),
        ("五年", "5年です。5年間ではありません。"),
        ("瀬戸", "瀬戸だけではなく、原もです。"),
        ("瀬戸", "瀬戸ではないかと思います。"),
        ("雨漏り", "鍵ではなく雨漏りです。"),
    ],
)
def test_natural_wordings_hit(points, pattern, answer) -> None:
    assert points({"groups": [[pattern]]}, answer) == 2


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        ("12", "120人です。"),
        ("12", "112人です。"),
        ("12", "1.12です。"),
        ("12", "12.5です。"),
        ("3日", "13日です。"),
        ("15時", "15時30分です。"),
        ("15時", "15時半です。"),
        ("15時", "15時間かかります。"),
        ("2年", "2年半です。"),
        ("一本", "十一本です。"),
        ("nas", "nasal"),
        ("瀬戸", "瀬戸ではなく原です。"),
        ("瀬戸", "瀬戸口さんではありません。"),
        ("瀬戸", "瀬戸以外の人です。"),
        ("15時", "15時とは書かれていません。"),
        ("15時", "2つのうち[15]番です。"),
    ],
)
def test_parts_of_longer_numbers_and_denials_do_not_hit(points, pattern, answer) -> None:
    assert points({"groups": [[pattern]]}, answer) == 0


def test_points_follow_the_number_of_groups(points) -> None:
    rubric = {"groups": [["天秤"], ["磁石"], ["木槌"]]}
    assert points(rubric, "天秤と磁石と木槌です。") == 2
    assert points(rubric, "天秤と木槌です。") == 1
    assert points(rubric, "天秤です。") == 0


def test_a_count_needs_its_number_and_a_list_alone_is_half(points) -> None:
    rubric = {"groups": [["3冊"], ["甲"], ["乙"], ["丙"]], "required": 1, "full": 1, "half": 3}
    assert points(rubric, "3冊です。") == 2
    assert points(rubric, "甲、乙、丙です。") == 1
    assert points(rubric, "4冊です。") == 0
    assert points(rubric, "甲です。") == 0


def test_a_forbidden_claim_caps_and_its_denial_does_not(points) -> None:
    assert points(THREE | {"forbidden": ["金曜"]}, "金曜の15時です。") == 1
    assert points(THREE | {"forbidden": ["金曜"], "cap": 0}, "金曜の15時です。") == 0
    assert points(THREE | {"forbidden": ["金曜"]}, "金曜ではなく木曜の15時です。") == 2


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("fact", "not_in_sources", 0),
        ("fact", "answered", 2),
        ("fact", "partly", 2),
        ("unknown", "not_in_sources", 2),
        ("unknown", "partly", 1),
        ("unknown", "answered", 0),
    ],
)
def test_the_status_decides_what_a_refusal_is_worth(points, kind, status, expected) -> None:
    rubric = {} if kind == "unknown" else THREE
    assert points(rubric, "会議は15時からです。", status, type=kind) == expected


def test_a_partly_answer_that_makes_the_near_miss_its_own_is_worth_nothing(points) -> None:
    assert points({"forbidden": ["15時"]}, "15時です。曜日は資料にありません。", "partly", type="unknown") == 0


def test_the_score_says_why(make_set, fields) -> None:
    rubric = {"groups": [["天秤"], ["磁石"]], "forbidden": ["鋸"]}
    (case,) = read_cases(make_set(fields(rubric=rubric)))
    result = score(case, PlainReply("answered", "天秤と鋸です。"))
    assert (result.points, result.hit, result.missed, result.forbidden) == (1, (0,), (1,), ("鋸",))
    assert "磁石" in result.reasons[0].ja
    assert result.reasons[1].en == "forbidden claim: 鋸"
