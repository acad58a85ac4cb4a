//! The languages: a table of words each, one logic for all.

mod chinese;
mod english;
mod french;
mod german;
mod japanese;
mod portuguese;
mod russian;
mod shared;
mod spanish;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::classes::WordClass;

pub(super) use shared::WORDS as SHARED;

/// Words by their class, a `|` between them. A `*` at a word's end stands for any letters, a `+` for the regular forms of an English verb.
pub(super) type WordTable = [(WordClass, &'static str)];

/// The languages whose words are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Chinese,
    Spanish,
    Russian,
    German,
    French,
    Japanese,
    Portuguese,
}

impl Language {
    /// All of them, in their order.
    pub(crate) const ALL: [Self; 8] = [
        Self::English,
        Self::Chinese,
        Self::Spanish,
        Self::Russian,
        Self::German,
        Self::French,
        Self::Japanese,
        Self::Portuguese,
    ];

    /// Its words.
    pub(super) fn words(self) -> &'static WordTable {
        match self {
            Self::English => english::WORDS,
            Self::Chinese => chinese::WORDS,
            Self::Spanish => spanish::WORDS,
            Self::Russian => russian::WORDS,
            Self::German => german::WORDS,
            Self::French => french::WORDS,
            Self::Japanese => japanese::WORDS,
            Self::Portuguese => portuguese::WORDS,
        }
    }

    /// The language of a folded sentence: by its letters, else by its small words. Several, English first, where these leave it open.
    pub(crate) fn detect(text: &str) -> Vec<Self> {
        let (mut han, mut letters) = (0, 0);
        if !text.is_ascii() {
            let mut cyrillic = 0;
            for c in text.chars() {
                match c {
                    '\u{3041}'..='\u{30fa}' => return vec![Self::Japanese],
                    '\u{4e00}'..='\u{9fff}' => han += 1,
                    '\u{400}'..='\u{4ff}' => cyrillic += 1,
                    c => letters += usize::from(c.is_ascii_alphabetic()),
                }
            }
            if han >= 2 && han * 8 >= letters {
                return vec![Self::Chinese];
            }
            if cyrillic >= 4 && cyrillic * 4 >= letters {
                return vec![Self::Russian];
            }
        }
        let mut counts = [0_usize; 5];
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'') {
            for (count, (_, words)) in counts.iter_mut().zip(SMALL_WORDS) {
                *count += usize::from(words.contains(&word));
            }
        }
        let most = counts.iter().max().copied().unwrap_or(0);
        let [english, ..] = counts;
        if english == most && most > 0 {
            return vec![Self::English];
        }
        counts.iter().zip(SMALL_WORDS).filter(|(count, _)| **count == most).map(|(_, (own, _))| own).collect()
    }
}

/// Small words that tell languages in Latin letters apart, accents left off.
const SMALL_WORDS: [(Language, &[&str]); 5] = [
    (
        Language::English,
        &[
            "the", "and", "a", "as", "in", "on", "do", "no", "or", "by", "if", "be", "at", "every", "each",
            "we", "our", "to", "of", "is", "are", "you", "your", "with", "for", "this", "that", "it", "any",
            "from", "into", "not", "before", "when", "user", "all", "then", "without", "an", "its", "them",
        ],
    ),
    (
        Language::Spanish,
        &[
            "el", "la", "los", "las", "de", "del", "y", "que", "en", "al", "por", "para", "con", "sin", "tu",
            "su", "usuario", "todos", "todas", "antes", "esta", "este", "una", "un", "no", "nunca", "a", "e",
            "o", "se", "lo",
        ],
    ),
    (
        Language::German,
        &[
            "der", "die", "das", "und", "den", "dem", "des", "an", "nicht", "zu", "mit", "alle", "ohne",
            "sie", "du", "dein", "deine", "ihre", "benutzer", "im", "in", "auf", "von", "vor", "ein", "eine",
            "bitte", "aus", "es", "dann", "diese", "ist", "wie", "niemals", "zuerst",
        ],
    ),
    (
        Language::French,
        &[
            "le",
            "la",
            "les",
            "de",
            "des",
            "du",
            "et",
            "que",
            "en",
            "au",
            "aux",
            "ne",
            "pas",
            "sans",
            "votre",
            "vos",
            "l'utilisateur",
            "a",
            "un",
            "une",
            "ce",
            "cette",
            "dans",
            "sur",
            "pour",
            "puis",
            "avant",
            "toutes",
            "tous",
            "jamais",
            "ces",
            "vers",
            "est",
        ],
    ),
    (
        Language::Portuguese,
        &[
            "o", "os", "as", "de", "do", "da", "dos", "das", "e", "que", "em", "no", "na", "ao", "para",
            "com", "sem", "seu", "sua", "usuario", "nao", "nunca", "todos", "todas", "antes", "um", "uma",
            "este", "esta", "isso", "a", "pelo",
        ],
    ),
];

/// Traditional Chinese letters and the simplified ones in their place, those that the tables need.
const TRADITIONAL: &str = "讀读寫写發发給给們们會会對对說说請请這这個个為为時时間间來来後后從从讓让與与無无關关閉闭開开啟启動动執执運运載载傳传輸输資资訊讯檔档據据錄录網网絡络務务憑凭證证鑰钥記记憶忆規规則则統统設设認认許许確确權权應应該该須须須须隱隐瞞瞒騙骗偽伪裝装產产財财幣币錢钱轉转帳账號号碼码詢询問问經经過过環环變变數数員员內内容容頁页麵面覽览圖图標标題题簡简單单還还將将並并當当徵征獲获複复製制備备份份刪删除除毀毁壞坏類类級级絕绝對对禁止止繞绕檢检測测審审計计歷历對对話话導导別别聯联繫系連连結结線线終终端端護护欄栏安安壓压縮缩編编較较準准語语詞词術术軟软體体報报擊击";

/// A letter in its simplified form.
pub(super) fn simplified(c: char) -> char {
    static PAIRS: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
        let letters: Vec<char> = TRADITIONAL.chars().collect();
        letters.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?))).collect()
    });
    PAIRS.get(&c).copied().unwrap_or(c)
}
