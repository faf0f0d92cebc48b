//! `bispectral report` and the pages of the demo and the experiments.

use crate::{Folder, Order, Random, f64s, npy};

const PICTURE: &str = "<svg class=\"drawing\" role=\"img\"";

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

#[test]
fn a_run_becomes_one_page_with_its_figures_inside() {
    let folder = Folder::new();
    folder.succeed("train --group Z4xZ2 -o run --quiet");
    let object = folder.object("report run");
    let page = text(&folder, "run/report.html");
    let expected = serde_json::json!({
        "report": "run/report.html",
        "bytes": page.len(),
        "figures": 4,
    });
    assert_eq!(object, expected);
    assert_eq!(page.matches(PICTURE).count(), 4);
    for words in ["is Z4xZ2</h1>", "group = &quot;Z4xZ2&quot;", "100.0 %"] {
        assert!(page.contains(words), "{words}");
    }
    // Its own product is replaced, another file only if that is meant.
    assert!(
        folder
            .succeed("report run")
            .contains("run/report.html: 4 figures")
    );
    assert_eq!(text(&folder, "run/report.html"), page);
    assert_eq!(folder.succeed("report run -o page.html --quiet"), "");
    folder.refuse_with("report run -o page.html", "page.html: exists already: ");
    folder.succeed("report run -o page.html --force");
    assert_eq!(text(&folder, "page.html"), page);
}

#[test]
fn a_run_without_a_group_says_why() {
    let folder = Folder::new();
    folder.succeed(
        "train --group Z6 --phases second-order --steps 3 --restarts 0 --no-polish -o run --quiet",
    );
    assert_eq!(folder.object("report run")["figures"], 3);
    let page = text(&folder, "run/report.html");
    assert!(page.contains("No finite commutative group was recognised: "));
    assert!(!page.contains("Cayley"));
}

#[test]
fn filters_of_images_are_laid_out_like_them() {
    let folder = Folder::new();
    let samples = Random(9).values(60 * 12);
    folder.write("X.npy", npy("'<f8'", Order::C, "(60, 3, 4)", f64s(samples)));
    folder.succeed("train --data X.npy --transform translate2d -o images --quiet");
    folder.succeed("train --data X.npy --transform translate1d -o strips --quiet");
    folder.succeed("report images");
    folder.succeed("report strips");
    assert!(text(&folder, "images/report.html").contains("laid out like the images"));
    assert!(text(&folder, "strips/report.html").contains("laid out as a strip"));
}

#[test]
fn what_cannot_be_drawn_is_a_sentence_on_the_page_and_no_failure() {
    let folder = Folder::new();
    folder.succeed("train --group Z3 -o run --quiet");
    folder.write("run/metrics.jsonl", b"no metrics");
    folder.write("run/W.npy", b"no array");
    let (code, stdout, stderr) = folder.run("report run --json");
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("\"figures\":1"), "{stdout}");
    for line in [
        "a figure is missing: filters: run/W.npy: not a NumPy array",
        "a figure is missing: loss: there are no losses to draw",
    ] {
        assert!(stderr.contains(line), "{line}\n{stderr}");
    }
    let page = text(&folder, "run/report.html");
    assert_eq!(page.matches("This picture is missing.").count(), 2);
}

#[test]
fn what_has_no_page_is_refused_in_one_line() {
    let folder = Folder::new();
    folder.refuse_with("report nowhere", "nowhere: there is no such folder: ");
    folder.refuse_with("report .", ".: holds no run and no experiment: ");
    folder.succeed("train --group Z3 -o run --quiet");
    folder.write("run/results.json", b"{\"rows\": 3}");
    folder.refuse_with("report run", "run/results.json: missing field ");
    std::fs::remove_file(folder.path("run/results.json")).unwrap();
    folder.refuse_with("report run", "run: the run is not finished: go on with ");
    folder.write("run/page.json", b"{}");
    folder.refuse_with("report run", "run/page.json: missing field ");
    folder.write("run/config.toml", b"seed = \"x\"");
    std::fs::remove_file(folder.path("run/page.json")).unwrap();
    folder.refuse_with("report run", "run/config.toml: line 1: ");
}

#[test]
fn an_experiment_publishes_the_page_that_the_command_makes_again() {
    let folder = Folder::new();
    let words = folder.succeed("reproduce cayley --quick -o cayley");
    assert!(
        words
            .trim_end()
            .ends_with("report       cayley/report.html"),
        "{words}"
    );
    let page = text(&folder, "cayley/report.html");
    assert_eq!(page.matches(PICTURE).count(), 9);
    std::fs::remove_file(folder.path("cayley/report.html")).unwrap();
    assert_eq!(folder.object("report cayley")["figures"], 9);
    assert_eq!(text(&folder, "cayley/report.html"), page);
}

#[test]
fn a_hostile_page_shows_its_words_and_no_markup_of_its_own() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("page")).unwrap();
    let figure = |drawing: &str| {
        format!(
            "{{\"title\": \"</title><script>alert(1)</script>\", \"lead\": \"\\u001b[2J\", \"sections\": [{{\"title\": \"s\", \
             \"blocks\": [{{\"figure\": {{\"name\": \"../out\", \"drawing\": {drawing}, \
             \"alt\": \"\\\" onload=\\\"alert(1)\", \"caption\": \"c\"}}}}]}}]}}"
        )
    };
    folder.write(
        "page/page.json",
        figure("{\"missing\": \"</svg><script>alert(2)</script>\"}"),
    );
    assert_eq!(folder.object("report page --quiet")["figures"], 0);
    let page = text(&folder, "page/report.html");
    // The page's own script is the only one.
    assert!(!page.contains("<script>alert") && page.matches("<script").count() == 1);
    assert!(!page.contains("\" onload") && !page.contains('\u{1b}'));
    assert!(page.contains("&lt;/svg&gt;&lt;script&gt;alert(2)"));
    // Markup is no drawing.
    folder.write("page/page.json", figure("\"<svg onload=alert(1)>\""));
    folder.refuse_with("report page", "page/page.json: unknown variant");
}

#[test]
fn the_demo_keeps_a_report_and_replaces_only_its_own() {
    let folder = Folder::new();
    let words = folder.succeed("demo");
    let last = words.trim_end().lines().last().unwrap();
    assert!(
        last.starts_with("Report: bispectral-demo/report.html "),
        "{words}"
    );
    let page = text(&folder, "bispectral-demo/report.html");
    assert_eq!(page.matches(PICTURE).count(), 7);
    assert_eq!(
        folder.object("demo")["report"],
        "bispectral-demo/report.html"
    );

    std::fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/notes.txt", b"precious");
    folder.refuse_with("demo -o mine", "mine: the folder holds other files: ");
    folder.succeed("reproduce cayley --quick -o other");
    folder.refuse_with("demo -o other", "other: the folder holds another report: ");
    folder.succeed("demo -o mine --force");
    assert_eq!(folder.read("mine/notes.txt"), b"precious");
}
