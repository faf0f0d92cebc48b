//! Every report in a real browser: nothing is complained of, and every picture is there.

use bispectral::Arguments;
use bispectral_tests::browser::{Browser, key};
use bispectral_tests::skipped;
use clap::Parser;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes into the page, once all is loaded, how many figures are drawn: those that have a size and parts within it.
const COUNT: &str = "<script>addEventListener('load', () => {
  const all = [...document.querySelectorAll('figure')], drawn = all.filter(figure => {
    const svg = figure.querySelector('svg[role=img]'), box = svg && svg.getBBox();
    const parts = svg ? svg.querySelectorAll('path, rect, circle').length : 0;
    return svg && svg.getBoundingClientRect().width > 100 && box.width > 100 && box.height > 20 && parts > 2;
  });
  document.body.setAttribute('data-pictures', drawn.length + ' of ' + all.length);
});</script>";

/// What a browser made of a page.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Lines of its console: errors, and what the page's policy forbade.
    complaints: Vec<String>,
    /// Figures that are drawn, and all.
    pictures: (usize, usize),
}

/// The browser to open pages with; without one, tests fail unless that was meant.
fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("BISPECTRAL_CHROMIUM") {
        return Some(path.into());
    }
    let runs = |name: &PathBuf| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    let names = ["chromium", "chromium-browser", "google-chrome"].map(PathBuf::from);
    let found = names.into_iter().find(runs);
    if found.is_none() {
        let remedy = "`bash tests/all.sh` installs it, or name one in BISPECTRAL_CHROMIUM";
        skipped("chromium", remedy);
    }
    found
}

/// What is on standard output and on standard error once the page is loaded.
fn load(chromium: &Path, page: &Path) -> (String, String) {
    let profile = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn complaints(log: &str) -> Vec<String> {
    let lines = log.lines().filter(|line| line.contains(":CONSOLE"));
    lines.map(str::to_owned).collect()
}

/// Opens the page as it is, and then a copy that may run a script, for its own policy forbids that.
fn look(chromium: &Path, page: &Path) -> Seen {
    let (_, log) = load(chromium, page);
    let html = fs::read_to_string(page).expect("a page");
    let (before, policy) = html
        .split_once("<meta http-equiv=\"Content-Security-Policy\"")
        .expect("a policy");
    let (_, after) = policy.split_once('>').expect("the end of it");
    let copy = page.with_file_name("copy.html");
    fs::write(&copy, format!("{before}{after}{COUNT}")).expect("a copy");
    let (dom, second) = load(chromium, &copy);
    let counted = dom
        .split_once("data-pictures=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let (counted, _) =
        counted.unwrap_or_else(|| panic!("the browser did not load {}\n{second}", page.display()));
    let (shown, all) = counted.split_once(" of ").expect("two numbers");
    Seen {
        complaints: complaints(&log)
            .into_iter()
            .chain(complaints(&second))
            .collect(),
        pictures: (
            shown.parse().expect("a number"),
            all.parse().expect("a number"),
        ),
    }
}

#[test]
fn every_report_opens_without_complaint_and_with_all_its_pictures() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, arguments, pictures) in [
        ("demo", "demo", 7),
        ("cayley", "reproduce cayley --quick", 9),
        ("translation", "reproduce translation --quick", 6),
    ] {
        let output = folder.path().join(name);
        let line = format!("bispectral {arguments} --quiet -o");
        let line = line
            .split_whitespace()
            .map(PathBuf::from)
            .chain([output.clone()]);
        bispectral::run(&Arguments::parse_from(line)).expect("an experiment that succeeds");
        let seen = look(&chromium, &output.join("report.html"));
        let expected = Seen {
            complaints: Vec::new(),
            pictures: (pictures, pictures),
        };
        assert_eq!(seen, expected, "{name}");
    }
}

/// Of a figure, the middle one of the parts in sight whose value has these words: where it is, and its value.
const PART: &str = "
    const card = document.querySelector('#FIGURE .card');
    card.scrollIntoView({ block: 'center', behavior: 'instant' });
    const own = card.getBoundingClientRect(), middle = b => [(b.left + b.right) / 2, (b.top + b.bottom) / 2];
    const inside = ([x, y]) => x > own.left && x < own.right && y > Math.max(0, own.top) && y < Math.min(innerHeight, own.bottom);
    const all = [...card.querySelectorAll('* > title')].filter(t => t.textContent.includes('WORDS'))
        .map(t => [...middle(t.parentNode.getBoundingClientRect()), t.textContent]).filter(inside);
    return all[Math.floor(all.length / 2)];";

#[test]
fn values_of_a_report_are_read_by_the_mouse_and_by_keys() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(browser) = Browser::open(folder.path()) else {
        return;
    };
    let output = folder.path().join("demo");
    let line = ["bispectral", "demo", "--quiet", "-o"].map(PathBuf::from);
    bispectral::run(&Arguments::parse_from(
        line.into_iter().chain([output.clone()]),
    ))
    .expect("a demonstration");
    browser.visit(&output.join("report.html"));
    for (width, colours) in [(1280, "light"), (390, "dark")] {
        browser.appear(width, 844, colours, "no-preference");
        for (figure, words) in [
            ("figure-group-cayley", "a·b = "),
            ("figure-group-filters", "row "),
            ("figure-translation-cayley", "a·b = "),
            ("figure-translation-distances", "orbit "),
            ("figure-translation-along", " at "),
        ] {
            let part = browser.get(&PART.replace("FIGURE", figure).replace("WORDS", words));
            let [x, y] = [0, 1].map(|k| part[k].as_f64().expect("a part in sight"));
            browser.mouse(&[[x, y]], false);
            let value = browser.get(&format!(
                "return document.querySelector('#{figure} .value').textContent"
            ));
            assert_eq!(value, part[2], "{figure}, {width}");
            // Another one by keys, marked.
            browser.run(&format!(
                "document.querySelector('#{figure} .card').focus()"
            ));
            browser.press(&[], &[key::DOWN, key::RIGHT]);
            let after = browser.get(&format!(
                "const mark = document.querySelector('#{figure} .mark').getBoundingClientRect();
                 return [document.querySelector('#{figure} .value').textContent, mark.width > 0 && mark.height > 0]"
            ));
            assert!(
                after[0] != value && after[1] == json!(true),
                "{figure}, {width}: {after}"
            );
        }
    }
    assert_eq!(browser.console(), json!([]));
}

#[test]
fn a_page_with_an_empty_figure_or_a_forbidden_source_is_noticed() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("page.html");
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">";
    let html = format!(
        "<!DOCTYPE html><html><head><title>t</title>{policy}</head><body>\
         <figure><svg role=\"img\" width=\"300\"></svg></figure><figure><img src=\"absent.png\"></figure></body></html>"
    );
    fs::write(&page, html).expect("a page");
    let seen = look(&chromium, &page);
    assert_eq!(seen.pictures, (0, 2));
    assert!(
        seen.complaints
            .iter()
            .any(|line| line.contains("absent.png")),
        "{:?}",
        seen.complaints
    );
}
