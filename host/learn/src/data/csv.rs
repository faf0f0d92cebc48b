//! CSV: one signal a line, its values between commas or blanks; empty lines and lines that begin with `#` are skipped.

use crate::{Error, Result};
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;

/// The numbers of a CSV file; 64 bits each, so at most four times the file's size.
///
/// ```
/// use bispectral_learn::data::csv::Table;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("X.csv");
/// std::fs::write(&path, "# two signals\n1, 2.5\n3e2, -4\n")?;
/// let table = Table::read(&path)?;
/// assert_eq!((table.rows(), table.columns()), (2, 2));
/// assert!(table.values(1..2).eq([300.0, -4.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Table {
    values: Vec<f64>,
    columns: usize,
}

impl Table {
    /// Reads all of the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, a field is not a number, the lines differ in length or there are none.
    pub fn read(path: &Path) -> Result<Self> {
        let (file, length) = crate::storage::open_file(path)?;
        let mut table = Table {
            values: Vec::new(),
            columns: 0,
        };
        for (number, line) in (1..).zip(BufReader::new(file.take(length)).lines()) {
            let line = line.map_err(|error| match error.kind() {
                std::io::ErrorKind::InvalidData => Error::file(
                    path,
                    format!("line {number} is not text"),
                    "save it as UTF-8, or name a .npy file",
                ),
                _ => Error::reading(path, &error),
            })?;
            table.add_line(&line).map_err(|(what, remedy)| {
                Error::file(path, format!("line {number} {what}"), remedy)
            })?;
        }
        if table.values.is_empty() {
            return Err(Error::file(
                path,
                "there are no numbers in it",
                "write one signal a line",
            ));
        }
        Ok(table)
    }

    /// How many lines of numbers there are; at least one.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// How many numbers a line has; at least one.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The numbers of the lines `rows`, one line behind the other; none past the end.
    pub fn values(&self, rows: Range<usize>) -> impl Iterator<Item = f64> {
        let lines = self.values.chunks(self.columns);
        lines.skip(rows.start).take(rows.len()).flatten().copied()
    }

    fn add_line(&mut self, line: &str) -> std::result::Result<(), (String, &'static str)> {
        // Spreadsheets put a byte-order mark before the first line.
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let before = self.values.len();
        if line.contains(',') {
            self.add_fields(line.split(','))?;
        } else {
            self.add_fields(line.split_whitespace())?;
        }
        let columns = self.values.len() - before;
        if before == 0 {
            self.columns = columns;
        }
        if columns != self.columns {
            return Err((
                format!("has {columns} numbers where the first has {}", self.columns),
                "give every signal the same length",
            ));
        }
        Ok(())
    }

    fn add_fields<'a>(
        &mut self,
        fields: impl Iterator<Item = &'a str>,
    ) -> std::result::Result<(), (String, &'static str)> {
        for (column, field) in fields.enumerate() {
            let field = field.trim();
            let value = field.parse().map_err(|_| {
                let beginning: String = field.chars().take(20).collect();
                (
                    format!("column {column}: \"{beginning}\" is not a number"),
                    "write numbers between commas, begin a title with #",
                )
            })?;
            self.values.push(value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> std::result::Result<Table, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("X.csv");
        std::fs::write(&path, text).unwrap();
        Table::read(&path).map_err(|error| {
            let line = error.to_string();
            line.rsplit_once("X.csv: ").unwrap().1.to_owned()
        })
    }

    #[test]
    fn commas_blanks_titles_and_foreign_line_ends_are_read() {
        for text in [
            "1,2,3\n4,5,6",
            "\u{feff}1, 2 ,3\r\n\r\n4,5,6\r\n",
            "# a b c\n1 2\t3\n  4 5 6  \n\n",
        ] {
            let table = read(text.as_bytes()).unwrap();
            assert_eq!((table.rows(), table.columns()), (2, 3), "{text}");
            assert!(table.values(0..2).eq([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
            assert_eq!(table.values(2..9).count(), 0);
        }
    }

    #[test]
    fn what_is_not_a_table_of_numbers_is_refused_by_line_and_column() {
        for (text, refusal) in [
            (
                &b"1,2\n1,x\n"[..],
                "line 2 column 1: \"x\" is not a number: ",
            ),
            (b"1,2,\n", "line 1 column 2: \"\" is not a number: "),
            (b"1,5;2,5\n", "line 1 column 1: \"5;2\" is not a number: "),
            (
                b"1,2\n\n1\n",
                "line 3 has 1 numbers where the first has 2: ",
            ),
            (b"1,\xff\n", "line 1 is not text: "),
            (b"# nothing\n\n", "there are no numbers in it: "),
        ] {
            let line = read(text).unwrap_err();
            assert!(line.starts_with(refusal), "{line}");
        }
    }
}
