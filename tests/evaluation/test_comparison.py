"""Intervals and tests against values known by hand or by definition."""

import pytest

from fumikura.evaluation.comparison import bootstrap_interval, compare_paired, weighted_kappa


def test_the_interval_of_equal_scores_has_no_width() -> None:
    interval = bootstrap_interval([[2, 2], [2]])
    assert (interval.mean, interval.low, interval.high) == (2, 2, 2)


def test_the_interval_agrees_with_the_normal_approximation() -> None:
    interval = bootstrap_interval([[0.0], [2.0]] * 50)
    assert interval.mean == 1
    assert interval.low == pytest.approx(1 - 1.96 * 0.1, abs=0.02)  # standard deviation 1, 100 questions
    assert interval.high == pytest.approx(1 + 1.96 * 0.1, abs=0.02)


def test_trials_that_differ_widen_the_interval() -> None:
    steady = bootstrap_interval([[1.0, 1.0]] * 10)
    shaky = bootstrap_interval([[0.0, 2.0]] * 10)
    assert steady.high - steady.low == 0
    assert shaky.high - shaky.low > 0.3


def test_questions_count_alike_whatever_their_number_of_trials() -> None:
    assert bootstrap_interval([[2.0] * 9, [0.0]]).mean == 1


def test_the_same_seed_gives_the_same_numbers() -> None:
    scores = [[0.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
    assert bootstrap_interval(scores, seed=7) == bootstrap_interval(scores, seed=7)


def test_exact_sign_changes_of_five_gains() -> None:
    result = compare_paired([[0]] * 5, [[1]] * 5)
    assert result.p_value == 2 / 32  # only all plus or all minus is as far from 0
    assert (result.better, result.worse, result.difference.mean) == (5, 0, 1)
    assert result.within_noise()


def test_a_difference_in_most_of_many_questions_is_no_noise() -> None:
    a = [[0.0]] * 30 + [[1.0]] * 20
    b = [[2.0]] * 30 + [[1.0]] * 20
    result = compare_paired(a, b)
    assert result.p_value < 0.001
    assert not result.within_noise()
    assert result.difference.low > 0.8


def test_two_equal_runs_are_within_noise() -> None:
    result = compare_paired([[1], [2]], [[1], [2]])
    assert (result.p_value, result.difference.mean) == (1, 0)


def test_unlike_numbers_of_questions_and_empty_ones_are_refused() -> None:
    with pytest.raises(ValueError, match="2 and 1 questions"):
        compare_paired([[1], [2]], [[1]])
    with pytest.raises(ValueError, match="at least one score"):
        bootstrap_interval([[1], []])


def test_weighted_kappa_by_hand() -> None:
    assert weighted_kappa([0, 1, 2], [0, 1, 2]) == 1
    assert weighted_kappa([0, 0, 2, 2], [0, 2, 0, 2]) == pytest.approx(0)
    # table rows 0: (1, 1, 0), 2: (0, 0, 2): marginals (2, 0, 2) and (1, 1, 2)
    # expected = (2·1·0 + 2·1·¼ + 2·2·1 + 2·1·1 + 2·1·¼ + 2·2·0) / 4 = 7 / 4
    assert weighted_kappa([0, 0, 2, 2], [0, 1, 2, 2]) == pytest.approx(1 - 0.25 / 1.75)
    assert weighted_kappa([2, 2], [2, 2]) is None
    with pytest.raises(ValueError, match="same answers"):
        weighted_kappa([0, 1], [0])
