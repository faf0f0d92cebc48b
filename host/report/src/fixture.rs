//! For tests: a page with every kind of block and drawing, in which every text is the same.

use crate::{Cayley, Chart, Curve, Distances, Drawing, Filters, Losses};
use crate::{Page, Panel, Scale, Section, Table, Tiles};

/// Two sections with seven figures each, of which one is missing.
pub(crate) fn every_kind(words: &str) -> Page {
    let curve = |predicted| Curve {
        label: words.into(),
        values: vec![0.25, 1e-12],
        predicted,
    };
    let panel = Panel {
        title: words.into(),
        y_label: words.into(),
        scale: Scale::Log,
        curves: vec![curve(None), curve(Some(vec![0.5, 1.5]))],
    };
    let chart = Chart {
        title: words.into(),
        x_label: words.into(),
        x: vec![0.0, 1.0],
        panels: vec![panel],
    };
    let metrics = "{\"phase\":1,\"step\":1,\"invariance\":1,\"reconstruction\":2}";
    let drawings: [Drawing; 7] = [
        chart.into(),
        Losses::from_metrics(metrics).into(),
        Cayley::new(&[0, 1, 1, 0], &[0, 1], Some(&[0.5; 4]), words).into(),
        Distances::new([0.0], &[(words.into(), 1)], words).into(),
        Filters::new([(1.0, 0.5)], (1, 1), &[0]).into(),
        Tiles::new([0.5], (1, 1), 1, &[words.into()]).into(),
        Drawing::Missing(words.into()),
    ];
    let table = Table::new(words).words(words).numbers(words);
    let table = table.row([words, "1", "one too many"]).published([words]);
    let section = Section::new(words)
        .paragraph(words)
        .table(table)
        .facts([(words, words)])
        .preformatted(format!("{words}\n\tsecond line"));
    let section = drawings.into_iter().fold(section, |section, drawing| {
        section.figure(words, drawing, words, words)
    });
    let page = Page::new(words, words).section(section.clone());
    page.section(section)
}
