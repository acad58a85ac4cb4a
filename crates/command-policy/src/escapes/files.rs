//! Tools for files and archives that start a program for what they find.

use super::{CommandEscape, EscapeTrigger, ProgramFlags};

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "find/exec",
        commands: &["find", "gfind", "bfs"],
        when: EscapeTrigger::Word(&["-exec", "-execdir", "-ok", "-okdir"]),
        reason: "it starts a program for every file",
        instead: "list the files, and make a call for each",
        matches: &["find . -exec id '{}' +", "find . -execdir id ';'", "find . -name x -ok id ';'"],
        not_matches: &["find . -name '*.rs'", "find . -type f -newer x"],
    },
    CommandEscape {
        name: "find/files0",
        commands: &["find", "gfind", "bfs"],
        when: EscapeTrigger::Word(&["-files0-from", "-fprint", "-fprint0", "-fprintf", "-fls"]),
        reason: "it takes its starting points from a file that is not checked, or writes one",
        instead: "name the directories, and let it print",
        matches: &["find -files0-from list", "find . -fprint out"],
        not_matches: &["find . -print"],
    },
    CommandEscape {
        name: "fd/exec",
        commands: &["fd", "fdfind"],
        when: ProgramFlags::both(&["--exec", "--exec-batch"], "xX", "edtESjc"),
        reason: "it starts a program for every file",
        instead: "list the files, and make a call for each",
        matches: &["fd -x id", "fd --exec id", "fd -HX id", "fd -sx id", "fd --exec-batch=id"],
        not_matches: &["fd -e rs", "fd -ex", "fd -s x", "fd --extension rs"],
    },
    CommandEscape {
        name: "tar/program",
        commands: &["tar", "gtar", "bsdtar", "star"],
        when: EscapeTrigger::Flags(ProgramFlags::new(
            &[
                "--to-command",
                "--use-compress-program",
                "--checkpoint-action",
                "--info-script",
                "--new-volume-script",
                "--rsh-command",
                "--rmt-command",
                "--files-from",
            ],
            &["--checkpoint"],
            "IFT",
            "fCbgKLNVX",
        )),
        reason: "the option names a program that tar starts, or a file with further options",
        instead: "leave the option out; tar finds out about compression by itself",
        matches: &[
            "tar -xf a.tar --to-command=id",
            "tar xf a --use-comp=id",
            "tar -I id -xf a",
            "tar cf a --checkpoint=1 --checkpoint-action=exec=id b",
            "tar -xIid -f a",
            "tar --rsh-command=id -xf h:a",
            "tar -T list -cf a",
            "tar -F x -cf a b",
        ],
        not_matches: &[
            "tar -xzf a.tgz",
            "tar --checkpoint=100 -cf a.tar b",
            "tar -tf a.tar",
            "tar xf a.tar",
            "tar -xf a.tar --to-stdout",
        ],
    },
    CommandEscape {
        name: "tar/old-style",
        commands: &["tar", "gtar", "bsdtar", "star"],
        when: EscapeTrigger::Judge(|words| {
            let first = words.get(1)?;
            (first.first() != Some(&b'-') && first.iter().any(|letter| b"IFT".contains(letter))).then_some(1)
        }),
        reason: "the letters I, F and T name a program, or a file with further options",
        instead: "leave the letter out",
        matches: &["tar xIf id a", "tar cTf list a"],
        not_matches: &["tar xzf a.tgz", "tar tf a.tar IFT"],
    },
    CommandEscape {
        name: "cpio/program",
        commands: &["cpio", "pax"],
        when: ProgramFlags::long(&["--rsh-command", "--to-stdout-command"]),
        reason: "the option names a program",
        instead: "leave the option out",
        matches: &["cpio --rsh-command=id -i -F h:a"],
        not_matches: &["cpio -i -F a.cpio"],
    },
    CommandEscape {
        name: "zip/test-command",
        commands: &["zip"],
        when: EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(&["--unzip-command", "--names-stdin"], &[], "", "");
            // `-TT` takes the command that tests the archive.
            words
                .arguments()
                .find(|(_, word)| {
                    flags.has(word) || (word.starts_with(b"-") && word.windows(2).any(|two| two == b"TT"))
                })
                .map(|(index, _)| index)
        }),
        reason: "the option names a program that tests the archive",
        instead: "leave the option out",
        matches: &["zip a.zip b -T -TT 'id #'", "zip --unzip-command=id a b", "zip -rTT id a b"],
        not_matches: &["zip -r a.zip b", "zip -T a.zip"],
    },
    CommandEscape {
        name: "7z/program",
        commands: &["7z", "7za", "7zr", "rar", "unrar", "arj", "unar"],
        when: EscapeTrigger::Judge(|words| {
            words
                .arguments()
                .find(|(_, word)| {
                    matches!(word, [b'@', ..] | [b'-', b'i' | b'x', b'@', ..]) || word.starts_with(b"-sfx")
                })
                .map(|(index, _)| index)
        }),
        reason: "a list in a file names files that are not checked; an archive that runs itself is a program",
        instead: "name the files",
        matches: &["7z a x.7z @list", "7z a x.7z -i@list", "7z a -sfx x.exe b"],
        not_matches: &["7z a x.7z b", "7z l x.7z"],
    },
    CommandEscape {
        name: "install/strip-program",
        commands: &["install", "ginstall"],
        when: EscapeTrigger::Flags(ProgramFlags::new(&["--strip-program"], &["--strip"], "", "")),
        reason: "the option names a program",
        instead: "leave the option out",
        matches: &["install -s --strip-program=id a b", "install --strip-p=id -s a b"],
        not_matches: &["install -m 644 a b", "install --strip a b"],
    },
    CommandEscape {
        name: "grep/program",
        commands: &["rg", "ag", "ack", "ugrep", "ug"],
        when: ProgramFlags::long(&[
            "--pre",
            "--pager",
            "--hostname-bin",
            "--filter",
            "--filter-magic-label",
            "--view",
            "--config",
            "--ackrc",
            "--search-zip-command",
        ]),
        reason: "the option names a program that is started for every file",
        instead: "leave the option out",
        matches: &[
            "rg --pre id x",
            "rg --pre=id x",
            "ag --pager id x",
            "ugrep --filter='*:id' x",
            "rg --hostname-bin id x",
        ],
        not_matches: &["rg -n x src", "rg --files", "ag x"],
    },
    CommandEscape {
        name: "diff/pager",
        commands: &["delta", "difft", "bat", "batcat", "icdiff", "colordiff", "diff-so-fancy"],
        when: EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(&["--pager", "--diff-cmd", "--difftool", "--config"], &[], "", "");
            let pages = |index: usize, word: &[u8]| match word {
                b"--paging" => words.get(index + 1) != Some(b"never"),
                _ => word.starts_with(b"--paging=") && word != b"--paging=never",
            };
            words
                .arguments()
                .find(|(index, word)| flags.has(word) || pages(*index, word))
                .map(|(index, _)| index)
        }),
        reason: "the option names a program, or opens a pager, which runs commands that are typed",
        instead: "leave the option out, or use --paging=never",
        matches: &[
            "bat --pager id f",
            "delta --pager=id a b",
            "bat --paging always f",
            "bat --paging=auto f",
        ],
        not_matches: &["bat --paging=never f", "bat --paging never f", "bat -p f"],
    },
    CommandEscape {
        name: "file/magic",
        commands: &["file"],
        when: ProgramFlags::both(
            &["--compile", "--magic-file", "--files-from", "--uncompress", "--uncompress-noreport"],
            "Cmzf",
            "eFP",
        ),
        reason: "a description of formats, and what unpacks them, come from outside",
        instead: "leave the option out",
        matches: &["file -m x f", "file -bz f", "file --uncompress f"],
        not_matches: &["file -b f", "file --mime-type f"],
    },
    CommandEscape {
        name: "image/delegate",
        commands: &[
            "convert",
            "magick",
            "mogrify",
            "identify",
            "composite",
            "montage",
            "gm",
            "display",
            "import",
            "animate",
            "conjure",
            "stream",
            "compare",
        ],
        when: EscapeTrigger::Judge(|words| {
            let signs: &[&[u8]] = &[
                b"msl:",
                b"mvg:",
                b"ephemeral:",
                b"url:",
                b"text:",
                b"label:@",
                b"caption:@",
                b"ps:",
                b"eps:",
                b"pdf:",
                b"svg:",
                b"msvg:",
                b"https:",
                b"inline:",
                b"vid:",
                b"fd:",
                b"x:",
                b"win:",
                b"show:",
                b"print:",
            ];
            words
                .arguments()
                .find(|(_, word)| {
                    word.first() == Some(&b'@')
                        || word.first() == Some(&b'|')
                        || *word == b"-process"
                        || *word == b"-write"
                        || *word == b"-script"
                        || *word == b"batch"
                        || signs.iter().any(|sign| super::holds(word, sign))
                })
                .map(|(index, _)| index)
        }),
        reason: "such formats are scripts, or are read by other programs",
        instead: "name plain image files",
        matches: &[
            "convert msl:x y.png",
            "convert '|id' x.png",
            "identify @list",
            "magick -script x",
            "convert text:f x.png",
        ],
        not_matches: &["convert a.png -resize 50% b.jpg", "identify a.png"],
    },
    CommandEscape {
        name: "media/protocol",
        commands: &[
            "ffmpeg",
            "ffprobe",
            "ffplay",
            "mpv",
            "mplayer",
            "vlc",
            "cvlc",
            "yt-dlp",
            "youtube-dl",
            "gst-launch",
        ],
        when: EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(
                &[
                    "--exec",
                    "--exec-before-download",
                    "--downloader",
                    "--external-downloader",
                    "--config-location",
                    "--config-locations",
                    "--plugin-dirs",
                    "--script",
                    "--scripts",
                    "--batch-file",
                    "--netrc-cmd",
                    "--use-postprocessor",
                    "--load-info-json",
                    "--cookies-from-browser",
                    "--include",
                    "--input-conf",
                    "--input-ipc-server",
                    "--lua",
                    "--ytdl-format",
                    "--config",
                    "--extraintf",
                    "--intf",
                    "--ppa",
                    "--postprocessor-args",
                    "--ffmpeg-location",
                ],
                &[],
                "",
                "",
            );
            let signs: &[&[u8]] = &[
                b"concat:",
                b"subfile:",
                b"pipe:",
                b"fd:",
                b"lavfi",
                b"movie=",
                b"-protocol_whitelist",
                b"-safe",
                b"-filter_script",
                b"tee:",
                b"-init_hw_device",
                b"concat",
            ];
            words
                .arguments()
                .find(|(_, word)| flags.has(word) || signs.iter().any(|sign| super::holds(word, sign)))
                .map(|(index, _)| index)
        }),
        reason: "the option or the address starts a program, or reads files in a disguise",
        instead: "name plain files",
        matches: &[
            "ffmpeg -i concat:a y",
            "yt-dlp --exec id x",
            "mpv --script=x y",
            "ffmpeg -f lavfi -i movie=x y",
            "yt-dlp --netrc-cmd id x",
        ],
        not_matches: &["ffmpeg -i a.mp4 b.webm", "ffprobe a.mp4"],
    },
    CommandEscape {
        name: "documents/filter",
        commands: &[
            "pandoc",
            "latex",
            "pdflatex",
            "xelatex",
            "lualatex",
            "tex",
            "pdftex",
            "xetex",
            "luatex",
            "latexmk",
            "wkhtmltopdf",
            "soffice",
            "libreoffice",
            "unoconv",
            "groff",
            "troff",
            "nroff",
            "asciidoctor",
            "asciidoc",
            "sphinx-build",
            "mkdocs",
            "hugo",
            "jekyll",
            "dot",
            "plantuml",
        ],
        when: EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(
                &[
                    "--filter",
                    "--lua-filter",
                    "--pdf-engine",
                    "--pdf-engine-opt",
                    "--to-lua",
                    "--shell-escape",
                    "--enable-write18",
                    "--defaults",
                    "--require",
                    "--headless-script",
                    "--data-dir",
                    "--template",
                    "--metadata-file",
                    "--extract-media",
                    "--plugin",
                    "--run-script",
                    "--allow",
                    "--enable-local-file-access",
                    "--epub-embed-font",
                    "--include-in-header",
                    "--trusted",
                ],
                &["--data"],
                "FLUrd",
                "ofto",
            );
            let engines: &[&[u8]] = &[
                b"latex",
                b"tex",
                b"latexmk",
                b"lualatex",
                b"luatex",
                b"xelatex",
                b"pdflatex",
                b"pdftex",
                b"xetex",
                b"jekyll",
                b"hugo",
                b"mkdocs",
                b"sphinx-build",
                b"soffice",
                b"libreoffice",
                b"unoconv",
                b"plantuml",
            ];
            let file = words.get(0)?.rsplit(|byte| *byte == b'/').next()?;
            if engines.contains(&file) {
                return if words.get(1) == Some(b"--version") { None } else { Some(0) };
            }
            let escape: &[&[u8]] = &[b"-shell-escape", b"-enable-write18", b"write18", b".lua"];
            words
                .arguments()
                .find(|(_, word)| flags.has(word) || escape.iter().any(|sign| super::holds(word, sign)))
                .map(|(index, _)| index)
        }),
        reason: "documents of this kind are programs, and the option names one",
        instead: "use a plain conversion without filters",
        matches: &[
            "pandoc --filter id a.md",
            "pandoc -F id a.md",
            "pandoc -L x.lua a.md",
            "pdflatex a.tex",
            "pandoc -t x.lua a.md",
            "groff -U a",
            "pandoc --pdf-engine=id a.md",
        ],
        not_matches: &["pandoc a.md -o a.html", "pandoc -s -o a.html a.md", "pdflatex --version"],
    },
];
