//! A page as one HTML file: pictures inside, nothing from the network, light or dark as the reader's system is.

use super::page::{Block, Figure, Page, Table};
use super::pictures::{Pictures, Png};
use crate::export::NewFile;
use crate::printable::printable;
use crate::{Error, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::path::{Path, PathBuf};

/// What a report is called in its folder.
pub const REPORT: &str = "report.html";

const STYLE: &str = include_str!("report.css");
/// Whatever a page says, a browser loads nothing and runs nothing for it.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Bytes of all pictures together; a browser would take long to open more.
const MOST_BYTES: usize = 100 << 20;
/// On narrow screens a picture is scrolled rather than made narrower than this, in the page's letter size: its
/// letters would not be read.
const NARROWEST: &str = "36rem";

/// A finished file.
#[derive(Debug)]
pub struct Rendered {
    /// Its text.
    pub html: String,
    /// Pictures that are in it.
    pub figures: usize,
    /// Why others are not; the page says so in their places.
    pub faults: Vec<Error>,
}

/// Writes `page` into `folder`, as `page.json` and as `report.html`, and says where the latter is. Its pictures are
/// files of the folder.
///
/// # Errors
/// A file cannot be written. A picture that cannot be shown is no error.
pub fn publish(page: &Page, folder: &Path) -> Result<PathBuf> {
    page.write(folder)?;
    let path = folder.join(REPORT);
    let mut file = NewFile::create(&path, true)?;
    file.write(render(page, &Pictures::of(folder)).html.as_bytes())?;
    file.commit()?;
    Ok(path)
}

/// The page as HTML. Words are shown as they are, whatever is in them.
///
/// ```
/// use bispectral::report::{html, page::{Page, Section}, pictures::Pictures};
/// use std::path::Path;
///
/// let page = Page::new("A <group>", "Learned.").section(Section::new("Results").paragraph("Z8 & Z4xZ2"));
/// let rendered = html::render(&page, &Pictures::of(Path::new(".")));
/// assert!(rendered.html.contains("<h1>A &lt;group&gt;</h1>"));
/// ```
#[must_use]
pub fn render(page: &Page, pictures: &Pictures) -> Rendered {
    let mut renderer = Renderer {
        pictures,
        figures: 0,
        bytes: 0,
        faults: Vec::new(),
    };
    let html = renderer.page(page).into_string();
    Rendered {
        // What is neither markup nor words has no character that would be obeyed.
        html: printable(&html),
        figures: renderer.figures,
        faults: renderer.faults,
    }
}

struct Renderer<'a> {
    pictures: &'a Pictures,
    figures: usize,
    bytes: usize,
    faults: Vec<Error>,
}

impl Renderer<'_> {
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
                    // Else a browser asks the server for one.
                    link rel="icon" href="data:,";
                    title { (page.title) }
                    style { (PreEscaped(STYLE)) }
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
                            p { "Made by bispectral " (env!("CARGO_PKG_VERSION")) ". A picture opens large by a click, and closes by another." }
                        }
                    }
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
        let picture = self.picture(&figure.file);
        html! {
            figure {
                @match &picture {
                    Ok(png) => (image(png, &figure.alt)),
                    Err(error) => p.missing role="note" { strong { "This picture is missing. " } (error) },
                }
                figcaption { (figure.caption) }
            }
        }
    }

    fn picture(&mut self, name: &str) -> Result<Png> {
        let loaded = self.pictures.load(name).and_then(|png| {
            if self.bytes + png.bytes.len() > MOST_BYTES {
                let what = format!("the pictures before it have {} MB", self.bytes >> 20);
                return Err(Error::new(name, what, "show fewer on a page"));
            }
            Ok(png)
        });
        match &loaded {
            Ok(png) => {
                self.bytes += png.bytes.len();
                self.figures += 1;
            }
            Err(error) => self.faults.push(error.clone()),
        }
        loaded
    }
}

/// In a disclosure without content: open, the style sheet shows the picture over the whole window.
fn image(png: &Png, alt: &str) -> Markup {
    let Png { width, height, .. } = png;
    let source = format!(
        "data:image/png;base64,{}",
        BASE64_STANDARD.encode(&png.bytes)
    );
    let narrowest = format!("min-width:min({width}px,{NARROWEST})");
    html! {
        details {
            summary title="Enlarge or close" {
                img src=(source) alt=(alt) width=(width) height=(height) style=(narrowest);
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let class = |place: usize| {
        let numbers = table
            .columns
            .get(place)
            .is_some_and(|column| column.numbers);
        numbers.then_some("number")
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
    use super::super::page::Section;
    use super::*;
    use crate::report::cayley;

    const WICKED: &str = "<script>alert(\"1\")</script> ' & \u{1b}[2J\u{202e}\u{0}";

    fn rendered(page: &Page) -> Rendered {
        let mut pictures = Pictures::of(Path::new("nowhere"));
        pictures.add("sound.png", cayley::png(&[0], &[0], None, ""));
        render(page, &pictures)
    }

    fn wicked() -> Page {
        let table = Table::new(WICKED)
            .words(WICKED)
            .numbers(WICKED)
            .row([WICKED, "1", "one too many"])
            .published([WICKED]);
        let section = Section::new(WICKED)
            .paragraph(WICKED)
            .table(table)
            .figure("sound.png", WICKED, WICKED)
            .figure(WICKED, WICKED, WICKED)
            .facts([(WICKED, WICKED)])
            .preformatted(format!("{WICKED}\nsecond line"));
        Page::new(WICKED, WICKED)
            .section(section.clone())
            .section(section)
    }

    /// That every element that is opened is closed in its turn; returns how many there are.
    fn elements(html: &str) -> usize {
        const VOID: [&str; 3] = ["meta", "link", "img"];
        let (mut open, mut count) = (Vec::new(), 0);
        let body = html.strip_prefix("<!DOCTYPE html>").unwrap();
        for part in body.split('<').skip(1) {
            let (tag, _) = part.split_once('>').expect("every tag ends");
            let name = tag.split_whitespace().next().unwrap();
            match name.strip_prefix('/') {
                Some(closed) => assert_eq!(open.pop(), Some(closed), "{open:?}"),
                None if VOID.contains(&name) => count += 1,
                None => {
                    open.push(name);
                    count += 1;
                }
            }
            let quotes = tag.matches('"').count();
            assert!(quotes.is_multiple_of(2), "{tag}");
        }
        assert!(open.is_empty(), "{open:?}");
        count
    }

    #[test]
    fn whatever_words_say_they_are_shown_and_not_obeyed() {
        let html = rendered(&wicked()).html;
        assert!(!html.contains("<script") && !html.contains("alert(\"1\")"));
        assert!(!html.contains(['\u{1b}', '\u{202e}', '\u{0}']));
        let shown =
            "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; ' &amp; \\u{1b}[2J\\u{202e}\\u{0}";
        // Title, heading, lead, and in each section its entry, heading and 13 more; the missing file is named too.
        assert!(html.matches(shown).count() >= 3 + 2 * 15, "{html}");
    }

    #[test]
    fn every_element_is_closed() {
        for page in [wicked(), Page::new("", "")] {
            assert!(elements(&rendered(&page).html) > 10);
        }
    }

    #[test]
    fn nothing_comes_from_the_network_and_both_schemes_are_there() {
        let html = rendered(&wicked()).html;
        for forbidden in ["http:", "https:", "url(", "@import", "src=\"//", "<iframe"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        assert_eq!(
            html.matches("src=").count(),
            html.matches("src=\"data:image/png;base64,").count()
        );
        assert!(html.contains("content=\"default-src 'none'; "));
        for needed in [
            "(prefers-color-scheme: dark)",
            "@media print",
            "name=\"viewport\"",
        ] {
            assert!(html.contains(needed), "{needed}");
        }
    }

    #[test]
    fn a_picture_that_cannot_be_shown_is_a_sentence_in_its_place() {
        let page = Page::new("t", "l").section(
            Section::new("s")
                .figure("sound.png", "a table", "one")
                .figure("absent.png", "nothing", "two"),
        );
        let rendered = rendered(&page);
        assert_eq!((rendered.figures, rendered.faults.len()), (1, 1));
        assert!(
            rendered
                .html
                .contains("This picture is missing. </strong>absent.png: ")
        );
        assert!(rendered.html.contains("alt=\"a table\" width=\"700\""));
    }

    #[test]
    fn a_page_is_published_with_what_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = publish(&wicked(), folder.path()).unwrap();
        assert_eq!(path, folder.path().join(REPORT));
        assert_eq!(Page::read(folder.path()).unwrap(), wicked());
        assert!(std::fs::read_to_string(path).unwrap().ends_with("</html>"));
    }
}
