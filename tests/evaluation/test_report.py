"""The report holds everything, needs nothing else, and no source can break out of it."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from fumikura.errors import EvaluationError
from fumikura.evaluation.comparison import Interval
from fumikura.evaluation.plot import Point, plot
from fumikura.evaluation.report_html import report_html
from fumikura.evaluation.report_markdown import report_markdown
from fumikura.evaluation.run_file import Mark
from fumikura.evaluation.runner import RunOptions


class Tags(HTMLParser):
    """Collects the tags and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset")]


@pytest.fixture
def run(trial):
    trial.script["会議室"] = "図書室の開館は九時です。[1]"
    return trial.run(options=RunOptions(trials=2))


def test_the_page_holds_scores_faults_answers_passages_and_receipts(run) -> None:
    page = report_html([run], "ja")
    assert "図書室の開館は何時ですか。" in page
    assert "図書室の開館は九時、閉館は十七時です。" in page
    assert "prompt_sha256" in page
    assert page.count('<span class="points">') == 6
    assert "1.33 [" in page  # two of three questions with 2 points
    assert "あるのに「ない」" in page or "渡したが読み違い" in page
    assert '<html lang="ja">' in page
    assert "should have refused" not in page


def test_the_page_needs_no_network_and_no_script(run) -> None:
    page = Tags(report_html([run], "en"))
    assert page.addresses == []
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)


def test_what_sources_models_and_questions_say_stays_text(run) -> None:
    page = report_html([run], "ja")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page  # from a source
    hostile = "</details></body><img src=x onerror=alert(2)>"
    answer = {**run.asked[0].answer, "text": hostile, "receipt": {**run.asked[0].answer["receipt"], "model": hostile}}
    asked = replace(run.asked[0], question=hostile, answer=answer, fault=hostile, id=hostile, type=hostile)
    broken = replace(run, asked=(asked, *run.asked[1:]), marks=(Mark(hostile, run.asked[1].id, 1, 2),))
    assert Tags(report_html([broken], "ja")).tags.count("img") == 0
    assert "<img" not in report_markdown([broken], "ja")


def test_markdown_has_a_row_for_each_answer(run) -> None:
    shown = report_markdown([run], "en")
    assert len(re.findall(r"^\| q\d \(\d\) \|", shown, re.MULTILINE)) == 6
    assert "evidence that reached the prompt | 1.00" in shown


def test_two_runs_stand_in_columns_with_what_differs(run, trial) -> None:
    other = trial.run("three.jsonl", search__top_k="3")
    shown = report_markdown([run, other], "en")
    assert "| search.top_k | 5 | 3 |" in shown
    assert "| type | questions | run | three |" in shown


def test_a_run_without_answers_is_named(run) -> None:
    with pytest.raises(EvaluationError, match=r"run\.jsonl holds no answer"):
        report_html([replace(run, asked=())], "ja")


@pytest.mark.parametrize("seconds", [0.0, 0.004, 3.0, 900.0])
def test_the_plot_is_well_formed_and_stays_inside(seconds) -> None:
    points = [Point("a<b&c", Interval(1.5, 1.2, 1.8), seconds), Point("x" * 80, Interval(2, 2, 2), seconds / 2)]
    picture = ET.fromstring(plot(points, "ja"))
    width = float(picture.attrib["width"])
    edges = [float(one.attrib["x"]) + float(one.attrib["width"]) for one in picture.iter() if one.tag.endswith("rect")]
    assert len(edges) == 2
    assert max(edges) < width
