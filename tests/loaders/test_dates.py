import pytest

from fumikura.loaders.dates import date_of


@pytest.mark.parametrize(
    ("metadata", "date"),
    [
        ({"date": "2025-04-07"}, "2025-04-07"),
        ({"Date": "2025/4/7"}, "2025-04-07"),
        ({"created": "2025-04-08T09:30:00+09:00"}, "2025-04-08"),
        ({"日付": "２０２５年４月７日（月）"}, "2025-04-07"),
        ({"date": "来週", "created": "2025.04.09"}, "2025-04-09"),
        ({"updated": "2025-04-07"}, None),
        ({"date": "2025-13-40"}, None),
        ({"date": "2025"}, None),
    ],
)
def test_front_matter_dates_become_iso(metadata, date):
    assert date_of(metadata, "メモ") == date


@pytest.mark.parametrize(
    ("stem", "date"),
    [
        ("2025-03-02 定例会", "2025-03-02"),
        ("議事録_20250302", "2025-03-02"),
        ("議事録2025年3月2日", "2025-03-02"),
        ("2025_03_02", "2025-03-02"),
        ("令和7年3月2日の定例会", "2025-03-02"),
        ("IMG_20251340", None),
        ("注文1202503021", None),
        ("99999999_20250302", "2025-03-02"),
        ("覚え書き", None),
    ],
)
def test_dates_in_file_names(stem, date):
    assert date_of({}, stem) == date


def test_front_matter_goes_before_the_file_name():
    assert date_of({"date": "2025-01-01"}, "2025-03-02") == "2025-01-01"
