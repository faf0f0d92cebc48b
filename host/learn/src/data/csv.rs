//! Tables of numbers as text, whatever wrote them: NumPy, pandas, a spreadsheet.
//!
//! One signal a line. Values stand between semicolons, tabs, commas or blanks, plain or in quotes, with a decimal point
//! or comma. Empty lines and lines that begin with `#` are skipped. A header and a column that numbers the lines are
//! recognised, unless a line begins with `#`: then titles are marked, and everything else is data. What could be read in
//! two ways is refused, with the line.

use super::remark::{Remark, beginning};
use crate::limits;
use crate::{Error, Result};
use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;

/// Bytes of memory for a byte of text, at the most: a digit and a comma are a number of eight bytes.
const OF_LETTER: u64 = 4;
/// So many numbers that ascend evenly are a numbering, and no signal.
const NUMBERING: usize = 4;
/// What a header calls a column of labels.
const LABELS: [&str; 7] = ["label", "labels", "class", "target", "state", "orbit", "y"];

/// The numbers of a text file; 64 bits each, so at most four times the file's size.
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
    remarks: Vec<Remark>,
}

/// What is wrong, and what to do about it.
type Refusal = (String, &'static str);

/// A line and its number in the file.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: String,
}

impl Table {
    /// Reads all of the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, a field is not a number, the lines differ in length or there are none, or it can be read in
    /// two ways.
    pub fn read(path: &Path) -> Result<Self> {
        let mut lines = Lines::open(path)?;
        let (Some(first), second) = (lines.next()?, lines.next()?) else {
            let what = "there are no numbers in it";
            return Err(Error::file(path, what, "write one signal a line"));
        };
        let refused = |line: &Line, (what, remedy): Refusal| {
            let what = format!("line {}: {what}: {}", line.number, beginning(&line.text));
            Error::file(path, what, remedy)
        };
        let typical = second.as_ref().unwrap_or(&first);
        let mut separator = Separator::of(&typical.text);
        // A line of one value has no separator to show.
        if separator.split(&typical.text).len() == 1 {
            separator = Separator::of(&first.text);
        }
        let mut reader = Reader::new(separator);
        let header = match &second {
            Some(second) => reader
                .is_header(&first.text, &second.text, lines.marked)
                .map_err(|refusal| refused(&first, refusal))?,
            None => false,
        };
        let begin = if header { None } else { Some(&first) };
        for line in begin.into_iter().chain(&second) {
            reader.add(line).map_err(|refusal| refused(line, refusal))?;
        }
        while let Some(line) = lines.next()? {
            reader
                .add(&line)
                .map_err(|refusal| refused(&line, refusal))?;
        }
        let header = header.then_some(&first);
        reader.finish(path, header, lines.marked)
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

    /// What was recognised and left out.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The numbers of the lines `rows`, one line behind the other; none past the end.
    pub fn values(&self, rows: Range<usize>) -> impl Iterator<Item = f64> {
        let lines = self.values.chunks(self.columns);
        lines.skip(rows.start).take(rows.len()).flatten().copied()
    }
}

/// The lines of a file that are neither empty nor marked with `#`.
pub(super) struct Lines<'p> {
    path: &'p Path,
    file: BufReader<std::io::Take<std::fs::File>>,
    number: usize,
    /// Whether some line began with `#`.
    pub(super) marked: bool,
}

impl<'p> Lines<'p> {
    pub(super) fn open(path: &'p Path) -> Result<Self> {
        let (file, length) = crate::storage::open_file(path)?;
        let bytes = length.saturating_mul(OF_LETTER);
        limits::memory::check_file(path, "its numbers", bytes)?;
        Ok(Lines {
            path,
            file: BufReader::new(file.take(length)),
            number: 0,
            marked: false,
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<Line>> {
        let mut text = String::new();
        loop {
            text.clear();
            self.number += 1;
            let most = limits::MOST_LINE_BYTES;
            match (&mut self.file).take(most).read_line(&mut text) {
                Ok(0) => return Ok(None),
                Ok(read) if read as u64 == most && !text.ends_with('\n') => {
                    let what = format!("line {} has more than {most} bytes", self.number);
                    return Err(Error::file(self.path, what, "write one signal a line"));
                }
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    let what = format!("line {} is not text", self.number);
                    let remedy = "save it as UTF-8, or name a .npy file";
                    return Err(Error::file(self.path, what, remedy));
                }
                Err(error) => return Err(Error::reading(self.path, &error)),
            }
            // Spreadsheets put a byte-order mark before the first line.
            let line = text
                .trim_start_matches('\u{feff}')
                .trim_matches([' ', '\r', '\n']);
            self.marked |= line.starts_with('#');
            if !line.trim().is_empty() && !line.starts_with('#') {
                let (number, text) = (self.number, line.to_owned());
                return Ok(Some(Line { number, text }));
            }
        }
    }
}

/// What stands between values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Letter(char),
    Blanks,
}

impl Separator {
    /// Of a line of values: a letter that cannot be part of a number, else a comma, else blanks.
    pub(super) fn of(line: &str) -> Self {
        let outside: String = line.split('"').step_by(2).collect();
        let trimmed = outside.trim();
        match [';', '\t']
            .into_iter()
            .find(|&letter| trimmed.contains(letter))
        {
            Some(letter) => Separator::Letter(letter),
            // "1,5 2,5": commas with digits on both sides of each, and blanks between the numbers.
            None if trimmed.contains(',') => {
                let is_decimal = |field: &str| {
                    let parts: Vec<&str> = field.split(',').collect();
                    let digits = |part: &&str| part.ends_with(|c: char| c.is_ascii_digit());
                    parts.len() <= 2 && parts.iter().all(digits)
                };
                let fields: Vec<&str> = trimmed.split_whitespace().collect();
                if fields.len() > 1 && fields.iter().all(|field| is_decimal(field)) {
                    Separator::Blanks
                } else {
                    Separator::Letter(',')
                }
            }
            None => Separator::Blanks,
        }
    }

    /// The fields of a line, without quotes and blanks around them.
    pub(super) fn split(self, line: &str) -> Vec<Cow<'_, str>> {
        let is_separator = |letter: char| match self {
            Separator::Letter(separator) => letter == separator,
            Separator::Blanks => letter.is_whitespace(),
        };
        let (mut fields, mut quoted, mut begin) = (Vec::new(), false, 0);
        for (at, letter) in line.char_indices() {
            quoted ^= letter == '"';
            if !quoted && is_separator(letter) {
                fields.push(field(&line[begin..at]));
                begin = at + letter.len_utf8();
            }
        }
        fields.push(field(&line[begin..]));
        if self == Separator::Blanks {
            fields.retain(|field| !field.is_empty());
        }
        fields
    }
}

fn field(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let inside = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    match inside {
        Some(inside) if inside.contains("\"\"") => inside.replace("\"\"", "\"").into(),
        Some(inside) => inside.trim().into(),
        None => text.into(),
    }
}

/// What stands in the last column where that is labels beside a signal: a word behind numbers, or what a header calls so.
fn labels_at_the_end(names: &[Cow<'_, str>], fields: &[Cow<'_, str>]) -> Option<String> {
    let (last, others) = fields.split_last()?;
    let name = names.last().filter(|name| parse(name).is_err())?;
    let numbers = others.iter().filter(|field| parse(field).is_ok()).count();
    if numbers < 2 || numbers + 1 < others.len() || names.len() != fields.len() {
        return None;
    }
    if parse(last).is_err() && !last.is_empty() {
        let word = beginning(last);
        return Some(format!("the last column holds words, such as {word:?}"));
    }
    let is_label = LABELS.contains(&&*name.to_lowercase());
    is_label.then(|| format!("the last column is called {name:?}, and is no part of a signal"))
}

/// Numbers that ascend by the same step from one to the next.
fn is_even(values: &[f64]) -> bool {
    let step = match values {
        [first, second, ..] => second - first,
        _ => return false,
    };
    let close = |pair: &[f64]| (pair[1] - pair[0] - step).abs() <= 1e-9 * step.abs();
    values.len() >= NUMBERING && step > 0.0 && values.windows(2).all(close)
}

/// 0, 1, 2, … or 1, 2, 3, …
fn is_numbering(values: impl Iterator<Item = f64>) -> bool {
    let mut values = values.peekable();
    let first = values.peek().copied().unwrap_or(f64::NAN);
    matches!(first, 0.0 | 1.0)
        && values
            .zip(0..)
            .all(|(value, k)| value == first + f64::from(k))
}

/// The state of reading line after line.
struct Reader {
    separator: Separator,
    /// Fields of a line, and the line that had them first.
    columns: Option<(usize, usize)>,
    /// Whether the first field of every line is a name.
    named: bool,
    names: [String; 2],
    values: Vec<f64>,
    /// The first line that has a decimal comma, and whether all that look like one could be 1,234 for 1234.
    comma: Option<(usize, String)>,
    only_thousands: bool,
    point: bool,
    /// Whether a line but the first ascends evenly.
    ramps: bool,
}

impl Reader {
    fn new(separator: Separator) -> Self {
        Reader {
            separator,
            columns: None,
            named: false,
            names: Default::default(),
            values: Vec::new(),
            comma: None,
            only_thousands: true,
            point: false,
            ramps: false,
        }
    }

    /// Whether the first line is a header and no signal.
    fn is_header(
        &mut self,
        first: &str,
        second: &str,
        marked: bool,
    ) -> std::result::Result<bool, Refusal> {
        if marked {
            return Ok(false);
        }
        let number = |field: &Cow<'_, str>| parse(field).ok();
        let names = self.separator.split(first);
        let fields = self.separator.split(second);
        self.named = fields.len() > 1
            && number(&fields[0]).is_none()
            && !fields[0].is_empty()
            && fields[1..].iter().all(|field| number(field).is_some());
        if let Some(what) = labels_at_the_end(&names, &fields) {
            let remedy = "save the labels as a file of their own, and the signals without them";
            return Err((what, remedy));
        }
        let behind = if self.named {
            &names[1.min(names.len())..]
        } else {
            &names[..]
        };
        let values: Vec<f64> = behind.iter().filter_map(number).collect();
        if values.len() == behind.len() {
            // All numbers: pandas' own names of columns, or a signal. Names are as many as there are columns, or one less beside
            // a column of names; otherwise the first line is one of a wrong length.
            let is_of_columns = names.len() == fields.len() || names.len() + 1 == fields.len();
            let counts = values.len() >= NUMBERING && is_numbering(values.into_iter());
            return Ok(is_of_columns && counts);
        }
        let words = behind.len() - values.len();
        // Names of some columns are numbers that count, as pandas writes with an index.
        if values.is_empty()
            || (words == 1 && number(&behind[0]).is_none() && is_numbering(values.iter().copied()))
        {
            return Ok(true);
        }
        if number(&fields[0]).is_none() && !self.named {
            return Ok(false);
        }
        let wrong = behind.iter().find(|field| number(field).is_none());
        Err((
            format!(
                "{:?} is not a number, others are",
                wrong.map_or("", |field| field)
            ),
            "write numbers, or begin a title with #",
        ))
    }

    fn add(&mut self, line: &Line) -> std::result::Result<(), Refusal> {
        let fields = self.separator.split(&line.text);
        let (columns, first) = *self.columns.get_or_insert((fields.len(), line.number));
        if fields.len() != columns {
            return Err((
                format!("{} values where line {first} has {columns}", fields.len()),
                "give every signal the same length",
            ));
        }
        let skipped = usize::from(self.named);
        if self.named {
            if self.names[0].is_empty() {
                self.names[0] = fields[0].to_string();
            }
            self.names[1] = fields[0].to_string();
        }
        let before = self.values.len();
        for (column, field) in fields.iter().enumerate().skip(skipped) {
            let value = parse(field).map_err(|()| match field.is_empty() {
                true => (
                    format!("column {column}: a value is missing"),
                    "fill it in, or leave the line out",
                ),
                false => (
                    format!("column {column}: {:?} is not a number", beginning(field)),
                    "write numbers, begin a title with #",
                ),
            })?;
            self.point |= field.contains('.');
            if let Some((whole, rest)) = field.split_once(',') {
                let whole = whole.trim_start_matches(['-', '+']);
                self.only_thousands &=
                    rest.len() == 3 && whole.len() <= 3 && !whole.starts_with('0');
                self.comma.get_or_insert((line.number, line.text.clone()));
            }
            if self.point && self.comma.is_some() {
                return Err((
                    "decimal points and commas in one file".into(),
                    "write all numbers with a decimal point, and none between thousands",
                ));
            }
            self.values.push(value);
        }
        self.ramps |= before > 0 && is_even(&self.values[before..]);
        Ok(())
    }

    /// The table, without what is no signal.
    fn finish(mut self, path: &Path, header: Option<&Line>, marked: bool) -> Result<Table> {
        let file = path.display().to_string();
        let mut remarks = Vec::new();
        let refuse = |number: usize, what: &str, text: &str, remedy: &str| {
            let what = format!("line {number} {what}: {}", beginning(text));
            Err(Error::file(path, what, remedy))
        };
        let mut columns = self.columns.map_or(1, |(columns, _)| columns) - usize::from(self.named);
        if columns == 0 {
            let what = "its only column has no numbers";
            return Err(Error::file(path, what, "save one signal a line"));
        }
        let rows = self.values.len() / columns;
        if let Some((number, text)) = &self.comma {
            if self.only_thousands {
                let what = "has commas before three digits, decimal or between thousands";
                return refuse(*number, what, text, "write numbers with a decimal point");
            }
            remarks.push(Remark::DecimalComma { file: file.clone() });
        }
        if let Some(header) = header {
            let is_words = self
                .separator
                .split(&header.text)
                .iter()
                .any(|name| parse(name).is_err());
            if !is_words && self.ramps {
                let what = "counts as a header does, and other lines ascend as evenly";
                return refuse(
                    header.number,
                    what,
                    &header.text,
                    "begin a header with #, or the file with a line of #",
                );
            }
            let line = header.text.clone();
            remarks.push(Remark::Header {
                file: file.clone(),
                line,
            });
        } else if !marked && rows > 1 && !self.ramps && is_even(&self.values[..columns]) {
            let (number, text) = (
                self.columns.map_or(1, |(_, line)| line),
                numbers(&self.values[..columns]),
            );
            let what = "ascends evenly, a header of times or a signal";
            return refuse(
                number,
                what,
                &text,
                "begin a header with #, or the file with a line of #",
            );
        }
        if self.named {
            remarks.push(Remark::Index {
                file,
                ends: self.names,
            });
        } else if columns > 1 && !marked {
            let column = || self.values.iter().step_by(columns).copied();
            let first_name =
                header.map(|header| self.separator.split(&header.text)[0].to_lowercase());
            let is_named = first_name.is_some_and(|name| {
                name.is_empty() || ["index", "id", "unnamed: 0", "row", "sample"].contains(&&*name)
            });
            if (is_named || rows >= NUMBERING) && is_numbering(column()) {
                let ends = [0, rows - 1].map(|row| self.values[row * columns].to_string());
                remarks.push(Remark::Index { file, ends });
                let mut at = 0..;
                self.values.retain(|_| {
                    at.next()
                        .is_some_and(|at: usize| !at.is_multiple_of(columns))
                });
                columns -= 1;
            }
        }
        Ok(Table {
            values: self.values,
            columns,
            remarks,
        })
    }
}

/// The beginning of a line of numbers.
fn numbers(values: &[f64]) -> String {
    let shown: Vec<String> = values.iter().take(12).map(f64::to_string).collect();
    shown.join(",")
}

/// A number with a decimal point or comma.
fn parse(field: &str) -> std::result::Result<f64, ()> {
    let text = if field.matches(',').count() == 1 && !field.contains('.') {
        field.replace(',', ".")
    } else {
        field.into()
    };
    text.parse().map_err(|_| ())
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
    fn every_way_to_write_a_table_gives_the_same_numbers() {
        for (text, remarks) in [
            ("1.5,2,3\n4,5,6.25", ""),
            ("\u{feff}1.5, 2 ,3\r\n\r\n4,5,6.25\r\n", ""),
            (
                "# a b c\n1.5 2\t3\n  4 5\t6.25  \n\n"
                    .replace('\t', " ")
                    .as_str(),
                "",
            ),
            ("1.5\t2\t3\n4\t5\t6.25\n", ""),
            ("\"1.5\",\"2\",\"3\"\n\"4\",\"5\",\"6.25\"\n", ""),
            ("1,5;2;3\n4;5;6,25\n", "comma"),
            ("1,5\t2,0\t3\n4\t5\t6,25\n", "comma"),
            ("1,5 2,0 3\n4 5 6,25\n", "comma"),
            ("\"1,5\",\"2\",\"3\"\n4,5,\"6,25\"\n", "comma"),
            ("a,b,c\n1.5,2,3\n4,5,6.25\n", "header"),
            (
                "\"t 0\";\"t 1\";\"t 2\"\n1,5;2;3\n4;5;6,25\n",
                "comma header",
            ),
            (",0,1,2\n0,1.5,2,3\n1,4,5,6.25\n", "header index"),
            ("index,a,b,c\n1,1.5,2,3\n2,4,5,6.25\n", "header index"),
            ("left,1.5,2,3\nright,4,5,6.25\n", "index"),
        ] {
            let table = read(text.as_bytes()).unwrap();
            assert_eq!((table.rows(), table.columns()), (2, 3), "{text}");
            assert!(
                table.values(0..2).eq([1.5, 2.0, 3.0, 4.0, 5.0, 6.25]),
                "{text}"
            );
            assert_eq!(table.values(2..9).count(), 0);
            let kind = |remark: &Remark| match remark {
                Remark::DecimalComma { .. } => "comma",
                Remark::Header { .. } => "header",
                Remark::Index { .. } => "index",
                _ => "other",
            };
            let found: Vec<&str> = table.remarks().iter().map(kind).collect();
            assert_eq!(found.join(" "), remarks, "{text}");
        }
    }

    #[test]
    fn numbers_that_count_are_no_signal_unless_titles_are_marked() {
        let body = "0,5,3,9\n1,2,2,8\n2,5,5,1\n3,0,7,7\n";
        for (text, shape) in [
            (format!("0,1,2,3\n{body}"), (4, 3)),
            (format!("#\n0,1,2,3\n{body}"), (5, 4)),
            (body.to_owned(), (4, 3)),
            (format!("# raw\n{body}"), (4, 4)),
            ("0,1,2,3\n".to_owned(), (1, 4)),
            ("0,1,2\n1,2,2\n".to_owned(), (2, 3)),
        ] {
            let table = read(text.as_bytes()).unwrap();
            assert_eq!((table.rows(), table.columns()), shape, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_table_of_numbers_is_refused_with_its_line() {
        for (text, refusal) in [
            (
                &b"1,2\n1,x\n"[..],
                "line 2: column 1: \"x\" is not a number: 1,x: ",
            ),
            (b"1,2,\n", "line 1: column 2: a value is missing: 1,2,: "),
            (
                b"1,2,3,good\n4,5,6,worn\n",
                "line 1: the last column holds words, such as \"worn\": 1,2,3,good: ",
            ),
            (
                b"0,1,2,state\n1,2,3,good\n4,5,6,worn\n",
                "line 1: the last column holds words, such as \"good\": 0,1,2,state: ",
            ),
            (
                b",a,b,Label\n0,1,2,7\n1,5,6,8\n",
                "line 1: the last column is called \"Label\", and is no part of a signal: ,a,b,Label: ",
            ),
            (b"1,2\n\n1\n", "line 3: 1 values where line 1 has 2: 1: "),
            (
                b"1,2,3,4\n5,7,3\n",
                "line 2: 3 values where line 1 has 4: 5,7,3: ",
            ),
            (b"1,\xff\n", "line 1 is not text: "),
            (b"# nothing\n\n", "there are no numbers in it: "),
            (b"ants\n\"\"\r", "its only column has no numbers: "),
            (
                b"1,5;2.5\n3;4\n",
                "line 1: decimal points and commas in one file: 1,5;2.5: ",
            ),
            (
                b"1,234;2,345\n3;4\n",
                "line 1 has commas before three digits, decimal or between thousands: 1,234;2,345: ",
            ),
            (
                b"0,0.1,0.2,0.3\n5,2,1,1\n",
                "line 1 ascends evenly, a header of times or a signal: 0,0.1,0.2,0.3: ",
            ),
            (
                b"0,1,2,3\n5,2,1,1\n2,4,6,8\n",
                "line 1 counts as a header does, and other lines ascend as evenly: 0,1,2,3: ",
            ),
            (
                b"1,x,3\n4,5,6\n",
                "line 1: \"x\" is not a number, others are: 1,x,3: ",
            ),
        ] {
            let line = read(text).unwrap_err();
            assert!(line.starts_with(refusal), "{line}");
        }
    }
}
