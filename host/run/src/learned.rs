//! The page of what was learned, in memory: what `bispectral report` shows of a run, without its folder.

use crate::Results;
use crate::figures;
use bispectral_learn::Learned;
use bispectral_learn::group::LearnedTable;
use bispectral_learn::learn::Recognised;
use bispectral_report::{Page, Section};
use std::path::PathBuf;

/// Tables of more rows have cells too small to see.
const MOST_ROWS: usize = 256;

/// Results, the group's table, filters of this height and width, distances, and the losses of `metrics`: one JSON object
/// a line.
#[must_use]
pub fn page(
    title: &str,
    learned: &Learned,
    (height, width): (usize, usize),
    metrics: &str,
) -> Page {
    let results = Results::of(learned, PathBuf::new());
    let w = learned.weights();
    let mut order: Vec<usize> = (0..w.nrows()).collect();
    if let Ok(found) = learned.identification()
        && found.characters.len() == order.len()
    {
        order.sort_by_key(|&row| found.characters[row]);
    }
    let recognised = match (learned.group(), &results.no_group) {
        (Some(group), _) => format!("The group was recognised as {}.", group.name),
        (None, Some(why)) => format!("No group was recognised: {why}."),
        (None, None) => "No group was recognised.".into(),
    };
    let table = figures::results(
        "On samples that were held out, computed by bispectral-core from the model",
        &[("this run", &results)],
    );
    let mut page = Page::new(
        title,
        format!(
            "A matrix W of {} rows was learned. This is what it came to on samples it had not seen.",
            results.rows
        ),
    )
    .section(Section::new("Results").paragraph(recognised).table(table));
    let coupled = |group: &&Recognised| group.is_coupled();
    if let Some(group) = learned.group().filter(coupled) {
        let action = learned.action();
        if let Some(action) = action.filter(|action| action.order() <= MOST_ROWS) {
            let cayley = figures::exact_cayley("cayley", &action.table(), &group.name);
            page = page.section(Section::new("The group").block(cayley));
        }
    } else if let Some(group) = learned.group().filter(|_| w.nrows() <= MOST_ROWS) {
        let cayley = match LearnedTable::of(&w) {
            Ok(table) => {
                let title = format!("{}, as it was learned", group.name);
                let drawing = figures::cayley_drawing(&table, &order, &title);
                figures::cayley("cayley", drawing, &group.name)
            }
            Err(error) => figures::missing("cayley", &error),
        };
        page = page.section(Section::new("The group").block(cayley));
    }
    let (shape, layout) = if height * width == w.ncols() && height > 1 {
        (
            (height, width),
            "laid out like the images it was learned from",
        )
    } else {
        (
            (1, w.ncols()),
            "laid out as a strip from the first input to the last",
        )
    };
    let rows = figures::Rows::of(learned.group());
    page.section(
        Section::new("The filters")
            .block(figures::filters("filters", w, shape, &order, layout, rows)),
    )
    .section(
        Section::new("Within orbits and between them")
            .block(figures::distances("distances", learned.distances())),
    )
    .section(Section::new("Training").block(figures::losses("loss", metrics, "this run")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bispectral_learn::{Options, Orbits, learn};
    use bispectral_report::render;

    #[test]
    fn the_page_names_the_group_and_draws_it() {
        let orbits = Orbits::of_group(&"Z3xZ3".parse().unwrap(), 20, 0);
        let learned = learn(&orbits, &Options::default()).unwrap();
        let metrics = r#"{"attempt":1,"phase":1,"step":1,"invariance":0.1,"reconstruction":0.0,"total":0.1,"gradient":0.0,"lr":0.0}"#;
        let page = page("What moves it", &learned, (3, 3), &format!("{metrics}\n"));
        let rendered = render(&page);
        assert!(rendered.html.contains("recognised as Z3xZ3"));
        assert_eq!(rendered.figures, 4, "{:?}", rendered.faults);
    }
}
