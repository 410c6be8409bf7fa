import pytest

from fumikura.grounding.marks import format_marks, take_marks


def numbers(line: str, *sources: str) -> list[tuple[int, ...]]:
    return [mark.numbers for mark in take_marks(line, sources).marks]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("九時です[1]。", [(1,)]),
        ("九時です［１］。", [(1,)]),
        ("九時です【1】。", [(1,)]),
        ("九時です【１】。", [(1,)]),
        ("九時です〔1〕。", [(1,)]),
        ("九時です[[1]]。", [(1,)]),
        ("九時です[^1]。", [(1,)]),
        ("九時です(出典1)。", [(1,)]),
        ("九時です（資料１、２）。", [(1, 2)]),
        ("九時です（出典：[1]）。", [(1,)]),
        ("九時です[出典: 1]。", [(1,)]),
        ("九時です[資料1, 資料2]。", [(1, 2)]),
        ("九時です[1, 1]。", [(1,)]),
        ("九時です[1][1]。", [(1,), (1,)]),
        ("九時です[1-3]。", [(1, 3, 2)]),
        ("九時です[1〜2]。", [(1, 2)]),
        ("It opens at nine [1, 2].", [(1, 2)]),
        ("It opens at nine [source 1].", [(1,)]),
        ("It opens at nine[1] and closes at five[2].", [(1,), (2,)]),
        ("九時です[999]。", [(999,)]),
    ],
)
def test_shapes_of_marks(line: str, expected: list[tuple[int, ...]]):
    assert [tuple(found) for found in numbers(line)] == expected
    assert not set("[]［］【】〔〕") & set(take_marks(line).text)


@pytest.mark.parametrize(
    "line",
    [
        "[2024年]に開いた。",
        "[2024]の記録。",
        "手順(1)を行う。",
        "詳しくは[1](https://example.org/a)へ。",
        "[1]: https://example.org/a",
        "`names[0]` が先頭。",
        "rows[0].name を読む。",
        "rows[1] = 5 と書く。",
        "[1-300]の範囲。",
        "【重要】必ず読む。",
        "会議(三月)の記録。",
    ],
)
def test_brackets_that_are_no_marks_stay(line: str):
    assert take_marks(line).text == line
    assert numbers(line) == []


def test_a_bracket_copied_from_a_passage_is_no_mark_and_cannot_be_taken_for_one():
    source = "手順[3]を見てから、値 [0, 1] を入れる。"
    marked = take_marks("「手順[3]を見てから、値 [0, 1] を入れる」とあります[1]。", [source])
    assert marked.text == "「手順［3］を見てから、値 [0, 1] を入れる」とあります。"
    assert [mark.numbers for mark in marked.marks] == [(1,)]


def test_marks_are_written_once_and_in_order():
    assert format_marks((2, 1, 2)) == "[1][2]"
