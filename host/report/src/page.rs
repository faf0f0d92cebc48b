//! A report before it is laid out: words, tables and figures as data, which JSON can keep.

use crate::drawing::Drawing;
use crate::printable::printable;
use serde::{Deserialize, Serialize};
use std::fmt;

/// No page has more bytes of JSON: whoever reads a file should stop there. One with 256 filters of 256 inputs and the
/// Cayley table of 256 elements has less than one megabyte.
pub const MOST_BYTES: usize = 16 << 20;

/// What a report says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Its heading.
    pub title: String,
    /// What it comes to, in a sentence or two below the heading.
    pub lead: String,
    /// One after the other.
    #[serde(default)]
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// One below the other.
    #[serde(default)]
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// Sentences.
    Paragraph(String),
    /// Figures to compare.
    Table(Table),
    /// A drawing.
    Figure(Figure),
    /// Names and what they stand for.
    Facts(Vec<(String, String)>),
    /// A text whose lines stay as they are, such as a configuration.
    Preformatted(String),
}

/// Rows and columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// From left to right; the first names the rows.
    pub columns: Vec<Column>,
    /// From top to bottom.
    #[serde(default)]
    pub rows: Vec<Row>,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// What is in it.
    pub name: String,
    /// Whether these are numbers, which stand at the right.
    #[serde(default)]
    pub numbers: bool,
}

/// The cells of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// One a column.
    pub cells: Vec<String>,
    /// Whether these are somebody else's figures, to compare with.
    #[serde(default)]
    pub published: bool,
}

/// A drawing and what is said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What it is called, such as `filters` or `group/cayley`.
    pub name: String,
    /// What is drawn.
    pub drawing: Drawing,
    /// What it shows, for those who do not see it.
    pub alt: String,
    /// What to see in it.
    pub caption: String,
}

/// Why bytes are no page.
#[derive(Debug)]
#[non_exhaustive]
pub enum PageError {
    /// There are more than [`MOST_BYTES`].
    TooLarge(usize),
    /// They are no JSON, or that of something else.
    Json(serde_json::Error),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::TooLarge(bytes) => write!(
                f,
                "{bytes} bytes are more than the {MOST_BYTES} a page may have"
            ),
            // On one line, whatever the page says.
            PageError::Json(error) => {
                f.write_str(&printable(&error.to_string()).replace('\n', " "))
            }
        }
    }
}

impl std::error::Error for PageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PageError::TooLarge(_) => None,
            PageError::Json(error) => Some(error),
        }
    }
}

impl Figure {
    /// The name of a file for the drawing alone, such as `group/cayley.svg`: a path below the page's folder, or nothing
    /// where the name is none that is safe on every system.
    ///
    /// ```
    /// use bispectral_report::{Drawing, Figure};
    ///
    /// let figure = |name: &str| Figure {
    ///     name: name.into(),
    ///     drawing: Drawing::Missing("not yet drawn".into()),
    ///     alt: String::new(),
    ///     caption: String::new(),
    /// };
    /// assert_eq!(figure("group/cayley").file_name().as_deref(), Some("group/cayley.svg"));
    /// assert_eq!(figure("../cayley").file_name(), None);
    /// ```
    #[must_use]
    pub fn file_name(&self) -> Option<String> {
        let letter = |letter: char| letter.is_ascii_alphanumeric() || "-_+.".contains(letter);
        let plain = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_alphanumeric())
                && part.chars().all(letter)
        };
        let safe = self.name.split('/').all(plain);
        safe.then(|| format!("{}.svg", self.name))
    }
}

impl Page {
    /// A page without sections.
    pub fn new(title: impl Into<String>, lead: impl Into<String>) -> Self {
        Page {
            title: title.into(),
            lead: lead.into(),
            sections: Vec::new(),
        }
    }

    /// The page with another section at its end.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The page that [`to_json`](Page::to_json) wrote.
    ///
    /// # Errors
    /// These bytes are none. Figures are checked when they are drawn.
    pub fn from_json(json: &[u8]) -> Result<Self, PageError> {
        if json.len() > MOST_BYTES {
            return Err(PageError::TooLarge(json.len()));
        }
        serde_json::from_slice(json).map_err(PageError::Json)
    }

    /// The page as JSON, in which figures are data.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self)
            .expect("no map has keys that are no strings, and no number is without JSON")
    }
}

impl Section {
    /// A section without content.
    pub fn new(title: impl Into<String>) -> Self {
        let (title, blocks) = (title.into(), Vec::new());
        Section { title, blocks }
    }

    /// The section with another block at its end.
    #[must_use]
    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// With sentences.
    #[must_use]
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.block(Block::Paragraph(text.into()))
    }

    /// With a table.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.block(Block::Table(table))
    }

    /// With a drawing called `name`; `alt` is for those who do not see it, `caption` says what to see. What could not
    /// be drawn may be given as an error, which is then a sentence in its place.
    #[must_use]
    pub fn figure(
        self,
        name: impl Into<String>,
        drawing: impl Into<Drawing>,
        alt: impl Into<String>,
        caption: impl Into<String>,
    ) -> Self {
        self.block(Block::Figure(Figure {
            name: name.into(),
            drawing: drawing.into(),
            alt: alt.into(),
            caption: caption.into(),
        }))
    }

    /// With names and what they stand for.
    #[must_use]
    pub fn facts<N: Into<String>, V: Into<String>>(
        self,
        facts: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let facts = facts.into_iter();
        let facts = facts
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        self.block(Block::Facts(facts))
    }

    /// With a text whose lines stay as they are.
    #[must_use]
    pub fn preformatted(self, text: impl Into<String>) -> Self {
        self.block(Block::Preformatted(text.into()))
    }
}

impl Table {
    /// A table without columns and rows.
    pub fn new(caption: impl Into<String>) -> Self {
        Table {
            caption: caption.into(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// With a column of words.
    #[must_use]
    pub fn words(mut self, name: impl Into<String>) -> Self {
        let (name, numbers) = (name.into(), false);
        self.columns.push(Column { name, numbers });
        self
    }

    /// With a column of numbers.
    #[must_use]
    pub fn numbers(mut self, name: impl Into<String>) -> Self {
        let (name, numbers) = (name.into(), true);
        self.columns.push(Column { name, numbers });
        self
    }

    /// With a row of one's own figures.
    #[must_use]
    pub fn row<C: Into<String>>(mut self, cells: impl IntoIterator<Item = C>) -> Self {
        let cells = cells.into_iter().map(Into::into).collect();
        let published = false;
        self.rows.push(Row { cells, published });
        self
    }

    /// With a row of published figures.
    #[must_use]
    pub fn published<C: Into<String>>(self, cells: impl IntoIterator<Item = C>) -> Self {
        let mut table = self.row(cells);
        if let Some(row) = table.rows.last_mut() {
            row.published = true;
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_page_survives_its_own_json() {
        let page = fixture::every_kind("T <b> \u{1b} \"quoted\"");
        assert_eq!(Page::from_json(&page.to_json()).unwrap(), page);
        let rendered = crate::render(&page);
        assert_eq!((rendered.figures, rendered.faults.len()), (14, 2));
    }

    #[test]
    fn what_is_no_page_is_refused_in_one_line() {
        for json in [
            "",
            "[]",
            "{\"title\": 3}",
            "{\"title\": \"t\", \"lead\": \"l\", \"sections\": [{\"title\": \"s\", \"blocks\": [{\"\\n\": 1}]}]}",
            "{\"title\": \"t\", \"lead\": \"l\", \"\\u001b[2J\": 1}",
        ] {
            let line = Page::from_json(json.as_bytes()).unwrap_err().to_string();
            assert!(!line.contains(['\n', '\u{1b}']), "{line}");
        }
        let deep = "[".repeat(100_000);
        assert!(Page::from_json(deep.as_bytes()).is_err());
        let large = vec![b' '; MOST_BYTES + 1];
        let refused = Page::from_json(&large);
        assert!(matches!(refused, Err(PageError::TooLarge(_))));
    }

    #[test]
    fn drawings_of_absurd_numbers_are_a_sentence() {
        for drawing in [
            r#"{"cayley": {"title": "", "order": [0, 1], "products": [1]}}"#,
            r#"{"cayley": {"title": "", "order": [18446744073709551615], "products": [1]}}"#,
            r#"{"cayley": {"title": "", "order": [], "products": []}}"#,
            r#"{"distances": {"title": "", "orbits": [["a", 18446744073709551615], ["b", 2]], "distances": [1]}}"#,
            r#"{"filters": {"shape": [18446744073709551615, 2], "all": 1, "strongest": 1, "filters": []}}"#,
            r#"{"filters": {"shape": [1, 1], "all": 1, "strongest": 1, "filters": [{"row": 0, "real": {"largest": 1, "levels": "~"}, "imaginary": {"largest": 1, "levels": "0"}}]}}"#,
            r#"{"tiles": {"shape": [4294967296, 4294967296], "columns": 1, "tiles": []}}"#,
            r#"{"tiles": {"shape": [1, 1], "columns": 0, "tiles": [{"label": "", "range": [null], "levels": "0"}]}}"#,
            r#"{"losses": {"begins": [], "steps": [1, 2], "invariance": [1], "reconstruction": []}}"#,
            r#"{"chart": {"title": "", "x_label": "", "x": [null], "panels": []}}"#,
        ] {
            let page = format!(
                r#"{{"title": "t", "lead": "l", "sections": [{{"title": "s", "blocks": [{{"figure":
                   {{"name": "f", "drawing": {drawing}, "alt": "", "caption": ""}}}}]}}]}}"#
            );
            let page = Page::from_json(page.as_bytes()).unwrap();
            let rendered = crate::render(&page);
            let (figures, faults) = (rendered.figures, rendered.faults.len());
            assert_eq!((figures, faults), (0, 1), "{drawing}");
            assert!(rendered.html.contains("This picture is missing. "));
        }
    }

    #[test]
    fn names_that_leave_the_folder_give_no_file() {
        for name in [
            "", "/etc/x", "a//b", "a/..", "a\\b", "C:x", ".x", "a/.b", "é", "a b", "-x",
        ] {
            let section = Section::new("s").figure(name, Drawing::Missing(String::new()), "", "");
            let Block::Figure(figure) = &section.blocks[0] else {
                panic!("a figure")
            };
            assert_eq!(figure.file_name(), None, "{name}");
        }
    }
}
