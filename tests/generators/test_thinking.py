"""The thinking filter alone: every shape, cut into pieces at every place."""

import pytest

from fumikura.generators.thinking import TemplateHabits, ThinkingFilter, ends_in_opening_tag
from fumikura.records import Finish


def filtered(pieces: list[str], finish: Finish = "complete", opened: bool | None = None) -> str:
    thinking = ThinkingFilter(TemplateHabits(opened))
    return "".join(map(thinking.feed, pieces)) + thinking.finish(finish)


@pytest.mark.parametrize("opened", [None, False])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>\n九時か。\n</think>\n\n開館は九時です。[1]", "開館は九時です。[1]"),
        ("\n <THINKING>考え中</THINKING>答え", "答え"),
        ("<thought>考え中</thought>答え", "答え"),
        ("<reasoning effort='low'>考え中</reasoning>答え", "答え"),
        ("[THINK]考え中[/THINK]答え", "答え"),
        ("◁think▷考え中◁/think▷答え", "答え"),
        ("<seed:think>考え中</seed:think>答え", "答え"),
        ("<think>一度目</think>\n<think>二度目</think>\n答え", "答え"),
        ("<think></think>答え", "答え"),
        ("<thinker>という語", "<thinker>という語"),
        ("[1] は出典です", "[1] は出典です"),
        ("< 3 件です", "< 3 件です"),
        ("<", "<"),
        ("思考は <think> から </think> までです。", "思考は <think> から </think> までです。"),
        ("`<think>` と `</think>` がタグです。", "`<think>` と `</think>` がタグです。"),
        ("閉じるタグは「</think>」です。", "閉じるタグは「</think>」です。"),
        (" \n　", ""),
        ("", ""),
    ],
)
def test_shapes(text: str, answer: str, size: int, opened: bool | None) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert filtered(pieces, opened=opened) == answer


def test_closing_tag_alone_cuts_what_came_before() -> None:
    assert filtered(list("資料を読む。\n</think>\n\n開館は九時です。[1]")) == "開館は九時です。[1]"


def test_first_answer_of_an_unknown_server_is_held_back_only_for_the_window() -> None:
    thinking = ThinkingFilter(TemplateHabits())
    shown = [thinking.feed("開館は九時です。") for _ in range(60)]
    assert shown[0] == ""
    assert all(shown[40:])


def test_known_server_streams_from_the_first_piece() -> None:
    habits = TemplateHabits()
    first = ThinkingFilter(habits)
    first.feed("開館は九時です。")
    first.finish("complete")
    second = ThinkingFilter(habits)
    assert second.feed("閉館は") == "閉館は"


def test_server_whose_template_opens_thinking_is_remembered() -> None:
    habits = TemplateHabits()
    long_thinking = "考え中。" * 100  # beyond the window: the first answer cannot be saved
    for _ in range(2):
        thinking = ThinkingFilter(habits)
        text = (
            thinking.feed(f"{long_thinking}\n</think>\n")
            + thinking.feed("開館は九時です。")
            + thinking.finish("complete")
        )
    assert text == "開館は九時です。"


def test_server_that_stops_thinking_is_not_silenced() -> None:
    habits = TemplateHabits(opened_by_template=True)
    assert filtered(["開館は九時です。"], opened=True) == "開館は九時です。"
    ThinkingFilter(habits).feed("考え")
    thinking = ThinkingFilter(habits)
    thinking.feed("開館は九時です。")
    thinking.finish("complete")
    assert ThinkingFilter(habits).feed("閉館は") == "閉館は"


@pytest.mark.parametrize("opened", [None, True])
def test_unclosed_thinking_that_was_cut_leaves_nothing(opened: bool | None) -> None:
    assert filtered(["<think>長い\n\n考えが", "終わらない"], "length", opened) == ""


def test_thinking_opened_by_the_template_and_cut_leaves_nothing() -> None:
    assert filtered(["長い考えが終わらない"], "length", opened=True) == ""


def test_unclosed_thinking_gives_the_part_after_the_blank_line() -> None:
    assert filtered(["<think>閉じ忘れ\n\n", "開館は九時です。[1]"]) == "開館は九時です。[1]"


def test_unclosed_without_blank_line_is_shown_without_its_tag() -> None:
    assert filtered(["<think>開館は九時です。"]) == "開館は九時です。"


@pytest.mark.parametrize(
    ("prompt", "inside"),
    [("<|assistant|>\n<think>\n", True), ("<think>\n\n</think>\n\n", False), ("assistant\n", False)],
)
def test_template_that_opens_thinking_is_known_from_its_prompt(prompt: str, inside: bool) -> None:
    assert ends_in_opening_tag(prompt) is inside
