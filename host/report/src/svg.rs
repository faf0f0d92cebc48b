//! The elements drawings are made of, pictures that are put together from smaller ones, and about how wide a text is.

use crate::colour;
use crate::printable::printable;
use maud::{Markup, PreEscaped, html};

/// Right and down from the upper left corner, in pixels where the drawing has its own size.
pub(crate) type Point = (f64, f64);

/// Sizes of letters.
const TITLE_SIZE: f64 = 17.0;
pub(crate) const LABEL_SIZE: f64 = 14.0;
pub(crate) const NUMBER_SIZE: f64 = 12.5;
/// What is wider is made smaller on a page: `report.css` gives figures 63 rem less two borders.
#[cfg(test)]
pub(crate) const PAGE: f64 = 1006.0;
/// Room around every drawing, and above one that has a title.
const MARGIN: f64 = 14.0;
const HEAD: f64 = 44.0;
/// A drawing is not made smaller than this part of its size, but scrolled: its letters would not be read.
const SMALLEST: f64 = 0.75;
const STYLE: &str = include_str!("drawing.css");

/// What a drawing or a part of it looks like, with its upper left corner at the origin.
pub(crate) struct Picture {
    pub(crate) size: Point,
    pub(crate) body: Markup,
}

/// Colours and letters of all drawings, for the head of a page or inside a file of its own.
pub(crate) fn style() -> String {
    format!("{STYLE}{}", colour::style())
}

impl Picture {
    pub(crate) fn new(size: Point, body: Markup) -> Self {
        Picture { size, body }
    }

    /// Pictures from left to right.
    pub(crate) fn row(parts: impl IntoIterator<Item = Picture>, gap: f64) -> Self {
        Self::arranged(parts, |(right, _)| (right + gap, 0.0))
    }

    /// Pictures from above.
    pub(crate) fn column(parts: impl IntoIterator<Item = Picture>, gap: f64) -> Self {
        Self::arranged(parts, |(_, bottom)| (0.0, bottom + gap))
    }

    /// Pictures of which each begins where `next` says, given the lower right corner of the one before.
    fn arranged(parts: impl IntoIterator<Item = Picture>, next: impl Fn(Point) -> Point) -> Self {
        let (mut at, mut size, mut body) = ((0.0, 0.0), (0.0_f64, 0.0_f64), String::new());
        for part in parts {
            let moved = html! { g transform=(moved(at)) { (part.body) } };
            body.push_str(&moved.0);
            let end = (at.0 + part.size.0, at.1 + part.size.1);
            size = (size.0.max(end.0), size.1.max(end.1));
            at = next(end);
        }
        Picture::new(size, PreEscaped(body))
    }

    /// The whole drawing, with room around it and a title above, if there is one.
    pub(crate) fn titled(self, title: &str) -> Self {
        let top = if title.is_empty() { MARGIN } else { HEAD };
        let body = html! {
            g.title { (text((MARGIN, MARGIN + 9.0), Anchor::Start, TITLE_SIZE, self.size.0, title)) }
            g transform=(moved((MARGIN, top))) { (self.body) }
        };
        Picture::new(
            (self.size.0 + 2.0 * MARGIN, self.size.1 + top + MARGIN),
            body,
        )
    }

    /// Within a page that has the [`style`].
    pub(crate) fn inline(&self, alt: &str) -> Markup {
        let (width, height) = (self.size.0.ceil(), self.size.1.ceil());
        let narrowest = format!("min-width:{}px", (width * SMALLEST).ceil());
        html! {
            svg.drawing role="img" aria-label=(alt) viewBox={ "0 0 " (width) " " (height) }
                width=(width) height=(height) style=(narrowest) { (self.body) }
        }
    }

    /// As a file of its own.
    pub(crate) fn file(&self, title: &str, description: &str) -> String {
        let (width, height) = (self.size.0.ceil(), self.size.1.ceil());
        let markup = html! {
            svg.drawing xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description"
                viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
                title id="title" { (title) }
                desc id="description" { (description) }
                style { (PreEscaped(style())) }
                (self.body)
            }
        };
        printable(&markup.into_string())
    }
}

/// A coordinate to a tenth of a pixel; no letter of NaN or infinity is ever written.
pub(crate) fn px(coordinate: f64) -> f64 {
    let rounded = (coordinate * 10.0).round() / 10.0;
    // −0 + 0 is 0.
    if rounded.is_finite() {
        rounded + 0.0
    } else {
        0.0
    }
}

/// Where a text stands by the point that is given for it.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text with its middle at the height of `at`, cut where it is wider than `room`.
pub(crate) fn text(at: Point, anchor: Anchor, size: f64, room: f64, words: &str) -> Markup {
    let shown = fit(words, size, room);
    let anchor = match anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("middle"),
        Anchor::End => Some("end"),
    };
    html! {
        text x=(px(at.0)) y=(px(at.1)) dy="0.35em" font-size=(size) text-anchor=[anchor] {
            @if shown != words { title { (words) } }
            (shown)
        }
    }
}

/// What is short enough in any case.
pub(crate) fn number(at: Point, anchor: Anchor, words: &str) -> Markup {
    text(at, anchor, NUMBER_SIZE, f64::INFINITY, words)
}

/// A transform that puts the origin at a point.
pub(crate) fn moved((x, y): Point) -> String {
    format!("translate({} {})", px(x), px(y))
}

/// A straight line.
pub(crate) fn line(class: &str, from: Point, to: Point) -> Markup {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(px);
    html! { path class=(class) d={ "M" (x1) " " (y1) "L" (x2) " " (y2) } {} }
}

/// A rectangle, with a tooltip for what is inside, or none.
pub(crate) fn rectangle(class: &str, at: Point, (width, height): Point, tooltip: &str) -> Markup {
    html! {
        rect class=(class) x=(px(at.0)) y=(px(at.1)) width=(px(width)) height=(px(height)) {
            @if !tooltip.is_empty() { title { (tooltip) } }
        }
    }
}

/// About how wide a text is. Readers' letters differ: these are DejaVu's, which are among the widest.
pub(crate) fn width(words: &str, size: f64) -> f64 {
    let letter = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | '(' | ')' => 0.38,
        'm' | 'w' | 'M' | 'W' | '—' | '%' => 0.98,
        'A'..='Z' => 0.7,
        // Marks above or below the letter before.
        '\u{300}'..='\u{36f}' => 0.0,
        // Scripts whose letters are squares.
        '\u{2e80}'.. => 1.0,
        // Shown by its number.
        control if control.is_control() => 4.0,
        _ => 0.62,
    };
    words.chars().map(letter).sum::<f64>() * size
}

/// The widest of some numbers or names.
pub(crate) fn widest<'a>(words: impl IntoIterator<Item = &'a str>) -> f64 {
    let widths = words.into_iter().map(|words| width(words, NUMBER_SIZE));
    widths.fold(0.0, f64::max)
}

/// As much of the beginning of a text as has room.
fn fit(words: &str, size: f64, room: f64) -> String {
    if width(words, size) <= room {
        return words.into();
    }
    let mut left = room - width("…", size);
    let fits = |letter: &char| {
        left -= width(letter.encode_utf8(&mut [0; 4]), size);
        left >= 0.0
    };
    let taken: String = words.chars().take_while(fits).collect();
    format!("{}…", taken.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_room_is_cut_and_whole_in_its_tooltip() {
        let svg = |words| text((0.0, 0.0), Anchor::End, 10.0, 60.0, words).into_string();
        let long = svg("a rather long name <b>");
        assert!(long.contains("><title>a rather long name &lt;b&gt;</title>a rathe"));
        assert!(long.contains("…</text>"), "{long}");
        assert!(svg("short").contains("text-anchor=\"end\">short</text>"));
    }

    #[test]
    fn a_coordinate_is_always_a_number() {
        let all = [f64::NAN, f64::INFINITY, -0.001, 1.26].map(px);
        assert_eq!(all.map(|x| x.to_string()), ["0", "0", "0", "1.3"]);
    }

    #[test]
    fn pictures_stand_beside_and_below_each_other() {
        let part = |size| Picture::new(size, html! {});
        let row = Picture::row([part((10.0, 5.0)), part((20.0, 7.0))], 3.0);
        assert_eq!(row.size, (33.0, 7.0));
        let column = Picture::column([row, part((40.0, 1.0))], 2.0);
        assert_eq!(column.size, (40.0, 10.0));
        assert!(column.body.into_string().contains("translate(0 9)"));
    }
}
