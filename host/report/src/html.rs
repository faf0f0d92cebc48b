//! A page as one HTML file: figures inside, nothing from the network, light or dark as the reader's system is.

use crate::drawing::{DrawingError, expect_some};
use crate::page::{Block, Figure, Page, Table};
use crate::printable::printable;
use crate::svg;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeSet;
use std::fmt;

const STYLE: &str = include_str!("report.css");
/// Shows the value under the pointer, or by arrow keys, below a figure; without it there are tooltips.
pub const EXPLORE: &str = include_str!("explore.js");
/// Whatever a page says, a browser loads nothing for it, and runs [`EXPLORE`] alone, which it knows by its hash:
/// `openssl dgst -sha256 -binary explore.js | base64`.
const POLICY: &str = "default-src 'none'; script-src 'sha256-8W3E0GrWtu1xR0yq16CXWX6CNr6qtCqF5UZrxmvIUUI='; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Bytes of all figures together; a browser would take long to open more.
const MOST_DRAWN: usize = 32 << 20;

/// A finished file.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// Its text.
    pub html: String,
    /// Figures that are in it.
    pub figures: usize,
    /// Why others are not; the page says so in their places.
    pub faults: Vec<Fault>,
}

/// A figure that is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What it is called.
    pub name: String,
    /// Why it is not.
    pub error: DrawingError,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&format!("{}: {}", self.name, self.error)).replace('\n', " "))
    }
}

/// The page as HTML. Words are shown as they are, whatever is in them.
#[must_use]
pub fn render(page: &Page) -> Rendered {
    let mut renderer = Renderer::default();
    let html = renderer.page(page).into_string();
    Rendered {
        // What is neither markup nor words has no character that would be obeyed.
        html: printable(&html),
        figures: renderer.figures,
        faults: renderer.faults,
    }
}

#[derive(Default)]
struct Renderer {
    figures: usize,
    bytes: usize,
    faults: Vec<Fault>,
    ids: BTreeSet<String>,
}

impl Renderer {
    fn page(&mut self, page: &Page) -> Markup {
        let sections = (1..).zip(&page.sections);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (page.title) }
                    style { (PreEscaped(STYLE)) (PreEscaped(svg::style())) }
                }
                body {
                    main {
                        header {
                            h1 { (page.title) }
                            p.lead { (page.lead) }
                        }
                        @if page.sections.len() > 1 {
                            nav aria-label="Contents" {
                                ol {
                                    @for (number, section) in sections.clone() {
                                        li { a href={ "#section-" (number) } { (section.title) } }
                                    }
                                }
                            }
                        }
                        @for (number, section) in sections {
                            section id={ "section-" (number) } {
                                h2 { (section.title) }
                                @for block in &section.blocks { (self.block(block)) }
                            }
                        }
                        footer {
                            p { "Made by bispectral " (env!("CARGO_PKG_VERSION")) ". Rest on a figure, or move through it by arrow keys, to read its values." }
                        }
                    }
                    script { (PreEscaped(EXPLORE)) }
                }
            }
        }
    }

    fn block(&mut self, block: &Block) -> Markup {
        match block {
            Block::Paragraph(text) => html! { p { (text) } },
            Block::Table(table) => self::table(table),
            Block::Figure(figure) => self.figure(figure),
            Block::Facts(facts) => html! {
                dl { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
            },
            Block::Preformatted(text) => html! {
                pre tabindex="0" { code { (text) } }
            },
        }
    }

    fn figure(&mut self, figure: &Figure) -> Markup {
        let id = self.id(&figure.name);
        let drawn = figure.drawing.picture().and_then(|picture| {
            let markup = picture.inline(&figure.alt);
            self.bytes += markup.0.len();
            expect_some("bytes of figures", self.bytes, MOST_DRAWN)?;
            Ok(markup)
        });
        self.figures += usize::from(drawn.is_ok());
        if let Err(error) = &drawn {
            let (name, error) = (figure.name.clone(), error.clone());
            self.faults.push(Fault { name, error });
        }
        html! {
            figure id=(id) {
                @match &drawn {
                    Ok(markup) => {
                        div.sheet {
                            // Open, the style sheet shows what follows over the whole window.
                            details { summary { span { "Enlarge" } span { "Close" } } }
                            div.card tabindex="0" role="group" aria-label={ (figure.alt) ". Arrow keys read its values." } { (markup) }
                            p.value role="status" {}
                        }
                    }
                    Err(error) => p.missing role="note" { strong { "This picture is missing. " } (figure.name) ": " (error) },
                }
                figcaption { (figure.caption) }
            }
        }
    }

    /// A name in letters that an address may have, each only once.
    fn id(&mut self, name: &str) -> String {
        let stem = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let mut id = format!("figure-{stem}");
        while self.ids.contains(&id) {
            // No other figure has this number.
            id = format!("figure-{stem}-{}", self.ids.len() + 1);
        }
        self.ids.insert(id.clone());
        id
    }
}

fn table(table: &Table) -> Markup {
    let class = |place: usize| {
        let column = table.columns.get(place)?;
        column.numbers.then_some("number")
    };
    html! {
        div.scroll tabindex="0" {
            table {
                // A caption is as wide as its table; on narrow screens this much of it stays in sight.
                caption { span { (table.caption) } }
                thead {
                    tr {
                        @for (place, column) in table.columns.iter().enumerate() {
                            th scope="col" class=[class(place)] { (column.name) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr class=[row.published.then_some("published")] {
                            @for (place, cell) in row.cells.iter().enumerate() {
                                @if place == 0 {
                                    th scope="row" {
                                        (cell)
                                        @if row.published { " " small { "published" } }
                                    }
                                } @else {
                                    td class=[class(place)] { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cayley, Drawing, Section, Tiles, fixture};

    const WICKED: &str = "<script>alert(\"1\")</script> ' & \u{1b}[2J\u{202e}\u{0}";
    const SHOWN: &str =
        "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; ' &amp; \\u{1b}[2J\\u{202e}\\u{0}";

    #[test]
    fn whatever_words_say_they_are_shown_and_nothing_is_obeyed_or_loaded() {
        // The one script there is, and what is left without it.
        let script = format!("<script>{EXPLORE}</script>");
        let without = |page: &Page| {
            let html = render(page).html;
            assert_eq!(html.matches(&script).count(), 1);
            html.replace(&script, "")
        };
        assert!(fixture::elements(&without(&Page::new("", ""))) > 10);
        let html = without(&fixture::every_kind(WICKED));
        fixture::elements(&html);
        assert!(!html.contains(['\u{1b}', '\u{202e}', '\u{0}']));
        let network = ["http:", "https:", "url(", "@import", "src=", "base64"];
        let elements = ["<script", "alert(\"1\")", "<iframe", "<img"];
        for forbidden in network.into_iter().chain(elements) {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        // Title, heading and lead; in each section its entry and heading, 8 of words and of the table, 3 of facts and
        // text, a caption and an alternative each figure, the missing one's name and reason instead of the latter; and
        // in tooltips and texts of the drawings 13 or more.
        let shown = html.matches(SHOWN).count();
        assert!(shown >= 3 + 2 * (2 + 8 + 3 + 2 * 7 + 1 + 13), "{shown}");
        assert!(html.contains("content=\"default-src 'none'; "));
        for needed in [":root {", ".drawing {", "@media print", "name=\"viewport\""] {
            assert!(html.contains(needed), "{needed}");
        }
        let dark = html.matches("@media screen and (prefers-color-scheme: dark)");
        assert_eq!(dark.count(), 2, "of the page and of its drawings");
    }

    #[test]
    fn a_figure_is_an_image_with_its_alternative_and_an_id_of_its_own() {
        let table = || Cayley::new(&[0], &[0], None, "Z1");
        let section = Section::new("s").figure("group/cayley", table(), "a table", "one");
        let section = section
            .figure("group cayley", table(), "a table", "two")
            .figure("f", Drawing::Missing("why".into()), "", "");
        let rendered = render(&Page::new("t", "l").section(section));
        assert_eq!((rendered.figures, rendered.faults.len()), (2, 1));
        assert_eq!(rendered.faults[0].to_string(), "f: why");
        for needed in [
            "role=\"img\" aria-label=\"a table\"",
            "id=\"figure-group-cayley\"",
            "id=\"figure-group-cayley-2\"",
            "This picture is missing. </strong>f: why</p>",
        ] {
            assert!(rendered.html.contains(needed), "{needed}");
        }
    }

    #[test]
    fn figures_of_a_page_are_bounded_together() {
        // No two neighbours alike, so that nothing is written together.
        let cells = (0..1 << 18).map(|cell: u32| (cell.wrapping_mul(2_654_435_761) >> 20) as f32);
        let tiles = Tiles::new(cells, (512, 512), 1, &[]).unwrap();
        let section = (0..30).fold(Section::new("s"), |section, _| {
            section.figure("f", tiles.clone(), "", "")
        });
        let rendered = render(&Page::new("t", "l").section(section));
        assert!(rendered.html.len() < MOST_DRAWN + (1 << 20));
        assert!(rendered.figures > 10 && !rendered.faults.is_empty());
    }
}
