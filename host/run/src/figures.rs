//! The figures and tables that several pages show, and what is to be seen in them.

use crate::Results;
use bispectral_learn::Error;
use bispectral_learn::analysis::evaluation;
use bispectral_learn::group::{self, LearnedTable};
use bispectral_learn::learn::Recognised;
use bispectral_report::number::{percent, scientific};
use bispectral_report::{Block, Cayley, Distances, Drawing, Figure, Filters, Losses, Table};
use ndarray::ArrayView2;
use num_complex::Complex32;

fn figure(name: &str, drawing: impl Into<Drawing>, alt: &str, caption: String) -> Block {
    Block::Figure(Figure {
        name: name.into(),
        drawing: drawing.into(),
        alt: alt.into(),
        caption,
    })
}

/// What would be seen in a figure that cannot be drawn, and why.
#[must_use]
pub fn missing(name: &str, why: &Error) -> Block {
    let drawing = Drawing::Missing(why.to_string());
    figure(name, drawing, "Nothing to see", String::new())
}

/// What is known of the rows of W.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// They are characters of a group, or nearly.
    Characters,
    /// They are bases of irreducible representations, of which one may have several dimensions.
    Bases,
    /// Nothing.
    Unrecognised,
}

impl Rows {
    /// As a run recognised them.
    #[must_use]
    pub fn of(group: Option<&Recognised>) -> Self {
        match group {
            Some(group) if group.is_coupled() => Rows::Bases,
            Some(_) => Rows::Characters,
            None => Rows::Unrecognised,
        }
    }

    /// What to see in them.
    fn words(self) -> &'static str {
        match self {
            Rows::Characters => {
                "Irreps of shifts and rotations look like waves: the imaginary part is the real part a quarter of a period on, \
                 or zero where a row takes two values only."
            }
            Rows::Bases => "Rows of one irreducible representation are moved among themselves.",
            Rows::Unrecognised => {
                "No group was recognised in them: what looks like noise is no irrep, and waves among it are frequencies that \
                 were learned."
            }
        }
    }
}

/// The rows of W, in this order, each an image of height and width.
#[must_use]
pub fn filters(
    name: &str,
    w: ArrayView2<'_, Complex32>,
    shape: (usize, usize),
    order: &[usize],
    what: &str,
    rows: Rows,
) -> Block {
    let weights = w.iter().map(|w| (w.re, w.im));
    figure(
        name,
        Filters::new(weights, shape, order),
        "The learned filters, their real parts and their imaginary parts, red where positive and blue where negative",
        format!(
            "What was learned: each small picture is one row of W, {what}. {}",
            rows.words()
        ),
    )
}

/// The multiplication table of the rows, in this order.
#[must_use]
pub fn cayley(name: &str, drawing: impl Into<Drawing>, group: &str) -> Block {
    figure(
        name,
        drawing,
        "A square table of colours with a second one beside it that is strong blue where the first is certain",
        format!(
            "The Cayley table that the rows imply: the colour of cell (a, b) says which row the product of rows a and b \
             is most like. A group's table has every colour once in each row and column, and its pattern is that of {group}. \
             At the right, how much of each product is that one row: strong blue everywhere is certainty."
        ),
    )
}

/// The table that W implies, with how sure each cell is.
#[must_use]
pub fn cayley_drawing(learned: &LearnedTable, order: &[usize], title: &str) -> Drawing {
    let products = learned.table().products();
    Cayley::new(products, order, Some(learned.confidences()), title).into()
}

/// The exact table of a group of permutations.
#[must_use]
pub fn exact_cayley(name: &str, table: &group::Cayley, group: &str) -> Block {
    let order: Vec<usize> = (0..table.order()).collect();
    let title = format!("Cayley table of {group}");
    figure(
        name,
        Cayley::new(table.products(), &order, None, title),
        "A square table of colours, every colour once in each row and each column",
        format!(
            "The Cayley table of the permutations that were found: the colour of cell (a, b) says which one b and then a is. \
             It is exact, and proven to be that of {group} where that is a name. A table that is not symmetric about its \
             diagonal is of a group that does not commute."
        ),
    )
}

/// Distances within and between orbits.
#[must_use]
pub fn distances(name: &str, distances: &evaluation::Distances) -> Block {
    let orbits = distances.orbits.iter();
    let orbits: Vec<(String, usize)> = orbits
        .map(|(label, members)| (label.to_string(), *members))
        .collect();
    let title = "‖β̄(a) − β̄(b)‖ of samples never trained on";
    figure(
        name,
        Distances::new(distances.matrix.iter().copied(), &orbits, title),
        "A square of blocks, one for each two orbits: those on the diagonal are strong blue, all others are pale",
        "Samples that were not trained on, several members of each of some orbits: strong blue means that their invariants \
         are the same. Strong blocks on the diagonal and nowhere else are what is wanted: members of one orbit cannot be \
         told from each other, those of different orbits can."
            .into(),
    )
}

/// Losses over the steps of a run, from the text of its metrics.
#[must_use]
pub fn losses(name: &str, metrics: &str, what: &str) -> Block {
    figure(
        name,
        Losses::from_metrics(metrics),
        "Two falling curves over the steps of the training, on a logarithmic axis",
        format!(
            "The losses of {what}, on a logarithmic axis: how much the invariants (or |z|² before them) change along an orbit, \
             and how much of a signal W loses. Grey lines mark where another phase or attempt begins."
        ),
    )
}

/// Coefficients and invariants while a signal moves.
#[must_use]
pub fn equivariance(name: &str, drawing: impl Into<Drawing>) -> Block {
    figure(
        name,
        drawing,
        "Above, phases of three coefficients turn steadily as the patch is shifted; below, the invariants stay near zero change",
        "One patch that was not trained on, shifted to the right pixel by pixel until it is back. Above: each \
         coefficient zᵢ turns at the rate of its irrep; marks are measured, dashes predicted. Below: the signal changes by as \
         much as its own size, the invariants by rounding only."
            .into(),
    )
}

/// What runs came to on what was held out, one column a run, with what would be best beside them.
#[must_use]
pub fn results(caption: &str, runs: &[(&str, &Results)]) -> Table {
    let table = runs
        .iter()
        .fold(Table::new(caption).words(""), |table, (name, _)| {
            table.numbers(*name)
        });
    let row = |table: Table, name: &str, best: &str, value: &dyn Fn(&Results) -> String| {
        let values = runs.iter().map(|(_, results)| value(results));
        let cells = [name.to_owned()].into_iter().chain(values);
        table.row(cells.chain([best.to_owned()]))
    };
    // Only β̄ has unit length.
    let is_coupled = |(_, results): &(&str, &Results)| {
        let group = results.group.as_ref();
        group.is_some_and(Recognised::is_coupled)
    };
    let between = if runs.iter().any(is_coupled) {
        "far above that"
    } else {
        "about 2"
    };
    let mut table = table.numbers("wanted");
    table = row(table, "group that was recognised", "", &|results| {
        let group = results.group.as_ref();
        group.map_or_else(|| "none".into(), |group| group.name.clone())
    });
    table = row(
        table,
        "least overlap of learned rows with exact irreps",
        "1",
        &|results| {
            let group = results.group.as_ref();
            let group = group.filter(|group| !group.is_coupled());
            group.map_or_else(|| "—".into(), |group| format!("{:.4}", group.least_overlap))
        },
    );
    table = row(
        table,
        "mean squared distance within orbits",
        "0",
        &|results| scientific(results.held_out.within),
    );
    table = row(
        table,
        "mean squared distance between orbits",
        between,
        &|results| format!("{:.2}", results.held_out.between),
    );
    table = row(
        table,
        "nearest other sample is of the same orbit",
        "100 %",
        &|results| percent(results.held_out.nearest),
    );
    row(table, "share of a signal that W loses", "0", &|results| {
        scientific(results.held_out.reconstruction)
    })
}
