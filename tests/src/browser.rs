//! A real browser by a real driver: Chromium by chromedriver, over the WebDriver protocol (W3C), without a client library.

use crate::skipped;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything of a page may take, on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// What the protocol calls an element in an answer.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys that are no letters, as the protocol writes them.
pub mod key {
    /// To the next control.
    pub const TAB: char = '\u{e004}';
    /// Held down while the others are pressed.
    pub const SHIFT: char = '\u{e008}';
    /// Arrow to the right.
    pub const RIGHT: char = '\u{e014}';
    /// Arrow down.
    pub const DOWN: char = '\u{e015}';
}

/// A browser with one page.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// One that saves what it downloads in a folder. None where there is no driver, which was said.
    ///
    /// # Panics
    /// The driver does not answer.
    #[must_use]
    pub fn open(downloads: &Path) -> Option<Self> {
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
            "browserName": "chrome", "timeouts": { "script": PATIENCE.as_millis() as u64 }, "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = browser.ask("", &wanted);
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    /// The content of the answer to a request.
    fn request(&self, method: &str, path: &str, body: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = Vec::new();
        // The driver may keep the connection open behind the answer: its length says where that ends.
        let mut block = [0; 1 << 16];
        loop {
            let count = stream.read(&mut block)?;
            answer.extend(&block[..count]);
            let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
                if count == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                continue;
            };
            let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| {
                let length = line.strip_prefix("content-length:")?;
                length.trim().parse::<usize>().ok()
            });
            let content = &answer[end + 4..];
            if count == 0 || length.is_some_and(|length| content.len() >= length) {
                return Ok(String::from_utf8_lossy(content).into_owned());
            }
        }
    }

    /// POST to the session; the value of the answer.
    fn ask(&self, path: &str, body: &Value) -> Value {
        let path = if self.session.is_empty() {
            "/session".to_owned()
        } else {
            format!("/session/{}{path}", self.session)
        };
        let answer = self.request("POST", &path, &body.to_string());
        let answer: Value =
            serde_json::from_str(&answer.expect("an answer of the driver")).expect("JSON");
        let value = answer["value"].clone();
        assert!(value.get("error").is_none(), "{path}: {value}");
        value
    }

    /// Opens a page from a folder.
    pub fn visit(&self, page: &Path) {
        let url = format!("file://{}", page.display());
        self.ask("/url", &json!({ "url": url }));
    }

    /// What a script returns.
    #[must_use]
    pub fn get(&self, script: &str) -> Value {
        self.ask("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script.
    pub fn run(&self, script: &str) {
        let _ = self.get(script);
    }

    /// The text of the element with this id.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn text(&self, id: &str) -> String {
        let found = self.get(&format!(
            "return document.getElementById('{id}').textContent"
        ));
        found.as_str().expect("text").to_owned()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    /// It never is.
    pub fn wait(&self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.get(&format!("return Boolean({expression})")) != json!(true) {
            let failure =
                self.get("return document.querySelector('[role=alert]')?.textContent ?? ''");
            assert!(
                Instant::now() < until,
                "{expression} never came true: {failure}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the mouse through points of the window; with its button pressed at the first and released at the last, if so wanted.
    pub fn mouse(&self, points: &[[f64; 2]], pressed: bool) {
        let mut actions = Vec::new();
        for (k, point) in points.iter().enumerate() {
            let [x, y] = point.map(|v| v.round() as i64);
            let duration = if k == 0 { 0 } else { 100 };
            actions.push(json!({ "type": "pointerMove", "duration": duration, "x": x, "y": y }));
            if k == 0 && pressed {
                actions.push(json!({ "type": "pointerDown", "button": 0 }));
            }
        }
        if pressed {
            actions.push(json!({ "type": "pointerUp", "button": 0 }));
        }
        let mouse = json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions });
        self.ask("/actions", &json!({ "actions": [mouse] }));
    }

    /// Presses keys one behind the other, all of them with those in `held` down.
    pub fn press(&self, held: &[char], keys: &[char]) {
        let action = |kind: &str, key: &char| json!({ "type": kind, "value": key.to_string() });
        let down = held.iter().map(|key| action("keyDown", key));
        let each = keys
            .iter()
            .flat_map(|key| [action("keyDown", key), action("keyUp", key)]);
        let up = held.iter().map(|key| action("keyUp", key));
        let actions: Vec<Value> = down.chain(each).chain(up).collect();
        let keys = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.ask("/actions", &json!({ "actions": [keys] }));
    }

    /// Gives files to the input of files with this id.
    ///
    /// # Panics
    /// There is no such input.
    pub fn upload(&self, id: &str, files: &[&Path]) {
        let found = self.ask(
            "/element",
            &json!({ "using": "css selector", "value": format!("#{id}") }),
        );
        let element = found[ELEMENT].as_str().expect("an input");
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        self.ask(
            &format!("/element/{element}/value"),
            &json!({ "text": files.join("\n") }),
        );
    }

    /// A window of this size, and what the page is told of its reader: colours (`light`, `dark`) and motion (`no-preference`,
    /// `reduce`).
    pub fn appear(&self, width: u32, height: u32, colours: &str, motion: &str) {
        let command = |name: &str, given: Value| {
            self.ask(
                "/goog/cdp/execute",
                &json!({ "cmd": name, "params": given }),
            );
        };
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        command("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": colours },
            { "name": "prefers-reduced-motion", "value": motion }]);
        command(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }

    /// What the console was told since it was asked for last.
    #[must_use]
    pub fn console(&self) -> Value {
        self.ask("/se/log", &json!({ "type": "browser" }))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver alone may be killed, but then its browser would go on.
        let _ = self.request("DELETE", &format!("/session/{}", self.session), "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
