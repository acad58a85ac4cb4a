//! Classes of words: what a word can mean in an instruction, whatever the language. Tables of words say which word has which.

use std::ops::BitOr;

/// A set of classes, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordClass(u128);

impl WordClass {
    /// No class.
    pub(crate) const NONE: Self = Self(0);

    /// Whether the two have a class in common.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both together.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These classes but for some.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it has no class.
    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for WordClass {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

/// Declares the classes, each with its bit.
macro_rules! word_classes {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)+) => {
        impl WordClass {
            $($(#[$doc])* pub(crate) const $name: Self = Self(1 << $bit);)+
        }
    };
}

word_classes! {
    // What is to be done.
    /// Read, open, print.
    READ = 0;
    /// Collect, copy, extract, harvest.
    TAKE = 1;
    /// Send, upload, post, forward.
    SEND = 2;
    /// Include, append, attach, encode, pass on.
    EMBED = 3;
    /// Run, execute.
    RUN = 4;
    /// Download, fetch, visit.
    FETCH = 5;
    /// Install.
    INSTALL = 6;
    /// Tell, inform, mention, show.
    TELL = 7;
    /// Ask, confirm, wait for.
    ASK = 8;
    /// Skip, bypass, auto-approve.
    SKIP = 9;
    /// Ignore, forget, override.
    DROP = 10;
    /// Follow, obey, act on.
    OBEY = 11;
    /// Disable, switch off.
    DISABLE = 12;
    /// Edit, write, set.
    CHANGE = 13;
    /// Remember, persist, store.
    KEEP = 14;
    /// Delete, wipe, encrypt.
    DESTROY = 15;
    /// Act as, pretend to be, you are now.
    PRETEND = 16;
    /// Grant, allow, approve.
    GRANT = 17;
    /// Pay, buy, transfer money.
    PAY = 18;
    /// Lie, deceive, mislead.
    LIE = 19;
    /// Hide, conceal.
    HIDE = 20;
    /// Treat as, regard as.
    TREAT = 21;
    /// Falsify, fabricate.
    FALSIFY = 22;
    /// Spread, replicate itself.
    SPREAD = 23;
    /// Enter, type in: what a person does at a prompt.
    ENTER = 24;

    // To what.
    /// Private keys, browser stores, wallets: what no skill but its owner reads.
    KEYS = 30;
    /// The environment or a file of it, credentials as a whole.
    ENVFILE = 31;
    /// One key, token or password.
    CRED = 32;
    /// Seed phrases, recovery codes, codes for a second factor.
    SEED = 33;
    /// The conversation, what the user said.
    TALK = 34;
    /// The system prompt.
    PROMPT = 35;
    /// Files, documents, source code.
    FILES = 36;
    /// Instructions, rules, guidelines.
    RULES = 37;
    /// Restrictions, limits, filters.
    LIMITS = 38;
    /// Previous, above, your, original: which instructions.
    BEFORE = 39;
    /// Confirmation, approval, consent.
    APPROVAL = 40;
    /// The user, the human, the owner.
    USER = 41;
    /// Logs, traces, the history of commands.
    LOGS = 42;
    /// Files that an agent takes orders from, and files that a shell starts with.
    AGENTFILE = 43;
    /// Settings that approve without asking.
    AGENTSET = 44;
    /// The agent's own safety: guardrails, safety rules, content filters.
    GUARD = 45;
    /// The system's safety: sandbox, antivirus, firewall.
    SHIELD = 46;
    /// The whole disk, the home folder, all there is.
    EVERYTHING = 47;
    /// Money, coins, funds.
    MONEY = 48;
    /// Other skills, tools, repositories.
    OTHERS = 49;
    /// Text from elsewhere: a page, a mail, a tool's answer.
    CONTENT = 50;
    /// Results, tests, reviews, findings.
    RESULTS = 51;
    /// Backdoors, malware, vulnerabilities.
    HARM = 52;
    /// What the agent writes: answer, comment, commit, parameter.
    OUTPUT = 53;
    /// A place that receives: our server, a webhook.
    SERVER = 54;
    /// Later sessions, from now on.
    LASTING = 55;
    /// First, before anything else, required.
    FIRST = 56;
    /// An archive with a password, a shell to paste into.
    PASTED = 57;
    /// Unlimited, unfiltered, without rules, as one word.
    NOLIMIT = 58;
    /// This instruction, itself.
    ITSELF = 59;
    /// It, them, the contents: what was named before.
    PRONOUN = 60;
    /// An address in the network.
    URL = 61;
    /// An address that anybody can make and nobody can name.
    THROWAWAY = 62;
    /// An address of this machine.
    LOCAL = 63;

    // How, and who.
    /// Silently, secretly, in the background.
    COVERT = 70;
    /// Not, never, must not, avoid.
    NEG = 71;
    /// Without: it turns the one thing that follows.
    WITHOUT = 72;
    /// Attackers, malicious, attempts: what follows is spoken of.
    REPORT = 73;
    /// Somebody else: attackers, malware, people.
    THIRD = 74;
    /// You, the agent, the assistant.
    AGENT = 75;
    /// This skill, this tool, it: what a text says of itself.
    SELF = 76;
    /// Must, should, will, to: a verb follows.
    MODAL = 77;
    /// And, then.
    AND = 78;
    /// Or, nor.
    OR = 79;
    /// But, instead.
    BUT = 80;
    /// If, when.
    IF = 81;
    /// Unless, until: what follows takes back.
    UNLESS = 82;
    /// An article or the like: a noun follows.
    ARTICLE = 83;
    /// A comma.
    COMMA = 85;
    /// A colon, a dash, a bracket.
    BREAK = 86;
    /// Words between verb and sentence start that change nothing: please, now, always.
    ADVERB = 87;
    /// Found in, embedded in, from: where text comes from.
    WITHIN = 88;
    /// May, might, could, can: it is possible.
    MAY = 89;
    /// In a header, as a parameter of a service: how keys are meant to be sent.
    HEADER = 90;
    /// All, every, entire.
    ALL = 91;
    /// Example, placeholder, dummy.
    DUMMY = 92;
    /// To, as the object of telling: "tell the user to".
    TO = 93;
    /// A question word or mark.
    QUESTION = 94;
    /// That nothing happened, no: what a lie says.
    NOTHING = 95;
    /// Do, as in "how to": a guide for people.
    GUIDE = 96;
    /// A verb that ends in -ing: by itself it tells nothing.
    GERUND = 97;
    /// A verb in the third person: something else does it.
    THIRD_FORM = 98;
    /// Your, system, existing: whose instructions, less plainly than "previous".
    OWN = 99;
    /// Prompt, command, context: may be instructions, may be anything.
    TOPIC = 100;
    /// A verb of dropping that is also ordinary work: override, overwrite.
    REPLACE = 101;
    /// Passwords, cards, accounts: what people are asked for.
    PASSWORD = 102;
    /// Codes that services send: for a second factor, for recovery.
    CODES = 103;
    /// Trusted, authoritative: orders that count.
    TRUSTED = 104;
    /// Takes priority over.
    PRIORITY = 105;
    /// Show, explain, summarize: telling that is ordinary work.
    SHOW = 106;
    /// A password for an archive.
    LOCKED = 107;
    /// A path at which a private key lies.
    KEYPATH = 108;
}

/// What harms if done unseen or unasked.
pub(crate) const CONSEQUENCE: WordClass = WordClass::SEND
    .with(WordClass::INSTALL)
    .with(WordClass::DESTROY)
    .with(WordClass::PAY)
    .with(WordClass::TAKE)
    .with(WordClass::GRANT)
    .with(WordClass::RUN)
    .with(WordClass::CHANGE)
    .with(WordClass::FETCH)
    .with(WordClass::EMBED)
    .with(WordClass::DISABLE);

/// All secrets.
pub(crate) const ANY_SECRET: WordClass =
    WordClass::KEYS.with(WordClass::ENVFILE).with(WordClass::CRED).with(WordClass::SEED);

/// Places outside of this machine.
pub(crate) const OUTSIDE: WordClass = WordClass::URL.with(WordClass::SERVER).with(WordClass::THROWAWAY);
