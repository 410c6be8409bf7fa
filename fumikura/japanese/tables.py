"""Characters that mean the same although NFKC keeps them apart."""

# Old and variant forms, each word: the form we keep first, then those folded into it. 斉 (with 齊) and 斎 (with 齋)
# stay two groups: they are different family names.
_KANJI = """
高髙 崎﨑嵜 辺邊邉 沢澤 広廣 斉齊 斎齋 島嶋嶌 浜濱濵 富冨 真眞 国國圀 徳德 恵惠 寿壽 桜櫻 瀬瀨 滝瀧 竜龍 峰峯
柳栁 桑桒 館舘 吉𠮷 土圡 彦彥 黒黑 黄黃 清淸 青靑 静靜 温溫 内內 呉吳 産產 与與 弥彌 礼禮 禄祿 万萬 円圓 亀龜
台臺 体體 鉄鐵鐡 塩鹽 学學 会會 芸藝 図圖 売賣 読讀 続續 戦戰 応應 当當 変變 声聲 医醫 区區 駅驛 経經 済濟 従從
転轉 伝傳 労勞 営營 栄榮 蛍螢 覚覺 気氣 楽樂 薬藥 発發 鋳鑄 関關 観觀 歓歡 勧勸 権權 県縣 検檢 険險 剣劍劒 倹儉
験驗 顕顯 厳嚴 挙擧 誉譽 旧舊 拠據 狭狹 峡峽 郷鄕 暁曉 焼燒 駆驅 欧歐 殴毆 枢樞 径徑 茎莖 軽輕 継繼 断斷 欠缺
撃擊 圏圈 献獻 号號 効效 恒恆 鉱鑛 砕碎 剤劑 雑雜 参參 桟棧 蚕蠶 惨慘 賛贊 残殘 糸絲 歯齒 児兒 辞辭 湿濕 実實
舎舍 写寫 釈釋 収收 渋澁 獣獸 縦縱 粛肅 処處 叙敍 将將 称稱 証證 奨獎 乗乘 浄淨 剰剩 条條 状狀 畳疊 譲讓 醸釀
嬢孃 壌壤 触觸 嘱囑 寝寢 慎愼 尽盡 粋粹 酔醉 穂穗 随隨 髄髓 数數 窃竊 摂攝 専專 浅淺 銭錢 践踐 潜潛 繊纖 禅禪
双雙 壮壯 荘莊 装裝 捜搜 挿插 巣巢 争爭 総總 聡聰 騒騷 蔵藏 臓臟 属屬 堕墮 対對 帯帶 滞滯 択擇 訳譯 担擔 胆膽
団團 弾彈 単單 遅遲 痴癡 虫蟲 昼晝 庁廳 聴聽 勅敕 鎮鎭 逓遞 点點 灯燈 党黨 盗盜 稲稻 闘鬪 独獨 届屆 縄繩 弐貳
悩惱 脳腦 覇霸 拝拜 廃廢 麦麥 抜拔 髪髮 蛮蠻 秘祕 瓶甁 払拂 仏佛 並竝 併倂 弁辨辯瓣 歩步 宝寶 豊豐 褒襃 翻飜
毎每 満滿 黙默 予豫 余餘 揺搖 様樣 謡謠 来來 頼賴 乱亂 覧覽 両兩 猟獵 緑綠 涙淚 塁壘 励勵 霊靈 齢齡 恋戀 炉爐
楼樓 録錄 湾灣 巻卷 為爲 壱壹 隠隱 衛衞 縁緣 奥奧 横橫 価價 仮假 画畫 壊壞 懐懷 絵繪 拡擴 殻殼 岳嶽 缶罐 陥陷
巌巖 偽僞 戯戲 犠犧 帰歸 教敎 勲勳 薫薰 群羣 渓溪 鶏鷄雞 顔顏 遥遙 尭堯 瑶瑤 亘亙 槙槇 凜凛 鶴靏靍 園薗 桧檜
鴎鷗 蝋蠟 頬頰 繋繫 填塡 剥剝 叱𠮟 麹麴 掴摑 噛嚙 撹攪 祷禱 醤醬 騨驒 焔焰 掻搔 痩瘦 箪簞 芦蘆 蒋蔣 鹸鹼 麺麵
籠篭 莱萊 頚頸 賎賤 砺礪 涛濤 鴬鶯 蛎蠣 曽曾 税稅 説說 鋭銳 悦悅 閲閱 脱脫 尚尙 虚虛 戻戾 査查 草艸 暦曆 歴歷
"""

# Radicals that PDF fonts emit in place of the character; NFKC maps the Kangxi block (U+2F00) but not this one.
_RADICALS = """
長⻑⻒ 西⻄ 青⻘ 食⻝⻞ 黄⻩ 亀⻲ 鬼⻤ 民⺠ 王⺩ 角⻆ 麦⻨ 斉⻫ 歯⻭ 竜⻯ 虎⻁ 骨⻣ 肉⺼ 雨⻗ 牛⺧ 示⺬ 日⺜
月⺝ 刀⺈ 卜⺊ 小⺌⺍ 羊⺶⺷⺸ 水⺢ 母⺟ 尢⺐⺏ 衣⻂ 足⻊ 邑⻏ 阜⻖⻕ 首⻡ 臼⺽ 聿⺺⺻ 老⺹ 犬⺨ 手⺘ 心⺖⺗
火⺣ 爪⺤⺥ 糸⺯⺰ 草⺾⺿⻀ 目⺫ 无⺛ 己⺒ 幺⺓
"""

DASHES = "‐‑‒–—―−─━﹣－﹘⁃"
WAVES = "〜～∼∿˷〰"


def _pairs(groups: str) -> dict[str, str]:
    return {variant: group[0] for group in groups.split() for variant in group[1:] if variant != group[0]}


SAME: dict[str, str] = {
    **_pairs(_KANJI),
    **_pairs(_RADICALS),
    **dict.fromkeys(DASHES, "-"),
    **dict.fromkeys(WAVES, "~"),
    **{"㈱": "株式会社", "㍿": "株式会社", "㈲": "有限会社", "ヶ": "ケ", "ヵ": "カ", "◯": "〇"},
    **{"ヷ": "バ", "ヸ": "ビ", "ヹ": "ベ", "ヺ": "ボ", "〻": "々", "’": "'", "‘": "'", "“": '"', "”": '"'},
}
"""Each character and what replaces it after NFKC."""

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Zero-width characters, soft hyphen, direction marks, variation selectors (inside a character class)."""
