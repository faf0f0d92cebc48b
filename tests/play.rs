//! The page to play with, in a real browser by a real driver: what it shows is what the host computes.

use bispectral_core::Model;
use bispectral_tests::{repository, skipped};
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
            "prefs": { "download.default_directory": downloads },
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

    /// Waits until an expression is true.
    fn wait(&self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.run(&format!("return Boolean({expression})")) != json!(true) {
            let failure = self.text("failure");
            assert!(
                Instant::now() < until,
                "{expression} never came true: {failure}"
            );
            thread::sleep(Duration::from_millis(100));
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

#[test]
fn the_page_shows_the_bits_of_the_device_learns_a_group_and_gives_its_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(browser) = Browser::open(folder.path()) else {
        return;
    };
    let page = folder.path().join("index.html");
    let built = Command::new("bash")
        .arg(repository().join("host/web/build.sh"))
        .arg(&page)
        .status();
    assert!(built.expect("bash").success(), "the page does not build");
    browser.ask(
        "/url",
        &json!({ "url": format!("file://{}", page.display()) }),
    );

    // See it: the bits are those of the core here; moved, the invariants stay and z does not.
    for kind in ["turn", "image"] {
        browser.run(&format!(
            "const k = document.getElementById('kind'); k.value = '{kind}'; k.dispatchEvent(new Event('change'))"
        ));
        assert_eq!(browser.text("checksum"), checksum_here(&browser), "{kind}");
        browser.run("document.getElementById('signal').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }))");
        assert_eq!(
            browser.text("checksum"),
            checksum_here(&browser),
            "{kind}, moved"
        );
        let drift = |id| browser.text(id).parse::<f64>().expect("a number");
        // Unit vectors in f32 arithmetic, and coefficients that turned.
        assert!(drift("drift") < 1e-5, "{kind}: {}", browser.text("drift"));
        assert!(
            drift("drift-z") > 0.05,
            "{kind}: {}",
            browser.text("drift-z")
        );
    }

    // Fool it: by the bispectrum, noise becomes the signal somewhere in its orbit; by the power spectrum, something else.
    browser.run(
        "const k = document.getElementById('kind'); k.value = 'turn'; k.dispatchEvent(new Event('change'));
         const e = document.getElementById('example'); e.value = 'a cam'; e.dispatchEvent(new Event('change'))",
    );
    for (measure, inside) in [("0", true), ("1", false)] {
        browser.run(&format!(
            "const m = document.getElementById('measure'); m.value = '{measure}'; m.dispatchEvent(new Event('change'));
             document.getElementById('play').click()"
        ));
        browser.wait("document.getElementById('fool-steps').textContent.includes('ended')");
        let distance: f64 = browser.text("fool-orbit").parse().expect("a number");
        assert_eq!(distance < 0.05, inside, "{measure}: {distance}");
    }

    // Learn it, take it along, and read it here.
    browser.run("document.getElementById('start').click()");
    browser.wait("document.getElementById('group').textContent");
    assert_eq!(browser.text("group"), "Z4xZ2");
    browser.run("document.querySelector('[data-file=\"0\"]').click()");
    let model = folder.path().join("model.bsn");
    let until = Instant::now() + PATIENCE;
    while !model.exists() {
        assert!(Instant::now() < until, "no model was downloaded");
        thread::sleep(Duration::from_millis(100));
    }
    let bytes = fs::read(&model).expect("the model");
    let model = Model::from_bytes(&bytes).expect("a model");
    assert_eq!((model.group(), model.inputs()), (Some("Z4xZ2"), 8));

    // Nothing was complained of, and nothing asked of a network.
    assert_eq!(browser.text("failure"), "");
    let log = browser.ask("/se/log", &json!({ "type": "browser" }));
    assert_eq!(log, json!([]), "the console");
    let asked = browser.run("return performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('blob:') && !n.startsWith('data:'))");
    assert_eq!(asked, json!([]), "requests");
}
