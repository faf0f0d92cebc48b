//! What a person or a program gets to read: results on standard output, progress and failures on standard error.
//!
//! Names come from files anyone may have written, so characters that a terminal would obey are shown as escapes.

use bispectral_learn::data::remark::Remark;
use bispectral_learn::printable::{is_obeyed, printable};
use bispectral_learn::{Error, Result};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often progress is told on a terminal, where a line replaces the last one.
const TERMINAL_INTERVAL: Duration = Duration::from_millis(200);
/// How often progress is told in a pipe, where lines add up.
const PIPE_INTERVAL: Duration = Duration::from_secs(10);

/// Where one invocation is answered.
#[derive(Debug, Clone, Copy)]
pub struct Console {
    json: bool,
    quiet: bool,
}

impl Console {
    /// As the flags of the command line say.
    #[must_use]
    pub fn new(json: bool, quiet: bool) -> Self {
        Console { json, quiet }
    }

    /// What was asked for: the object or the words.
    pub fn answer(&self, object: &impl Serialize, words: &str) -> Result<()> {
        if self.json {
            self.object(object)?;
            if !self.quiet {
                to_stderr(words);
            }
            Ok(())
        } else {
            to_stdout(&printable(words))
        }
    }

    /// What was done: the object, or the words unless they are not wanted.
    pub fn summary(&self, object: &impl Serialize, words: &str) -> Result<()> {
        if self.json || !self.quiet {
            self.answer(object, words)
        } else {
            Ok(())
        }
    }

    /// What is being done, unless it is not wanted.
    pub fn say(&self, words: &str) {
        if !self.quiet {
            to_stderr(words);
        }
    }

    /// What was noticed about the data, a line each.
    pub fn note(&self, remarks: &[Remark]) {
        for remark in remarks {
            self.say(&format!("note: {}", name(&remark.to_string())));
        }
    }

    /// Tells of a failure, in one line.
    pub fn failed(&self, message: &str) {
        let line = message.replace('\n', "\\n");
        if self.json {
            // The failure at hand is worth more than one of telling it.
            let _ = self.object(&json!({ "error": line }));
        }
        to_stderr(&format!("error: {line}"));
    }

    /// Progress over `total` steps, told unless it is not wanted.
    pub fn progress(&self, what: &'static str, total: usize) -> Progress {
        Progress {
            what,
            from: 0,
            total,
            begun: Instant::now(),
            told: Instant::now(),
            terminal: io::stderr().is_terminal(),
            quiet: self.quiet,
            shown: false,
        }
    }

    fn object(&self, object: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(object).map_err(|error| {
            let remedy = "run again without --json";
            Error::new("standard output", error.to_string(), remedy)
        })?;
        to_stdout(&printable_json(&text))
    }
}

/// How far a long piece of work is.
#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    from: usize,
    total: usize,
    begun: Instant,
    told: Instant,
    terminal: bool,
    quiet: bool,
    shown: bool,
}

impl Progress {
    /// Work that begins with some steps done already.
    pub fn from(mut self, done: usize) -> Self {
        self.from = done;
        self
    }

    /// `done` steps are done.
    pub fn at(&mut self, done: usize) {
        self.tell(done, |_| String::new());
    }

    /// `done` steps are done; `detail` says more of them, given how many are done a second.
    pub fn tell(&mut self, done: usize, detail: impl FnOnce(f64) -> String) {
        let interval = if self.terminal {
            TERMINAL_INTERVAL
        } else {
            PIPE_INTERVAL
        };
        if self.quiet || self.told.elapsed() < interval || done <= self.from {
            return;
        }
        self.told = Instant::now();
        let rate = (done - self.from) as f64 / self.seconds();
        let left = self.total.saturating_sub(done) as f64 / rate;
        let Progress { what, total, .. } = self;
        let line = format!("{done} of {total} {what}{}, {left:.0} s left", detail(rate));
        if self.terminal {
            let _ = write!(io::stderr(), "\r{} {line}\x1b[K", bar(done, *total));
            self.shown = true;
        } else {
            to_stderr(&line);
        }
    }

    /// Seconds since the beginning.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }
}

/// `[######--------------]`
fn bar(done: usize, total: usize) -> String {
    const WIDTH: usize = 20;
    let filled = (WIDTH * done.min(total))
        .checked_div(total)
        .unwrap_or(WIDTH);
    format!("[{}{}]", "#".repeat(filled), "-".repeat(WIDTH - filled))
}

/// The line of a terminal is free again for whatever is said next.
impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// `text` and the end of a line. A reader that left early, as `head` does, has what it wanted.
fn to_stdout(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::new(
            "standard output",
            format!("cannot be written ({error})"),
            "redirect it elsewhere",
        )),
        _ => Ok(()),
    }
}

/// Where nobody listens on standard error there is nobody to tell.
fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// JSON that says the same in characters no terminal obeys; all of these are below U+10000, so one escape does.
fn printable_json(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if is_obeyed(character) {
            let _ = write!(printable, "\\u{:04x}", u32::from(character));
        } else {
            printable.push(character);
        }
    }
    printable
}

/// A name from a file, for a line of its own.
pub fn name(text: &str) -> String {
    printable(&text.replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_command_the_terminal() {
        let wicked = "a\x1b[2J\u{9b}\u{202e}\r\nb\\n é";
        assert_eq!(name(wicked), "a\\u{1b}[2J\\u{9b}\\u{202e}\\r\\nb\\n é");
        let text = serde_json::to_string(wicked).unwrap();
        let shown = printable_json(&text);
        assert!(!shown.chars().any(is_obeyed));
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), wicked);
    }
}
