//! The page to play with, in a real browser by a real driver: what it shows is what the host computes.

use bispectral::Arguments;
use bispectral_core::Model;
use bispectral_tests::classified::{BOARDS, answers};
use bispectral_tests::{repository, skipped};
use bispectral_web::classifiers::{KINDS, classifier};
use clap::Parser;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// How long anything of the page may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page, by chromedriver's WebDriver interface.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// None where there is no driver, which was said.
    fn open(downloads: &Path) -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("its number").port();
        drop(free);
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(driver) = driver else {
            skipped("chromedriver", "`bash tests/all.sh` installs it");
            return None;
        };
        let mut browser = Browser {
            driver,
            port,
            session: String::new(),
        };
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "chromedriver does not answer");
            thread::sleep(Duration::from_millis(50));
        }
        let options = json!({
            "args": ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                "--window-size=1200,1000"],
            "prefs": { "download.default_directory": downloads, "profile.default_content_setting_values.automatic_downloads": 1 },
        });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = browser.ask("", &wanted);
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    /// POST to the session; the value of the answer.
    fn ask(&self, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        let path = if self.session.is_empty() {
            "/session".to_owned()
        } else {
            format!("/session/{}{path}", self.session)
        };
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("a request");
        let mut answer = Vec::new();
        // The driver may keep the connection open behind the answer: its length says where that ends.
        let mut block = [0; 1 << 16];
        let answer = loop {
            let count = stream.read(&mut block).expect("an answer");
            answer.extend(&block[..count]);
            let text = String::from_utf8_lossy(&answer).into_owned();
            let Some((head, content)) = text.split_once("\r\n\r\n") else {
                assert!(count > 0, "no answer");
                continue;
            };
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse()
                    .ok()
            });
            if count == 0 || length.is_some_and(|length: usize| content.len() >= length) {
                break content.to_owned();
            }
        };
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let value = answer["value"].clone();
        assert!(value.get("error").is_none(), "{path}: {value}");
        value
    }

    fn run(&self, script: &str) -> Value {
        self.ask("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    fn text(&self, id: &str) -> String {
        let found = self.run(&format!(
            "return document.getElementById('{id}').textContent"
        ));
        found.as_str().expect("text").to_owned()
    }

    /// Presses the pointer on the signal's canvas, moves it through points, and releases it. A point is a share of the height, from
    /// the left of the square in the middle and from above.
    fn pointer(&self, points: &[(f64, f64)]) {
        let center = self.run(
            "const e = document.getElementById('signal'); e.scrollIntoView({ block: 'center' });
             const b = e.getBoundingClientRect(); return [b.left + b.width / 2 - b.height / 2, b.top, b.height]",
        );
        let [left, top, height] = [0, 1, 2].map(|k| number(&center[k]));
        let mut actions = Vec::new();
        for (k, (x, y)) in points.iter().enumerate() {
            let [x, y] = [left + x * height, top + y * height].map(f64::round);
            let duration = if k == 0 { 0 } else { 100 };
            actions.push(json!({ "type": "pointerMove", "duration": duration, "x": x as i64, "y": y as i64 }));
            if k == 0 {
                actions.push(json!({ "type": "pointerDown", "button": 0 }));
            }
        }
        actions.push(json!({ "type": "pointerUp", "button": 0 }));
        let pointer = json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions });
        self.ask("/actions", &json!({ "actions": [pointer] }));
    }

    /// Waits until an expression is true.
    fn wait(&self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.run(&format!("return Boolean({expression})")) != json!(true) {
            let failure = self.text("failure");
            assert!(
                Instant::now() < until,
                "{expression} never came true: {failure}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The signal of the page, and the checksum of its invariants as bispectral-core computes them here.
fn checksum_here(browser: &Browser) -> String {
    let x = browser.run("return Array.from(bispectral.signal())");
    let x: Vec<f32> = x
        .as_array()
        .expect("a signal")
        .iter()
        .map(|v| number(v) as f32)
        .collect();
    let bytes = browser.run("return Array.from(bispectral.call('export', undefined, bispectral.models[bispectral.state.kind].handle, 0))");
    let bytes: Vec<u8> = bytes
        .as_array()
        .expect("bytes")
        .iter()
        .map(|v| number(v) as u8)
        .collect();
    let model = Model::from_bytes(&bytes).expect("a model");
    let invariants = model.invariants_vec(&x).expect("a signal");
    let bits: Vec<u8> = invariants
        .iter()
        .flat_map(|v| [v.re, v.im])
        .flat_map(f32::to_le_bytes)
        .collect();
    let crc = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC);
    format!("{:08x}", crc.checksum(&bits))
}

/// The page as it is built, opened.
fn opened(folder: &Path) -> Option<Browser> {
    let browser = Browser::open(folder)?;
    let page = folder.join("index.html");
    let built = Command::new("bash")
        .arg(repository().join("host/web/build.sh"))
        .arg(&page)
        .status();
    assert!(built.expect("bash").success(), "the page does not build");
    let url = format!("file://{}", page.display());
    browser.ask("/url", &json!({ "url": url }));
    browser.wait("globalThis.bispectral");
    Some(browser)
}

/// Waits for a file that the browser downloads.
fn downloaded(path: &Path) -> Vec<u8> {
    let until = Instant::now() + PATIENCE;
    while !path.exists() {
        assert!(Instant::now() < until, "{}: not downloaded", path.display());
        thread::sleep(Duration::from_millis(50));
    }
    fs::read(path).expect("a file")
}

/// What the command line says.
fn command(line: &str, path: &Path) -> bispectral_learn::Result<()> {
    let words = line.split_whitespace().map(|word| match word {
        "PATH" => path.into(),
        word => word.into(),
    });
    bispectral::run(&Arguments::parse_from(
        words.collect::<Vec<std::ffi::OsString>>(),
    ))
}

#[test]
fn the_page_shows_the_bits_of_the_device_learns_groups_and_gives_their_models() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(browser) = opened(folder.path()) else {
        return;
    };
    let choose = |id: &str, value: &str| {
        browser.run(&format!(
            "const e = document.getElementById('{id}'); e.value = '{value}'; e.dispatchEvent(new Event('change'))"
        ));
    };
    let click = |id: &str| {
        browser.run(&format!("document.getElementById('{id}').click()"));
    };
    let number_of = |id: &str| browser.text(id).parse::<f64>().expect("a number");

    // First paint, from the browser's own clock.
    let paint =
        browser.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime");
    let ready = browser.run("return bispectral.ready");
    println!(
        "first paint {:.0} ms, ready {:.0} ms",
        number(&paint),
        number(&ready)
    );
    assert!(number(&paint) < 1000.0, "first paint after {paint} ms");

    // See it: the bits are those of the core here; moved, the invariants stay and z does not, nor does the class change.
    for (kind, class) in [("turn", "gearbox"), ("shifted", "7"), ("turned", "7")] {
        choose("kind", kind);
        assert_eq!(browser.text("checksum"), checksum_here(&browser), "{kind}");
        assert_eq!(browser.text("class"), class, "{kind}");
        browser.run("document.getElementById('signal').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }))");
        assert_eq!(
            browser.text("checksum"),
            checksum_here(&browser),
            "{kind}, moved"
        );
        assert_eq!(browser.text("class"), class, "{kind}, moved");
        // Unit vectors in f32 arithmetic, and coefficients that turned.
        assert!(
            number_of("drift") < 1e-5,
            "{kind}: {}",
            browser.text("drift")
        );
        assert!(
            number_of("drift-z") > 0.05,
            "{kind}: {}",
            browser.text("drift-z")
        );
    }

    // A seven, drawn by the driver's pointer, is a seven; dragged, its invariants stay.
    choose("kind", "shifted");
    click("clear");
    browser.pointer(&[(0.35, 0.25), (0.65, 0.25), (0.56, 0.5), (0.48, 0.75)]);
    assert_eq!(browser.text("class"), "7", "drawn");
    assert_eq!(browser.text("checksum"), checksum_here(&browser), "drawn");
    browser.run("document.querySelector('[name=pointer][value=move]').click()");
    let before = browser.run("return Array.from(bispectral.signal())");
    browser.pointer(&[(0.5, 0.5), (0.6, 0.4)]);
    assert_ne!(
        browser.run("return Array.from(bispectral.signal())"),
        before
    );
    assert!(
        number_of("drift") < 1e-5 && number_of("drift-z") > 0.05,
        "dragged"
    );
    assert_eq!(browser.text("class"), "7", "dragged");

    // Fool it: by the bispectrum, noise becomes the signal somewhere in its orbit; by the power spectrum, something else.
    choose("kind", "turn");
    choose("example", "1");
    for (measure, inside) in [("0", true), ("1", false)] {
        choose("measure", measure);
        click("step");
        assert_eq!(browser.text("fool-steps"), "1");
        click("play");
        browser.wait("document.getElementById('fool-steps').textContent.includes('ended')");
        let distance = number_of("fool-orbit");
        assert_eq!(distance < 0.05, inside, "{measure}: {distance}");
    }

    // Learn it: stopped and gone on with, by gradients; then groups of other kinds.
    let learn = |group: &str| {
        choose("hidden", group);
        click("start");
        browser.wait("document.getElementById('group').textContent");
        browser.text("group")
    };
    assert_eq!(learn("D4"), "D4");
    assert_eq!(learn("SO(3)"), "SO(3)");
    choose("hidden", "Z32");
    choose("recipe", "1");
    click("start");
    browser.wait("/[0-9]+ steps/.test(document.getElementById('progress').textContent)");
    click("pause");
    // What was under way when it was stopped is still told.
    thread::sleep(Duration::from_millis(500));
    let stopped = browser.text("progress");
    thread::sleep(Duration::from_millis(300));
    assert_eq!(
        (browser.text("progress"), browser.text("pause")),
        (stopped.clone(), "Go on".into())
    );
    click("pause");
    browser.wait(&format!(
        "document.getElementById('progress').textContent !== '{stopped}'"
    ));
    assert_eq!(learn("Z4xZ2"), "Z4xZ2");
    // A value by keys.
    browser.run(
        "const t = document.getElementById('table-host'); t.focus();
         for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown']) t.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))",
    );
    let value = browser.text("table-value");
    assert!(value.starts_with("1 · 1 = "), "{value}");

    // Take it along, and read it by the command line.
    browser.run("document.querySelector('[data-file=\"0\"]').click()");
    let model = folder.path().join("model.bsn");
    let bytes = downloaded(&model);
    let read = Model::from_bytes(&bytes).expect("a model");
    assert_eq!((read.group(), read.inputs()), (Some("Z4xZ2"), 8));
    command("bispectral inspect PATH --quiet", &model).expect("inspected");
    command("bispectral group PATH --expect Z4xZ2 --quiet", &model).expect("the group");
    browser.run("document.querySelector('[data-file=\"3\"]').click()");
    let archive = downloaded(&folder.path().join("firmware-rust.zip"));
    for name in [
        "firmware/src/main.rs",
        "firmware/bispectral-core/src/lib.rs",
        "firmware/expected.txt",
    ] {
        assert!(
            archive
                .windows(name.len())
                .any(|part| part == name.as_bytes()),
            "{name}"
        );
    }
    click("report");
    let report = downloaded(&folder.path().join("report.html"));
    assert!(String::from_utf8_lossy(&report).contains("recognised as Z4xZ2"));

    // Every control has a name, and colours can be told apart.
    let nameless = browser.run(
        "return [...document.querySelectorAll('button, select, input, [tabindex]')].filter(e => !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label'))).map(e => e.id)",
    );
    assert_eq!(nameless, json!([]));
    let ratios = browser.run(CONTRAST);
    for ratio in ratios.as_array().expect("ratios") {
        assert!(number(&ratio[1]) >= number(&ratio[2]), "{ratio}");
    }

    // Nothing was complained of, and nothing asked of a network.
    assert_eq!(browser.text("failure"), "");
    let log = browser.ask("/se/log", &json!({ "type": "browser" }));
    assert_eq!(log, json!([]), "the console");
    let asked = browser.run("return performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('blob:') && !n.startsWith('data:'))");
    assert_eq!(asked, json!([]), "requests");
}

/// Ratios of contrast of text (at least 4.5) and of parts that must be seen (at least 3), as WCAG 2.1 defines them.
const CONTRAST: &str = "
    const style = getComputedStyle(document.documentElement);
    const light = name => {
        const hex = style.getPropertyValue(name).trim();
        const [r, g, b] = [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16) / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
    return [['--ink', 4.5], ['--faint', 4.5], ['--warn', 4.5], ['--mark', 4.5], ['--positive', 3], ['--negative', 3], ['--edge', 3]]
        .map(([name, least]) => [name, ratio(name, '--paper'), least]);";

#[test]
fn the_instructions_of_the_classifiers_are_those_that_an_emulated_m4f_counts() {
    let board = &BOARDS[0];
    assert_eq!(board.name, "M4F");
    board.build().expect("firmware");
    let mut off = Vec::new();
    for kind in KINDS {
        let bytes = classifier(kind).expect("a classifier");
        let model = Model::from_bytes(&bytes).expect("a model");
        let samples = kind.variants(1, 3);
        let found = board.classify(&bytes, &samples).expect("answers");
        assert_eq!(
            found.answers,
            answers(&model, &samples).expect("answers"),
            "{kind:?}"
        );
        let counted = found.instructions.expect("counted") as f64;
        let shown = kind.counted_instructions() as f64;
        println!("{kind:?}: {counted} counted, {shown} shown");
        off.push((shown / counted - 1.0).abs());
    }
    // Another compiler may take others.
    assert!(off.iter().all(|off| *off < 0.05), "{off:?}");
}
