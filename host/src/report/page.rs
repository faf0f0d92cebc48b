//! A report before it is laid out: words, tables and the names of pictures, kept as `page.json` beside the pictures.

use crate::export::NewFile;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What a page is called in its folder.
pub const PAGE: &str = "page.json";
/// No page of words is larger.
const MOST_BYTES: u64 = 4 << 20;

/// What a report says.
///
/// ```
/// use bispectral::report::page::{Page, Section, Table};
///
/// let table = Table::new("What was learned")
///     .words("group")
///     .numbers("seconds")
///     .row(["Z8", "0.01"])
///     .published(["Z8, in the paper", "60"]);
/// let page = Page::new("Groups", "Three groups, learned from examples alone.")
///     .section(Section::new("Results").paragraph("All were recovered.").table(table))
///     .section(Section::new("Tables").figure("cayley.png", "A square of colours", "Bands are a cyclic group."));
/// assert_eq!(page.sections.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// One below the other.
    #[serde(default)]
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// Sentences.
    Paragraph(String),
    /// Figures to compare.
    Table(Table),
    /// A picture.
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

/// A picture in a file of the page's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its path from the folder, with `/`.
    pub file: String,
    /// What it shows, for those who do not see it.
    pub alt: String,
    /// What to see in it.
    pub caption: String,
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

    /// The page in `folder`.
    ///
    /// # Errors
    /// There is none, or the file is damaged.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(PAGE);
        let reading = |error| Error::reading(&path, &error);
        let file = File::open(&path).map_err(reading)?;
        let mut text = Vec::new();
        file.take(MOST_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(reading)?;
        if text.len() as u64 > MOST_BYTES {
            let what = format!("more than {MOST_BYTES} bytes are no page");
            return Err(Error::file(&path, what, "run the experiment again"));
        }
        serde_json::from_slice(&text).map_err(|error| {
            let what = error.to_string().replace('\n', " ");
            Error::file(&path, what, "run the experiment again")
        })
    }

    /// Writes the page into `folder`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let json = serde_json::to_vec_pretty(self).expect("words serialise");
        let mut file = NewFile::create(&folder.join(PAGE), true)?;
        file.write(&json)?;
        file.commit()
    }
}

impl Section {
    /// A section without content.
    pub fn new(title: impl Into<String>) -> Self {
        Section {
            title: title.into(),
            blocks: Vec::new(),
        }
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

    /// With the picture in `file`; `alt` is for those who do not see it, `caption` says what to see.
    #[must_use]
    pub fn figure(
        self,
        file: impl Into<String>,
        alt: impl Into<String>,
        caption: impl Into<String>,
    ) -> Self {
        self.block(Block::Figure(Figure {
            file: file.into(),
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
        let facts = facts
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        self.block(Block::Facts(facts.collect()))
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
    pub fn words(self, name: impl Into<String>) -> Self {
        self.column(name.into(), false)
    }

    /// With a column of numbers.
    #[must_use]
    pub fn numbers(self, name: impl Into<String>) -> Self {
        self.column(name.into(), true)
    }

    /// With a row of one's own figures.
    #[must_use]
    pub fn row<C: Into<String>>(self, cells: impl IntoIterator<Item = C>) -> Self {
        self.cells(cells, false)
    }

    /// With a row of published figures.
    #[must_use]
    pub fn published<C: Into<String>>(self, cells: impl IntoIterator<Item = C>) -> Self {
        self.cells(cells, true)
    }

    fn column(mut self, name: String, numbers: bool) -> Self {
        self.columns.push(Column { name, numbers });
        self
    }

    fn cells<C: Into<String>>(
        mut self,
        cells: impl IntoIterator<Item = C>,
        published: bool,
    ) -> Self {
        let cells = cells.into_iter().map(Into::into).collect();
        self.rows.push(Row { cells, published });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_survives_its_own_file() {
        let folder = tempfile::tempdir().unwrap();
        let page = Page::new("T <b>", "lead \u{1b} \"quoted\"").section(
            Section::new("S")
                .paragraph("p")
                .table(
                    Table::new("c")
                        .words("w")
                        .numbers("n")
                        .row(["a", "1"])
                        .published(["b", "2"]),
                )
                .figure("f/g.png", "alt", "caption")
                .facts([("seed", "0")])
                .preformatted("a = 1\n\tb = 2\n"),
        );
        page.write(folder.path()).unwrap();
        assert_eq!(Page::read(folder.path()).unwrap(), page);
    }

    #[test]
    fn what_is_no_page_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PAGE);
        let refusal = || Page::read(folder.path()).unwrap_err().to_string();
        assert!(refusal().contains("there is no such file"));
        for text in [
            "",
            "[]",
            "{\"title\": 3}",
            "{\"title\": \"t\", \"lead\": \"l\", \"sections\": [{\"title\": \"s\", \"blocks\": [{\"\\n\": 1}]}]}",
            "{\"title\": \"t\", \"lead\": \"l\", \"unheard-of\": 1}",
        ] {
            std::fs::write(&path, text).unwrap();
            let line = refusal();
            assert!(
                line.contains("page.json: ") && !line.contains('\n'),
                "{line}"
            );
        }
        std::fs::write(&path, vec![b' '; MOST_BYTES as usize + 1]).unwrap();
        assert!(refusal().contains("more than"));
    }
}
