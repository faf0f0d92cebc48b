//! One label a sample: integers or words, from text, `.npy` or IDX.

use super::csv::{Lines, Separator};
use super::orbits::OrbitsError;
use super::remark::{Remark, beginning};
use super::signals::is_text;
use super::{Signals, idx, npy};
use crate::{Error, Result};
use std::path::Path;

/// From here on, f64 does not tell integers apart.
/// Labels of so many columns are a table of something else; fewer are read, to say their shape.
const MOST_COLUMNS: usize = 16;

const LARGEST: f64 = (1_u64 << 53) as f64;

/// What each sample is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labels {
    /// One a sample: the label itself, or the place of a word among `names`.
    pub numbers: Vec<i64>,
    /// The different words in their order, where labels are words.
    pub names: Vec<String>,
    /// What was recognised and left out.
    pub remarks: Vec<Remark>,
}

impl Labels {
    /// The labels in the file at `path`: a list, a table of one row or one column, or a column beside one that counts.
    /// A file of text may begin with a header; `samples` says how many labels there should be.
    ///
    /// # Errors
    /// The file is damaged or of another kind, a number is not an integer below 2^53, or numbers and words are mixed.
    ///
    /// ```
    /// use bispectral_learn::data::Labels;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("y.csv");
    /// std::fs::write(&path, "state\nworn\nnew\nworn\n")?;
    /// let labels = Labels::read(&path, 3)?;
    /// assert_eq!(labels.numbers, [1, 0, 1]);
    /// assert_eq!(labels.names, ["new", "worn"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: &Path, samples: usize) -> Result<Self> {
        let mut remarks = Vec::new();
        let words = if is_text(path) {
            from_text(path, samples, &mut remarks)?
        } else {
            let is_npy = path.extension().is_some_and(|extension| extension == "npy");
            match is_npy.then(|| npy::strings(path)).transpose()?.flatten() {
                Some(words) => words,
                None => {
                    return Ok(Labels {
                        numbers: numbers(path, samples)?,
                        ..Labels::default()
                    });
                }
            }
        };
        let values: Vec<Option<f64>> = words.iter().map(|word| word.parse().ok()).collect();
        let names = match values.iter().flatten().count() {
            0 => {
                let mut names = words.clone();
                names.sort();
                names.dedup();
                names
            }
            count if count == words.len() => Vec::new(),
            _ => {
                let wrong = values.iter().position(Option::is_none).unwrap_or(0);
                let what = format!(
                    "label {wrong} is {:?}, others are numbers",
                    beginning(&words[wrong])
                );
                return Err(Error::file(
                    path,
                    what,
                    "write all of them as numbers or all as words",
                ));
            }
        };
        let number = |(at, (word, value)): (usize, (&String, &Option<f64>))| match value {
            Some(value) => integer(path, at, *value),
            None => Ok(names.partition_point(|name| name < word) as i64),
        };
        let numbers = words
            .iter()
            .zip(&values)
            .enumerate()
            .map(number)
            .collect::<Result<_>>()?;
        Ok(Labels {
            numbers,
            names,
            remarks,
        })
    }
}

fn integer(path: &Path, at: usize, value: f64) -> Result<i64> {
    if value.fract() == 0.0 && value.abs() < LARGEST {
        return Ok(value as i64);
    }
    let what = format!("label {at} is {value}");
    Err(Error::file(
        path,
        what,
        "labels are integers below 2^53, or words",
    ))
}

/// Those of a file that holds numbers only.
fn numbers(path: &Path, samples: usize) -> Result<Vec<i64>> {
    if idx::is_idx(path)? {
        check_count(path, idx::shape(path)?.iter().product(), samples)?;
    }
    let mut signals = Signals::open(path)?;
    check_count(
        path,
        signals.count().saturating_mul(signals.length()),
        samples,
    )?;
    let mut values = Vec::new();
    signals.read(0..signals.count(), &mut values)?;
    let shape = [signals.count(), signals.length()];
    if !shape.contains(&1) {
        return Err(no_list(path, shape));
    }
    let label = |(at, value): (usize, &f64)| integer(path, at, *value);
    values.iter().enumerate().map(label).collect()
}

/// Refuses more or fewer labels than samples before they are read.
fn check_count(path: &Path, labels: usize, samples: usize) -> Result<()> {
    // A table of several columns is no list of labels at all, which is said where it is read.
    if labels == samples
        || labels.is_multiple_of(samples.max(1)) && labels / samples.max(1) < MOST_COLUMNS
    {
        return Ok(());
    }
    let error = OrbitsError::LabelCount { labels, samples };
    Err(Error::orbits("samples", &path.display().to_string(), error))
}

fn no_list(path: &Path, shape: [usize; 2]) -> Error {
    let what = format!("labels of shape {shape:?}");
    Error::file(path, what, "save one label a sample")
}

/// The fields of a file of text, without its header and a column that counts.
fn from_text(path: &Path, samples: usize, remarks: &mut Vec<Remark>) -> Result<Vec<String>> {
    let file = || path.display().to_string();
    let mut lines = Lines::open(path)?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut first = String::new();
    while let Some(line) = lines.next()? {
        let separator = Separator::of(&line.text);
        let mut fields: Vec<String> = separator
            .split(&line.text)
            .into_iter()
            .map(Into::into)
            .collect();
        // A word may have blanks in it.
        if separator == Separator::Blanks
            && fields.iter().any(|field| field.parse::<f64>().is_err())
        {
            fields = vec![line.text.trim().trim_matches('"').to_owned()];
        }
        if rows.is_empty() {
            first = line.text;
        }
        rows.push(fields);
    }
    let columns = rows.first().map_or(0, Vec::len);
    let count = rows.len();
    let even = rows.iter().all(|row| row.len() == columns);
    let mut header = false;
    let mut words: Vec<String> = match (columns, count) {
        (0, _) => {
            return Err(Error::file(
                path,
                "there are no labels in it",
                "write one label a line",
            ));
        }
        (1, _) if even => rows.into_iter().flatten().collect(),
        (_, 1) => rows.into_iter().flatten().collect(),
        (2, _) if even && !lines.marked => {
            let index = |row: &Vec<String>| row[0].parse::<f64>().ok();
            header = index(&rows[0]).is_none();
            let body = &rows[usize::from(header)..];
            let begin = body.first().and_then(index).unwrap_or(f64::NAN);
            let counts = body
                .iter()
                .zip(0..)
                .all(|(row, k)| index(row) == Some(begin + f64::from(k)));
            if !counts {
                return Err(no_list(path, [count, columns]));
            }
            let ends = [&body[0][0], &body[body.len() - 1][0]].map(Clone::clone);
            remarks.push(Remark::Index { file: file(), ends });
            rows.into_iter()
                .map(|row| row.into_iter().nth(1).unwrap_or_default())
                .collect()
        }
        _ => return Err(no_list(path, [count, columns])),
    };
    let is_number = |word: &String| word.parse::<f64>().is_ok();
    let one_more = words.len() == samples + 1;
    let (head, rest) = (&words[0], &words[1..]);
    header |= count > 1
        && !lines.marked
        && ((!is_number(head) && !rest.is_empty() && rest.iter().all(is_number))
            // pandas calls a column without a name 0.
            || (one_more && (head == "0" || !rest.contains(head))));
    if header {
        remarks.push(Remark::Header {
            file: file(),
            line: first,
        });
        words.remove(0);
    }
    Ok(words)
}
