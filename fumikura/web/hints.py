"""What a person at the page can do about each kind of error: a second line, below the message itself."""

from fumikura.records import Notice

HINTS = {
    "error": Notice("もう一度試してください。", "Try again."),
    "settings": Notice("設定を確かめてください。", "Check the settings."),
    "missing_extra": Notice(
        "サーバーの機械で追加パッケージを入れ、起動し直してください。",
        "Install the package group on the server's machine and start it again.",
    ),
    "question": Notice("質問を直して、もう一度送ってください。", "Change the question and send it again."),
    "not_found": Notice(
        "一覧を開き直してください。消されたか、名前が変わったのかもしれません。",
        "Open the list again: it may have been removed or renamed.",
    ),
    "conflict": Notice("今の状態を確かめて、もう一度試してください。", "Look at the present state and try again."),
    "index_mismatch": Notice("索引を作り直してください。", "Rebuild the index."),
    "core_too_large": Notice(
        "資料ごとの大きさは「資料の読み方」で見られます。", 'Sizes are shown under "How sources are read".'
    ),
    "source": Notice("ファイルを確かめて、もう一度加えてください。", "Check the file and add it again."),
    "unsupported_source": Notice("テキストか Markdown に書き出して加えてください。", "Export it as text or Markdown."),
    "source_too_large": Notice(
        "分けて加えるか、設定 limits.source_bytes を上げてください。", "Split it, or raise limits.source_bytes."
    ),
    "unreadable_source": Notice("ファイルが開けるか、確かめてください。", "Check that the file opens elsewhere."),
    "model_file": Notice("fumikura doctor で原因を調べられます。", "fumikura doctor tells more."),
    "model_missing": Notice("fumikura models fetch で取得できます。", "fumikura models fetch brings it."),
    "model_corrupt": Notice("fumikura models fetch で取り直せます。", "fumikura models fetch brings it anew."),
    "download_failed": Notice("つながるのを待って、もう一度取得してください。", "Fetch it again once online."),
    "evaluation": Notice("問題集を直して、もう一度どうぞ。", "Mend the question set and try again."),
    "backend": Notice("モデルのサーバーのログを確かめてください。", "Look at the log of the model's server."),
    "backend_unavailable": Notice(
        "モデルのサーバーが動いているか確かめ、もう一度送ってください。",
        "Check that the model's server runs, then send it again.",
    ),
    "backend_timeout": Notice("少し待って、もう一度送ってください。", "Wait a moment and send it again."),
    "backend_refused": Notice("設定のモデル名を確かめてください。", "Check the model's name in the settings."),
    "input_too_long": Notice(
        "質問を短くするか、search.top_k か search.context_tokens を下げてください。",
        "Shorten the question, or lower search.top_k or search.context_tokens.",
    ),
    "backend_reply_invalid": Notice(
        "設定の URL とサーバーの版を確かめてください。", "Check the URL in the settings and the server's version."
    ),
    "store": Notice("fumikura doctor で原因を調べられます。", "fumikura doctor tells more."),
    "store_locked": Notice("少し待って、もう一度試してください。", "Wait a moment and try again."),
    "store_damaged": Notice("バックアップから戻してください。", "Restore the database from a backup."),
    "refused": Notice("要求を確かめてください。", "Check the request."),
    "token_wanted": Notice("サーバーを始めた人にトークンを聞いてください。", "Ask its owner for the token."),
    "forbidden": Notice("文庫のページを直接開いて操作してください。", "Open Fumikura's own page and do it there."),
    "body_too_large": Notice("何回かに分けて送ってください。", "Send it in several parts."),
    "setting_refused": Notice("値を直してください。何も変えていません。", "Correct the value: nothing was changed."),
    "too_many_requests": Notice("少し待って、もう一度試してください。", "Wait a moment and try again."),
    "stopped": Notice("もう一度送れば、はじめから答えます。", "Send it again for an answer from the start."),
    "internal": Notice(
        "もう一度試し、続くならサーバーのログを見てください。", "Try again; then look at the server's log."
    ),
    "input": Notice("入力を直して、もう一度送ってください。", "Correct the input and send it again."),
    "method_not_allowed": Notice("/api/openapi.json に使い方があります。", "See /api/openapi.json."),
    "no_such_path": Notice("/api/openapi.json に一覧があります。", "See /api/openapi.json."),
}

# What pydantic says in English, by the kind of its error; it says all others in English to everybody.
WRONG_INPUT = {
    "missing": "必要な項目です",
    "extra_forbidden": "知らない項目です",
    "json_invalid": "正しい JSON ではありません",
    "string_type": "文字列にしてください",
    "string_too_short": "{min_length} 文字以上にしてください",
    "string_too_long": "{max_length} 文字までにしてください",
    "bool_type": "true か false にしてください",
    "bool_parsing": "true か false にしてください",
    "int_type": "整数にしてください",
    "int_parsing": "整数にしてください",
    "greater_than_equal": "{ge} 以上にしてください",
    "less_than_equal": "{le} 以下にしてください",
    "literal_error": "{expected} のどれかにしてください",
    "list_type": "配列にしてください",
    "dict_type": "オブジェクトにしてください",
}
