//! For tests: a page with every kind of block and drawing, and whether markup is well formed as XML wants it.

use crate::svg::Picture;
use crate::{Cayley, Chart, Confusion, Curve, Distances, Drawing, DrawingError, Filters, Losses};
use crate::{Page, Panel, Scale, Section, Table, Tiles};

/// Every text is the same. Two sections with eight figures each, of which one is missing.
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
    let drawings: [Drawing; 8] = [
        chart.into(),
        Losses::from_metrics(metrics).into(),
        Cayley::new(&[0, 1, 1, 0], &[0, 1], Some(&[0.5; 4]), words).into(),
        Distances::new([0.0], &[(words.into(), 1)], words).into(),
        Confusion::new(&[words.into()], [3], words).into(),
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

/// That every element is closed in its turn, every attribute is quoted and named once in its element, and no
/// character stands where it would be markup; returns how many elements there are.
pub(crate) fn elements(markup: &str) -> usize {
    let (mut open, mut count) = (Vec::new(), 0);
    let body = markup.strip_prefix("<!DOCTYPE html>").unwrap_or(markup);
    let mut parts = body.split('<');
    assert_eq!(parts.next(), Some(""), "nothing stands before the root");
    for part in parts {
        let (tag, text) = part.split_once('>').expect("every tag ends");
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(
            text.split('&').skip(1).all(|rest| rest.contains(';')),
            "{text}"
        );
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text}"
        );
        assert!(name == "style" || !text.contains('>'), "{text}");
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{open:?}");
            continue;
        }
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{name}");
        check_attributes(attributes);
        count += 1;
        // In HTML it has no end.
        if name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    count
}

fn check_attributes(mut attributes: &str) {
    let mut names = Vec::new();
    while !attributes.trim().is_empty() {
        let (name, rest) = attributes.split_once("=\"").expect("a quoted value");
        let name = name.trim();
        assert!(
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'),
            "{name}"
        );
        assert!(!names.contains(&name), "{name}");
        names.push(name);
        let (value, rest) = rest.split_once('"').expect("the end of a value");
        assert!(!value.contains(['<', '>']), "{value}");
        assert!(
            !["NaN", "inf"].iter().any(|bad| value.contains(bad)),
            "{value}"
        );
        attributes = rest;
    }
}

/// That a picture is well formed, has finite numbers only and no more than these bytes; returns its file.
pub(crate) fn sound(picture: Result<Picture, DrawingError>, most: usize) -> String {
    let file = picture.unwrap().file("t", "d");
    elements(&file);
    assert!(file.len() < most, "{}", file.len());
    file
}

#[test]
fn what_is_not_well_formed_is_noticed() {
    assert_eq!(elements("<a b=\"1\" c=\"2\">t &amp; u<d></d></a>"), 2);
    let twice = "<a b=\"1\" b=\"2\"></a>";
    let nan = "<a b=\"NaN\"></a>";
    for bad in [
        "<a>",
        "<a></b>",
        "<a b=1></a>",
        twice,
        nan,
        "<a>&</a>",
        "<a>></a>",
        "t<a></a>",
    ] {
        assert!(std::panic::catch_unwind(|| elements(bad)).is_err(), "{bad}");
    }
}
