//! The page of a training run, from the files of its folder.

use crate::group::sorted;
use crate::models::unfinished;
use bispectral_core::Complex32;
use bispectral_learn::Result;
use bispectral_learn::analysis::evaluation::Evaluation;
use bispectral_learn::analysis::irreps;
use bispectral_learn::data::group::Group;
use bispectral_learn::data::orbits::Split;
use bispectral_learn::data::{load, weights};
use bispectral_learn::group::LearnedTable;
use bispectral_learn::group::identify::identify_table;
use bispectral_learn::learn::{Diagnosis, Recognised};
use bispectral_learn::limits::MOST_METRICS_BYTES;
use bispectral_learn::storage::read_text;
use bispectral_learn::storage::replacement::settle;
use bispectral_report::number::{percent, scientific};
use bispectral_report::{Block, Page, Section, Table};
use bispectral_run::config::{Config, Data, TransformName};
use bispectral_run::{
    CONFIG, METRICS, PERMUTATIONS, RESULTS, Record, Results, WEIGHTS, figures, permutations,
};
use ndarray::Array2;
use std::path::{Path, PathBuf};

/// Tables of more rows have cells too small to see.
const MOST_ROWS: usize = 256;

/// A run that is done.
pub(crate) struct Finished {
    folder: PathBuf,
    config: Config,
    record: Record,
}

/// Figures of what was learned.
pub(crate) struct Drawn {
    pub(crate) filters: Block,
    /// Where a group was recognised and has not too many rows.
    pub(crate) cayley: Option<Block>,
    pub(crate) distances: Block,
}

impl Finished {
    /// The run in `folder`.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        settle(folder)?;
        let config = Config::read(&folder.join(CONFIG))?;
        let path = folder.join(RESULTS);
        if !path.exists() {
            return Err(unfinished(folder));
        }
        Ok(Finished {
            folder: folder.to_owned(),
            config,
            record: Record::read(folder)?,
        })
    }

    /// What it says.
    pub(crate) fn page(&self) -> Page {
        let drawn = self.draw("", self.layout()).unwrap_or_else(|error| Drawn {
            filters: figures::missing("filters", &error),
            cayley: None,
            distances: figures::distances("distances", &self.record.distances),
        });
        let metrics = read_text(&self.folder.join(METRICS), "losses", MOST_METRICS_BYTES);
        let metrics = metrics.unwrap_or_default();
        let results = figures::results(
            "On samples that were held out, computed by bispectral-core from the exported model",
            &[("this run", self.results())],
        );
        let mut page = Page::new(self.title(), self.lead()).section(
            Section::new("Results")
                .paragraph(self.recognised())
                .table(results),
        );
        if let Some(diagnosis) = &self.results().diagnosis {
            let found = diagnosis.findings.iter().fold(
                Section::new("What the data looks like"),
                |section, finding| section.paragraph(sentence(&finding.to_string())),
            );
            page = page.section(found.table(known_groups(diagnosis)));
        }
        if let Some(cayley) = drawn.cayley {
            page = page.section(Section::new("The group").block(cayley));
        }
        page.section(Section::new("The filters").block(drawn.filters))
            .section(Section::new("Within orbits and between them").block(drawn.distances))
            .section(Section::new("Training").block(figures::losses("loss", &metrics, "this run")))
            .section(
                Section::new("What was run")
                    .facts(self.facts())
                    .paragraph("All of it, as in config.toml; bispectral train with this file gives the same bits:")
                    .preformatted(self.config.to_toml()),
            )
    }

    /// The filters and the Cayley table of W as it was learned; their names begin with `prefix`, and `layout` says how
    /// the filters lie.
    pub(crate) fn draw(&self, prefix: &str, layout: &str) -> Result<Drawn> {
        let w = weights::read(&self.folder.join(WEIGHTS))?;
        let coupled = self.permutations();
        let of_characters = |group: &Recognised| !group.is_coupled();
        let table =
            self.results().group.as_ref().is_some_and(of_characters) && w.nrows() <= MOST_ROWS;
        let learned = table.then(|| LearnedTable::of(&w.view())).transpose()?;
        let order = self.order(&w, learned.as_ref());
        let shape = self.shape(w.ncols());
        let name = |name: &str| format!("{prefix}{name}");
        let cayley = learned.map(|learned| {
            let title = format!("{}, as it was learned", self.group());
            let drawing = figures::cayley_drawing(&learned, &order, &title);
            figures::cayley(&name("cayley"), drawing, self.group())
        });
        let cayley = match coupled {
            Some(order) if order <= MOST_ROWS => {
                let action = permutations::read(&self.folder.join(PERMUTATIONS))?;
                let block = figures::exact_cayley(&name("cayley"), &action.table(), self.group());
                Some(block)
            }
            _ => cayley,
        };
        Ok(Drawn {
            filters: figures::filters(
                &name("filters"),
                w.view(),
                shape,
                &order,
                layout,
                figures::Rows::of(self.results().group.as_ref()),
            ),
            cayley,
            distances: figures::distances(&name("distances"), &self.record.distances),
        })
    }

    /// How many permutations the group is, where the model is of couplings.
    fn permutations(&self) -> Option<usize> {
        self.results().group.as_ref()?.permutations
    }

    /// What the run came to.
    fn results(&self) -> &Results {
        &self.record.results
    }

    /// Rows by the frequency they are most like, where the data has such; else by their places in the group.
    fn order(&self, w: &Array2<Complex32>, learned: Option<&LearnedTable>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..w.nrows()).collect();
        if let Some(group) = self.known(w.ncols()) {
            let nearest = irreps::compare(&w.view(), &group).nearest;
            order.sort_by_key(|&row| nearest[row]);
            return order;
        }
        let found = learned.and_then(|learned| identify_table(&w.view(), learned).ok());
        found.as_ref().map_or(order, sorted)
    }

    /// The group that the data was made with, where it was.
    fn known(&self, inputs: usize) -> Option<Group> {
        let Data { group, .. } = &self.config.data;
        let group = match (group, self.transform()) {
            (Some(group), _) => group.parse().ok(),
            (None, Some(TransformName::Translate1d)) => Group::new([inputs]).ok(),
            (None, Some(TransformName::Translate2d)) => {
                let (height, width) = self.shape(inputs);
                Group::new([height, width]).ok()
            }
            _ => None,
        };
        group.filter(|group: &Group| group.order() == inputs)
    }

    fn transform(&self) -> Option<TransformName> {
        let Data {
            images, transform, ..
        } = &self.config.data;
        transform.or(images.is_some().then_some(TransformName::Translate2d))
    }

    /// Height and width of an input; signals are one high.
    fn shape(&self, inputs: usize) -> (usize, usize) {
        let Data { samples, size, .. } = &self.config.data;
        let images = matches!(
            self.transform(),
            Some(TransformName::Translate2d | TransformName::Rotate)
        );
        let given = || load::exemplars(samples.as_ref()?).ok()?.shape();
        let shape = images.then(|| given().unwrap_or((*size, *size)));
        shape
            .filter(|(height, width)| height.checked_mul(*width) == Some(inputs))
            .unwrap_or((1, inputs))
    }

    fn layout(&self) -> &'static str {
        if self.shape(self.results().inputs).0 > 1 {
            "laid out like the images it was learned from"
        } else {
            "laid out as a strip from the first input to the last"
        }
    }

    /// The name of the group.
    fn group(&self) -> &str {
        let group = self.results().group.as_ref();
        group.map_or("no group", |group| &group.name)
    }

    fn title(&self) -> String {
        match &self.results().group {
            Some(group) => format!("The symmetry of {} is {}", self.source(), group.name),
            None => format!("Invariants of {}", self.source()),
        }
    }

    fn lead(&self) -> String {
        let from = match (&self.config.data.group, self.transform()) {
            (Some(_), _) => "random functions on a group that was named, and all their translates",
            (None, Some(_)) => "exemplars and all that a given transformation makes of them",
            (None, None) => "examples that belong together, and nothing else",
        };
        let what = match self.permutations() {
            Some(_) => "A group of permutations".into(),
            None => format!("A matrix W of {} rows", self.results().rows),
        };
        format!(
            "{what} was learned from {from}. This is what it came to on samples it had not seen."
        )
    }

    fn source(&self) -> String {
        let data = &self.config.data;
        let name = |path: &Path| {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        };
        match (&data.group, &data.samples, &data.images) {
            (Some(group), ..) => format!("random functions on {group}"),
            (_, Some(samples), _) => name(samples),
            (.., Some(images)) => {
                format!("patches of {0} × {0} pixels ({1})", data.size, name(images))
            }
            _ => "the data".into(),
        }
    }

    /// Which group was recognised, or why none was.
    fn recognised(&self) -> String {
        match (&self.results().group, &self.results().no_group) {
            (
                Some(Recognised {
                    name,
                    permutations: Some(order),
                    ..
                }),
                _,
            ) => format!(
                "The group is {name}: {order} permutations of the inputs, which are in {PERMUTATIONS}, exactly. Its invariants \
                 are couplings, forms of up to three blocks of coefficients; the rows of U below are the bases of its \
                 irreducible representations."
            ),
            (Some(group), _) if group.is_coupled() => format!(
                "The group is {}. It moves signals linearly and permutes no inputs. Its invariants are couplings, forms of up to \
                 three blocks of coefficients; the rows of U below are the bases of its irreducible representations.",
                group.name
            ),
            (Some(group), _) => format!(
                "The group was recognised as {}: each learned row is one of its irreducible representations, with an \
                 overlap of {:.4} or more ({:.4} on average). {}",
                group.name,
                group.least_overlap,
                group.mean_overlap,
                if self.config.polish {
                    format!(
                        "In the exported model the exact ones took their places; the furthest row moved by {:.2} of its length.",
                        group.moved
                    )
                } else {
                    format!(
                        "The exported model has the rows as they were learned; the furthest is {:.2} of its length from the exact one.",
                        group.moved
                    )
                }
            ),
            (None, _) if self.results().diagnosis.is_some() => {
                let chosen = self
                    .results()
                    .diagnosis
                    .as_ref()
                    .and_then(|found| found.chosen);
                match chosen {
                    Some(group) => format!(
                        "No group was recognised. The model has the exact invariants of {group} ({}), which do no worse on \
                         samples that were held out; the filters below are what was learned.",
                        group.name()
                    ),
                    None => "No group was recognised. What the data looks like is said below; the invariants may be useful \
                             all the same."
                        .into(),
                }
            }
            (None, Some(why)) => format!(
                "No finite commutative group was recognised: {why}. The invariants may be useful all the same; the \
                 figures below say how much."
            ),
            (None, None) => "No finite commutative group was recognised.".into(),
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let transform = match self.transform() {
            Some(TransformName::Translate1d) => "shifted cyclically",
            Some(TransformName::Translate2d) => "shifted cyclically in both directions",
            Some(TransformName::Rotate) => "rotated",
            None if self.config.data.group.is_some() => "translated by every element of the group",
            None => "given samples, the same label for those that belong together",
        };
        let held_out = match self.config.split {
            Some(Split::Transforms) => "of the members of every orbit",
            _ => "of the orbits",
        };
        let Results {
            rows,
            inputs,
            steps,
            attempts,
            held_out: evaluated,
            ..
        } = self.results();
        vec![
            ("data", self.source()),
            ("orbits", transform.into()),
            (
                "held out",
                format!("{:.0} % {held_out}", 100.0 * self.config.held_out),
            ),
            (
                "looked at",
                format!(
                    "{} samples of {} orbits",
                    evaluated.samples, evaluated.orbits
                ),
            ),
            ("W", format!("{rows} rows, {inputs} inputs")),
            ("training", format!("{steps} steps in {attempts} attempts")),
            ("seed", self.config.seed.to_string()),
            (
                "program",
                format!("bispectral {}", env!("CARGO_PKG_VERSION")),
            ),
        ]
    }
}

/// Known groups beside the learned W, on the same samples.
fn known_groups(diagnosis: &Diagnosis) -> Table {
    let of = |evaluation: Option<&Evaluation>| -> [String; 3] {
        evaluation.map_or_else(
            || ["–", "–", "–"].map(String::from),
            |found| {
                [
                    scientific(found.within),
                    format!("{:.2}", found.between),
                    percent(found.nearest),
                ]
            },
        )
    };
    let table = Table::new(
        "Known groups beside the learned W. Within, between, nearest: invariants on samples that were held out. Left, others: \
         what the best element leaves of a member of the same orbit and of others, where 2 is everything",
    );
    let columns = ["within", "between", "nearest", "left", "others"];
    let table = columns.into_iter().fold(table.words(""), Table::numbers);
    let [within, between, nearest] = of(Some(&diagnosis.learned));
    let learned = [
        "learned W".into(),
        within,
        between,
        nearest,
        "–".into(),
        "–".into(),
    ];
    let table = table.row::<String>(learned);
    diagnosis.known.iter().fold(table, |table, trial| {
        let [within, between, nearest] = of(trial.evaluation.as_ref());
        table.row([
            format!("{} ({})", trial.group, trial.name),
            within,
            between,
            nearest,
            format!("{:.2}", trial.aligned_within),
            format!("{:.2}", trial.aligned_between),
        ])
    })
}

/// With a capital letter and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    format!("{first}{}.", letters.as_str())
}
