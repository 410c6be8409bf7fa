"""The window of an embedder: what lies beyond it most libraries drop in silence, so it is refused here."""

from fumikura.errors import InputTooLong


def check_window(name: str, position: int, token_count: int, max_tokens: int) -> None:
    """Raise InputTooLong, which names the text's position (from 1), when it has more tokens than the window."""
    if token_count > max_tokens:
        raise InputTooLong(
            ja=f"{position} 番目の文章は {token_count} トークンあり、{name} の上限 {max_tokens} を超えています。"
            "chunk.size を小さくしてください。",
            en=f"Text {position} has {token_count} tokens, {name} reads {max_tokens}: make chunk.size smaller",
        )
