"""Case C013: the answer shows a name as the source spells it."""

from pathlib import Path

import pytest

from fumikura.grounding.spelling import as_written


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("会長は高島さんです。[1]", "会長は髙島さんです。[1]"),
        ("副会長は山崎 透さんです。", "副会長は山﨑 透さんです。"),
        ("会計は渡辺さん、書記は沢田さん（旧姓 広瀬）です。", "会計は渡邊さん、書記は澤田さん（旧姓 廣瀬）です。"),
        ("会長は髙島さんです。", "会長は髙島さんです。"),
        ("会員は二十三名です。", "会員は二十三名です。"),
        ("斉藤さんはいません。", "斉藤さんはいません。"),
    ],
)
def test_names_are_spelled_as_in_the_source(cases: Path, answer: str, shown: str) -> None:
    source = (cases / "C013" / "name_variants.md").read_text(encoding="utf-8")
    assert as_written(answer, [source]) == shown


def test_a_numeral_keeps_the_models_form() -> None:
    assert as_written("百二十三メートルです。", ["橋の長さは123メートル。"]) == "百二十三メートルです。"
