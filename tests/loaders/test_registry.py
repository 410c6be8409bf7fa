import pytest

from fumikura.errors import UnsupportedSource
from fumikura.loaders import LoaderRegistry, MarkdownLoader, TextLoader
from fumikura.records import SourceFile


def test_the_suffix_chooses_the_loader(registry):
    assert isinstance(registry.loader_for("手引き.MD"), MarkdownLoader)
    assert isinstance(registry.loader_for("folder.v2/note.markdown"), MarkdownLoader)
    assert isinstance(registry.loader_for("server.log"), TextLoader)
    assert registry.suffixes == (".log", ".markdown", ".md", ".text", ".txt")


@pytest.mark.parametrize("name", ["写真.png", "README", "archive.tar.gz"])
def test_an_unknown_kind_is_refused_with_what_is_read(registry, name):
    with pytest.raises(UnsupportedSource) as caught:
        registry.loader_for(name)
    for message in (caught.value.ja, caught.value.en):
        assert name in message and ".md" in message and ".txt" in message


@pytest.mark.parametrize("name", ["README", "設定.ini", "一覧.csv"])
def test_unknown_text_is_read_as_text(load, name):
    assert load("合言葉はさくら", name=name).text == "合言葉はさくら"


def test_unknown_content_that_is_no_text_is_unsupported(load):
    with pytest.raises(UnsupportedSource, match="x.bin"):
        load(bytes(range(256)), name="x.bin")


def test_without_a_fallback_only_known_kinds_are_read():
    with pytest.raises(UnsupportedSource):
        LoaderRegistry([MarkdownLoader()]).load(SourceFile("a.txt", "a.txt", b"abc"))
