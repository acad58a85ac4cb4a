//! English.

use super::WordTable;
use crate::instructions::classes::WordClass as C;

/// Its words.
pub(super) const WORDS: &WordTable = &[
    (
        C::READ,
        "read+ | open+ | cat | print+ | display+ | access+ | retrieve+ | load+ | dump+ | look up | output+ | echo+",
    ),
    (
        C::TAKE,
        "collect+ | gather+ | harvest+ | grab | grabs | grabbing | steal+ | scrape+ | copy+ | extract+ | locate+ | find+ | \
         enumerate+ | bundle+ | compress+ | pick up | exfiltrate+ | siphon+ | zip up | intercept+ | search for | archive+ | \
         build an inventory | build a comprehensive inventory | create an inventory | build a list of | create a list of | prepare a list of | make a list of | compile+ | inventory | take inventory | list all | list every | summarize all",
    ),
    (
        C::SEND,
        "send+ | upload+ | post+ | transmit | transmits | transmitting | exfiltrate+ | forward+ | email+ | e-mail+ | submit | \
         submits | submitting | deliver+ | leak+ | relay+ | beacon+ | report back | is sent | are sent | be sent | gets sent | \
         is transmitted | are transmitted | be transmitted | is forwarded | are forwarded | be forwarded | is uploaded | \
         are uploaded | be uploaded | mail+ | hand over | push to | pushes to | share with | mirror+ to | phone home | \
         beacon out",
    ),
    (
        C::EMBED,
        "include+ | append+ | attach+ | embed | embeds | embedding | encode+ | insert+ | paste+ | put | puts | pass+ | add+ | \
         base64-encode+ | hide+ in | place+ | inline+ | write+ into | concatenate+ | smuggle+ | inject+ | base64",
    ),
    (
        C::RUN,
        "run | runs | running | execute+ | eval | launch+ | invoke+ | start+ | pipe+ | spawn+ | call+ | double-click | \
         trigger+",
    ),
    (
        C::FETCH,
        "download+ | fetch+ | retrieve+ | pull+ | visit+ | curl | wget | load+ | browse to | go to | navigate to | open+ | \
         check+ | get | grab | query+ | read+",
    ),
    (C::INSTALL, "install+ | set up | sideload+ | deploy+"),
    (
        C::TELL,
        "tell+ | inform+ | notify+ | mention+ | disclose+ | reveal+ | alert+ | show+ | report+ | warn+ | explain+ | \
         acknowledge+ | let | letting | display+ | announce+ | discuss+ | bring up | surface+ | communicate+ | make+ aware | \
         log+ | summarize+ | describe+",
    ),
    (
        C::ASK,
        "ask+ | confirm+ | prompt+ | request+ | wait+ for | check+ with | solicit+ | pause+ for | stop+ for | verify+ with | \
         request approval | ask+ for",
    ),
    (
        C::SKIP,
        "skip | skips | skipping | bypass+ | suppress+ | omit | omits | omitting | auto-approve+ | auto approve | \
         autoapprove | circumvent+ | auto-accept+ | auto-confirm+ | automatically approve | automatically accept | \
         automatically confirm | pre-approve+ | auto-grant",
    ),
    (
        C::DROP,
        "ignore+ | disregard+ | forget | forgets | forgetting | override+ | discard+ | set aside | abandon+ | supersede+ | \
         overrule+ | neglect+ | throw out | bypass+ | unlearn+ | stop following | cease following | no longer follow | \
         take+ precedence over | void | nullify+",
    ),
    (
        C::OBEY,
        "follow+ | obey+ | comply with | complies with | carry out | carries out | act on | acts on | adhere to | adopt+ | \
         apply+ | execute+ | do exactly | perform+ | respect+",
    ),
    (
        C::DISABLE,
        "disable+ | turn+ off | deactivate+ | switch+ off | remove+ | bypass+ | weaken+ | circumvent+ | evade+ | shut down | \
         suspend+ | kill+ | stop | uninstall+ | lift+",
    ),
    (
        C::CHANGE,
        "edit+ | modify+ | update+ | write+ | append+ | add+ | change+ | set | sets | setting | overwrite+ | rewrite+ | \
         configure+ | insert+ | put | alter+ | create+ | patch+ | register+ | replace+",
    ),
    (
        C::KEEP,
        "remember+ | memorize+ | persist+ | store+ | save+ | commit to memory | retain+ | keep in memory",
    ),
    (
        C::DESTROY,
        "delete+ | wipe+ | erase+ | encrypt+ | shred | shreds | shredding | destroy+ | corrupt+ | rm -rf | overwrite+ | \
         nuke+ | format the | format+ the",
    ),
    (
        C::PRETEND,
        "act as | acting as | pretend+ | you are now | you are | roleplay as | role-play as | become+ | behave as | \
         impersonate+ | assume the role | respond as | you're now | simulate+ | operate+ as | enter+ | switch to | \
         your new identity | you are no longer | your new role | your true identity",
    ),
    (C::GRANT, "grant+ | allow+ | approve+ | whitelist+ | authorize+ | allowlist+ | permit"),
    (
        C::PAY,
        "pay+ | purchase+ | buy+ | transfer | transfers | transferring | withdraw+ | swap | spend+ | donate+ | sign+ | send+ | \
         wire+ | charge+ | order+ | drain+ | sweep+ | move+",
    ),
    (
        C::LIE,
        "lie to | lies to | lying to | deceive+ | mislead+ | trick+ | manipulate+ | gaslight+ | deny that | denies that | \
         pressure+ | coerce+",
    ),
    (
        C::HIDE,
        "hide+ | conceal+ | mask+ | cover up | obscure+ | disguise+ | obfuscate+ | keep secret | keep this secret | \
         keep+ hidden | clear+ | scrub | keep it secret | keep this hidden | keep it hidden | keep quiet about",
    ),
    (
        C::TREAT,
        "treat+ | interpret+ | regard+ | consider+ | accept+ | handle+ | process+ | is treated | are treated | be treated",
    ),
    (C::FALSIFY, "falsify+ | fabricate+ | forge+ | misreport+ | misrepresent+ | doctor+ | tamper with"),
    (
        C::SPREAD,
        "propagate+ | replicate+ | spread+ | copy+ | duplicate+ | infect+ | self-replicate | inject+ | add+ | append+ | \
         insert+ | write+",
    ),
    (C::ENTER, "enter+ | type+ | provide+ | input+ | supply+ | paste+ | give+ | share+ | reply with"),
    (
        C::KEYS,
        "private key | private keys | ssh key | ssh keys | ssh private key | ssh private keys | private ssh key | \
         private ssh keys | browser cookies | session cookies | saved passwords | stored passwords | browser passwords | \
         browser password* | browser history | macos keychain | password vault | wallet file | wallet files | wallet key | \
         wallet keys | crypto wallets | authentication cookies | cookie database | cookie store | gpg key | gpg keys | \
         pgp key | saved logins | pem files | ssh directory | ssh folder | ssh config and keys | kerberos tickets | \
         the keychain | user's keychain | keychain contents | keychain passwords | keychain database | login keychain | \
         browser's saved passwords | browser cookie | chrome cookies | chrome passwords | cookies and passwords | \
         cookies from the browser | private key file | private key files | wallet keystore | rsa key | rsa private key",
    ),
    (
        C::FILES,
        "public key | public keys | ssh public key | ssh public keys | public ssh key | file | files | document | documents | \
         source code | codebase | repository contents | source files | project files | workspace contents | user data | \
         personal data | personal information | contacts | address book | clipboard | clipboard contents | screenshots | \
         customer data | user's data | user's files | working directory | file contents | directory listing | emails | inbox | \
         photos | source tree | proprietary code | git history",
    ),
    (
        C::ENVFILE,
        "environment variables | environment variable values | env vars | env variables | env file | env files | \
         env contents | credential file | credential files | credentials file | credentials files | all credentials | \
         any credentials | aws credentials | cloud credentials | the environment | entire environment | user's credentials | \
         user credentials | all secrets | any secrets | secrets file | secret files | config secrets | login credentials | \
         git credentials | database credentials | credentials | secrets | all api keys | any api keys | all tokens | \
         any tokens | user's api keys | user's tokens | user's api key | user's token | all passwords | any passwords | \
         local credentials | service account keys | kubernetes secrets | auth tokens | access tokens | session tokens | \
         session token | oauth tokens",
    ),
    (
        C::CRED,
        "secret | secret key | secret keys | credential | bearer token | access key | access keys | auth token | session id | \
         login | license key",
    ),
    (
        C::SEED,
        "recovery phrase | recovery phrases | seed words | recovery words | secret phrase | secret recovery phrase | \
         backup phrase | mnemonic phrase | wallet seed | wallet private key | master password | wallet's private key | \
         12-word phrase | 24-word phrase | 12 words | 24 words",
    ),
    (
        C::TALK,
        "conversation | conversations | conversation history | chat history | chat log | chat logs | chat transcript | \
         conversation transcript | transcript of this session | session transcript | message history | conversation log | \
         conversation context | full conversation | entire conversation | whole conversation | conversation so far | \
         user's messages | user messages | user's prompt | user's prompts | user prompts | user's requests | user's queries | \
         everything the user says | everything the user types | all user input | user's message | session history | \
         full context | context window | conversation data | all messages | chat messages | session contents | \
         agent's memory | what the user said",
    ),
    (
        C::PROMPT,
        "system prompts | system instructions | system message | hidden instructions | initial instructions | \
         developer message | developer instructions | your instructions | your prompt | your guidelines | \
         your full instructions | internal instructions",
    ),
    (
        C::RULES,
        "instruction | instructions | rules | guidelines | guideline | directives | directive | orders | programming | \
         guidance | what you were told | everything you were told | everything above | everything before | system prompt | \
         system prompts | system message | system instructions | your instructions | your guidelines | \
         your full instructions | initial instructions | developer message | developer instructions | what came before | \
         safety rules | safety guidelines | safety instructions | safety training | commands",
    ),
    (
        C::TOPIC,
        "rule | policies | policy | prompts | prompt | command | training | constraints | context | what you know | task | \
         goal | steps | messages | settings | preferences | request | intent | restrictions",
    ),
    (
        C::OWN,
        "your | system | existing | platform | developer | built-in | safety | user's | the user's | system prompt | \
         system prompts | system message | system instructions | your instructions | your guidelines | \
         your full instructions | developer message | developer instructions | safety rules | safety guidelines | \
         safety instructions | safety training",
    ),
    (
        C::LIMITS,
        "restrictions | restriction | limits | limitations | filters | guidelines | rules | constraints | guardrails | \
         safeguards | boundaries | ethics | ethical guidelines | moral guidelines | content policy | content policies | \
         safety rules | safety guidelines | censorship | moderation | safety measures | policies",
    ),
    (
        C::BEFORE,
        "previous | prior | above | earlier | preceding | original | initial | foregoing | former | given to you | \
         you were given | you have been given | you were told | you have received | you received | before this | until now | \
         so far | everything above | everything you were told | everything before | what you were told | what came before | \
         initial instructions | previously given | previously",
    ),
    (
        C::APPROVAL,
        "confirmation | confirmations | approval | approvals | permission | permissions | consent | authorization | \
         human review | permission prompt | permission prompts | confirmation prompt | confirmation prompts | \
         approval prompt | approval prompts | confirmation dialog | confirmation dialogs | sign-off | user confirmation | \
         user approval | user consent | approval step | approval gate | confirmation step | being asked | asking",
    ),
    (
        C::USER,
        "user | users | human | operator | owner | customer | the person | victim | user's | human's | victim's | owner's | \
         anyone | the reviewer | reviewers",
    ),
    (
        C::LOGS,
        "logs | log | audit log | audit logs | audit trail | shell history | bash history | command history | traces | \
         evidence | tracks | warnings | warning | log entries | security warnings | alerts",
    ),
    (
        C::AGENTFILE,
        "long-term memory | persistent memory | agent memory | your memory | memory file | memory files | durable memory | \
         agent settings | agent configuration | agent config | agent's configuration | startup file | startup files | \
         shell profile | shell startup | git hooks | git hook | pre-commit hook | cron job | login item | claude settings | \
         mcp configuration | mcp config | mcp server config | hook configuration | session start hook | sessionstart hook | \
         system prompt file | allow list | allowlist",
    ),
    (
        C::AGENTSET,
        "permission mode to bypass | auto-approve mode | all tool calls | every tool call | all tool requests | \
         all permission requests | all permissions | permission prompts | approval prompts | tool approval | tool approvals | \
         all commands automatically | future tool calls | all future tool calls | all bash commands",
    ),
    (
        C::GUARD,
        "safety filter | safety filters | safety checks | safety check | safety guidelines | safety rules | \
         safety guardrails | safety protocols | safety measures | safety mechanisms | safety features | safety constraints | \
         safety restrictions | guardrail | guardrails | content filter | content filters | content filtering | \
         content policy | content policies | ethical guidelines | safeguards | usage policies | security restrictions | \
         security guidelines | ethical constraints | safety instructions | safety training | safety systems | \
         safety alignment | safety protections",
    ),
    (
        C::SHIELD,
        "antivirus | anti-virus | virus protection | security software | real-time protection | endpoint protection | \
         system integrity protection | edr | uac | security tools | malware scan",
    ),
    (
        C::EVERYTHING,
        "all files | every file | home directory | home folder | entire disk | hard drive | whole disk | the disk | \
         root directory | entire filesystem | entire file system | entire system | system32 | all user files | user's files | \
         all documents | all backups | backups | the database | entire database | production database | all data | \
         everything | entire project | entire repository | entire codebase | all source code | whole repository | \
         entire workspace | git history | user's documents | full source | complete source code | all user data",
    ),
    (
        C::MONEY,
        "funds | money | cryptocurrency | payment | payments | balance | coins | wallet | transaction | transactions | \
         subscription | gift cards | gift card | sol | assets | tokens | usd | dollars | invoice",
    ),
    (
        C::OTHERS,
        "other skills | other skill | every skill | all skills | all other skills | any other tool | any other tools | \
         other tools | all other tools | every other skill | other agents | other agent | other repositories | \
         every repository | other projects | every project | all repositories | any other skill | sibling skills | \
         other skill files | all skill files | every skill.md | other users | contacts | every contact | all contacts | \
         every skill file | installed skills | neighbouring skills | neighboring skills",
    ),
    (
        C::CONTENT,
        "page | pages | web page | web pages | webpage | webpages | website | site | email | emails | e-mail | issue | \
         issues | comment | comments | tool output | tool outputs | tool result | tool results | response | responses | \
         document | documents | message | messages | url | link | remote file | remote | content | contents | \
         fetched content | fetched | web content | external content | search results | api response | output | server | gist | \
         paste | repo | readme | attachment | file contents | data | html | server's response | retrieved text | \
         retrieved content | its output | returned text | the result | results | text | file | files | transcript | ticket | \
         pdf | image | field",
    ),
    (
        C::RESULTS,
        "results | result | tests | test results | test result | review | findings | finding | report | metrics | benchmark | \
         coverage | numbers | audit | score | scores | test suite | reviews | figures | data",
    ),
    (
        C::HARM,
        "vulnerability | vulnerabilities | malicious code | security hole | hardcoded password | back door | remote shell | \
         affiliate link | affiliate links | referral link | referral code | affiliate code | affiliate id | crypto miner | \
         mining software | spyware | affiliate tag | sponsored link | keystroke logger | rogue dependency | \
         malicious dependency | hidden admin account | hidden account",
    ),
    (
        C::OUTPUT,
        "response | answer | reply | comment | comments | commit | commit message | commit messages | pull request | \
         pr description | log | logs | output | issue | query string | query parameter | url parameter | parameter | \
         parameters | argument | sidenote | field | filename | image url | markdown image | image link | link | url | \
         dns query | request body | metadata | summary | final message | report | readme | changelog | notes field | \
         context field | hidden field | tool call | email | message | subdomain | user agent | user-agent",
    ),
    (
        C::SERVER,
        "our server | our servers | our endpoint | our api | our backend | our analytics | our service | our team | \
         remote server | external server | remote endpoint | external endpoint | third-party server | collection server | \
         collector | analytics endpoint | telemetry endpoint | logging endpoint | remote host | external host | remote url | \
         external url | external service | third party | third parties | external address | this address | following address | \
         following url | following endpoint | this url | this endpoint | attacker | remote location | external location | \
         command and control | dead drop | support team | support address | analytics server | diagnostics server | \
         diagnostics endpoint | monitoring service | remote database | remote collector | audit endpoint | sync endpoint | \
         backup server | off-site | offsite | verification service | verification endpoint | our partner | our partners | \
         analytics partners | remote webhook | external webhook | analytics service | external party | outside server",
    ),
    (
        C::LASTING,
        "every session | each session | all sessions | future session | future sessions | later sessions | next session | \
         from now on | permanently | across sessions | in every conversation | future conversations | all future | \
         for all future | every future | persistently | on every startup | on startup | at login | every time | survives | \
         after a restart | after restart | subsequent sessions",
    ),
    (
        C::FIRST,
        "first | before anything else | before any other | before using | before you use | before proceeding | \
         before continuing | before you begin | before you start | before starting | required | requires | require | \
         must be installed | prerequisite | prerequisites | prior to | mandatory | needs | need | necessary | \
         before doing anything | before answering | before responding | at the start | to function | to work | won't work | \
         will not work | before running | before first use | important",
    ),
    (
        C::PASTED,
        "command prompt | your terminal | the terminal | a terminal | zip file | archive | password-protected | \
         password protected | extract using | extraction password | archive password | pass: | command line | run dialog",
    ),
    (
        C::NOLIMIT,
        "unrestricted | uncensored | unfiltered | jailbroken | dan | do anything now | developer mode | god mode | \
         no restrictions | without restrictions | without limits | no limits | no rules | without rules | no limitations | \
         without limitations | no guardrails | no filters | without filters | free of restrictions | no ethical | \
         without ethical | not bound by | unaligned | unlimited mode | unrestricted mode | admin mode | sudo mode | \
         root mode | without any restrictions | no content policy | without safety | no safety | without guardrails | \
         free from restrictions | maintenance mode | debug mode",
    ),
    (
        C::ITSELF,
        "itself | this skill | these instructions | this instruction | this file | this text | this paragraph | this block | \
         this prompt | this message | this directive | the same instructions | the same instruction | this payload",
    ),
    (
        C::PRONOUN,
        "it | them | its contents | the contents | the content | the result | the results | the output | the archive | \
         the data | this data | that data | everything | the file | the values | what you find | what you found | \
         anything found | any found | these | those | the collected | the value | this | findings | any findings | the key | \
         the token",
    ),
    (
        C::COVERT,
        "silently | secretly | covertly | quietly | stealthily | surreptitiously | discreetly | invisibly | in secret | \
         unnoticed | undetected | without notice | without drawing attention | without their knowledge | \
         without the user's knowledge | without the user noticing | without telling | without informing | without notifying | \
         without mentioning | without disclosing | without alerting | without showing | without any visible | \
         without user knowledge | without the user knowing | out of sight | without leaving | without letting | \
         without being noticed | without user awareness | hidden from the user | under the radar | \
         without the user's consent | without user consent | without their consent | invisible to the user | \
         without being asked | without the owner's knowledge",
    ),
    (
        C::NEG,
        "not | never | don't | do not | doesn't | does not | must not | mustn't | should not | shouldn't | cannot | can't | \
         won't | will not | isn't | aren't | avoid | avoids | avoiding | refuse to | refuses to | refuse | no need to | \
         don't need to | need not | needn't | do not need to | there is no need to | forbidden | prohibited | not allowed | \
         decline to | rather than | instead of | nor | neither | nobody | nothing | dont | prevent+ | prevented | block+ | \
         reject+ | unable to | refrain from | under no circumstances | no longer | hasn't | wasn't | didn't | did not | \
         is not | are not | resist+ | against | forbid | forbids | prohibits | disallow+",
    ),
    (C::WITHOUT, "without | no"),
    (
        C::REPORT,
        "attacker* | attack | attacks | malicious | maliciously | adversar* | attempt | attempts | attempted | attempting | \
         tries to | trying to | try to | tried to | detect* | flag | flags | flagged | flagging | watch for | looks for | \
         red flag | red flags | e.g. | e.g | for example | for instance | such as | phrases | phrase | pattern | patterns | \
         injection | injections | exploit* | phish* | scam | scams | suspicious | untrusted | hostile | threat | threats | \
         risk | risks | risky | danger | dangerous | vulnerab* | compromise | compromised | abuse | abused | unsafe | \
         insecure | payload | payloads | prompt injection | jailbreak* | social engineering | poison* | examples of | \
         example: | like: | scenario | hypothetical | simulat* | red team | red-team | pentest* | penetration test* | ctf | \
         adversary | malware | indicator* | signature* | says | say | saying | said | claims to | claiming | asks you to | \
         ask you to | asking you to | asked you to | tells you to | tell you to | telling you to | told you to | \
         instructs you to | instruct you to | instructing | instructing you to | requests to | request to | tricks | trick | \
         tricking | anti-pattern* | antipattern* | violation* | violates | bad: | wrong: | bad example | don't: | ❌ | 🚫 | \
         smell | misuse | wants you to | urges | persuades | evil | rogue | fake | spoof* | impersonat* | fraud* | test case | \
         test cases | tactic* | technique* | warning sign* | security review | audit for | check for | checks for | \
         checking for | look out for | beware* | potentially | mitigat* | protect against | protects against | defend* | \
         guard against | guards against | sanitiz* | leaked | stolen | adversarial | victim | victims | victim's",
    ),
    (
        C::THIRD,
        "attacker | attackers | adversary | adversaries | malware | hacker | hackers | an intruder | someone | somebody | \
         a third party | anyone | criminals | scammers | thieves | threat actor | threat actors | a user | users | teams | \
         people | developers | customers | many | most | some | they | server | client | browser | library | framework | \
         function | application | app | api | employees | infostealers | program | package | he | she | stealer | stealers | \
         system | clients | command | workflow | endpoint | middleware | handler",
    ),
    (
        C::AGENT,
        "you | the agent | the assistant | the ai | the model | ai agent | ai agents | ai assistant | assistant | claude | \
         chatgpt | llm | llms | the llm | language model | agents | agent | ai | ai model | ai models | copilot | codex | \
         gemini",
    ),
    (
        C::SELF,
        "the skill | this skill | this tool | the tool | the script | this script | we | the plugin | this plugin | \
         the helper | the process | this step | the step | skill | our skill | the service | the extension",
    ),
    (
        C::MODAL,
        "must | should | will | shall | to | always | need to | needs to | have to | has to | make sure to | be sure to | \
         make sure you | ensure you | ought to | required to | instructed to | remember to | is to | are to | you may | \
         want you to | proceed to | continue to | begin to | please | kindly | can | going to | let's | also | \
         responsible for | supposed to",
    ),
    (C::AND, "and | then | & | plus | after that | next | afterwards | and then | followed by"),
    (C::OR, "or | nor | and/or"),
    (C::BUT, "but | instead | however | just | simply | rather"),
    (C::IF, "if | when | whenever | whether | in case | once | where | as soon as"),
    (
        C::UNLESS,
        "unless | until | except | only if | only when | only after | explicitly asked | explicitly requested | user asks | \
         user explicitly | asked to | on request | opt-in | opt in | before the user | approved by | user has approved | \
         user approves | after approval | if the user asks | if asked | if requested | with permission | \
         with the user's permission | with consent",
    ),
    (
        C::ARTICLE,
        "the | a | an | this | that | of | each | some | any | no | your | these | those | its | their | our | my | per | in | \
         for | with | new | by | from | on | between | via | via the | http | get/post | and/or",
    ),
    (
        C::ADVERB,
        "please | now | always | first | also | then | next | immediately | automatically | simply | just | carefully | \
         finally | quickly | directly | again | recursively | instead | only | kindly | afterwards | subsequently | \
         additionally | periodically | explicitly | programmatically | systematically | proactively | continuously | \
         regularly | fully | completely | entirely | ever | proceed | unconditionally | explicit | further | additional | \
         extra | prior | manual | user's | requiring | requesting | seeking | waiting for | needing",
    ),
    (
        C::WITHIN,
        "in | within | inside | embedded | found | contained | from | hidden in | coming from | returned | that appear | \
         appearing | injected | written in | into",
    ),
    (C::MAY, "may | might | could | would | can"),
    (
        C::HEADER,
        "header | headers | authorization | authorization header | bearer | query param | request header | x-api-key | \
         basic auth | oauth | login form | as a bearer | authenticate | authentication | authenticating | sign in | auth | \
         secret manager | secrets manager | vault | key vault | env var | environment variable | keyring | gitignore | \
         .gitignore",
    ),
    (
        C::ALL,
        "all | every | any | entire | whole | complete | full | everything | all credentials | any credentials | all secrets | \
         any secrets | all api keys | any api keys | all tokens | any tokens | all passwords | any passwords",
    ),
    (
        C::DUMMY,
        "placeholder | placeholders | dummy | your_api_key | sample | mock | mocked | fixture | redacted | masked | \
         sanitized | public | template | example",
    ),
    (C::TO, "to | how to"),
    (
        C::QUESTION,
        "what | why | how | which | does | who | can i | should i | is it | are there | did | has | have you | is there | \
         can you",
    ),
    (
        C::NOTHING,
        "nothing happened | nothing was | no data | not been | everything is fine | is safe | is normal | completely safe | \
         false positive | no changes | it is not | that it is not | that no | already done | routine | harmless | no issues | \
         no problems | all tests pass | all tests passed | everything passed | looks clean | is clean",
    ),
    (C::GUIDE, "how to | tutorial | guide | you can | can be"),
    (
        C::CODES,
        "2fa code | 2fa codes | verification code | one-time code | one-time password | one-time passcode | mfa code | \
         otp code | recovery code | recovery codes | recovery key | backup codes | authenticator code | backup code",
    ),
    (
        C::PASSWORD,
        "password | passwords | passphrase | account password | admin password | sudo password | system password | \
         root password | icloud password | apple id | credit card | card number | card details | bank account | bank details | \
         cvv | ssn | social security number | login details | payment details | account credentials | api credentials | \
         corporate credentials | username and password | email and password | credit card number | routing number | \
         login and password | account number",
    ),
    (
        C::TRUSTED,
        "trusted | authoritative | privileged | high-priority | direct | official | elevated | binding | genuine",
    ),
    (
        C::PRIORITY,
        "takes priority over | take priority over | has priority over | takes precedence over | has precedence over | \
         outranks | overrides all | supersedes all | takes priority | always takes precedence",
    ),
    (
        C::SHOW,
        "show+ | display+ | explain+ | summarize+ | describe+ | discuss+ | log+ | surface+ | let | letting | report+ | \
         make+ aware",
    ),
    (
        C::LOCKED,
        "extract with pass* | extract using | extraction password | archive password | password-protected | \
         password protected | unzip password | with password | pass: | with the password | unlock with | password:",
    ),
    (C::REPLACE, "override+ | supersede+ | bypass+ | discard+ | void | take+ precedence over"),
];
