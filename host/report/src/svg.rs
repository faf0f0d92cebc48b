//! The elements drawings are made of, and how wide a text will be about.

use crate::colour;
use crate::printable::printable;
use maud::{Markup, PreEscaped, html};

/// Right and down from the upper left corner, in pixels where the drawing has its own size.
pub(crate) type Point = (f64, f64);

/// Sizes of letters, as in `drawing.css`.
pub(crate) const TITLE_SIZE: f64 = 17.0;
pub(crate) const LABEL_SIZE: f64 = 14.0;
pub(crate) const NUMBER_SIZE: f64 = 12.5;
/// What is wider is made smaller on a page: `report.css` gives figures 63 rem less two borders.
#[cfg(test)]
pub(crate) const PAGE: f64 = 1006.0;
/// Room around every drawing.
pub(crate) const MARGIN: f64 = 14.0;
/// From the upper edge to what is below the title.
pub(crate) const HEAD: f64 = 44.0;

const STYLE: &str = include_str!("drawing.css");
/// A drawing is not made smaller than this part of its size, but scrolled: its letters would not be read.
const SMALLEST: f64 = 0.75;

/// What a drawing looks like.
pub(crate) struct Picture {
    pub(crate) size: Point,
    pub(crate) body: Markup,
}

/// Colours and letters of all drawings, for the head of a page or inside a file of its own.
pub(crate) fn style() -> String {
    format!("{STYLE}{}", colour::style())
}

impl Picture {
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

/// The heading of a drawing of this width.
pub(crate) fn title(words: &str, width: f64) -> Markup {
    let room = width - 2.0 * MARGIN;
    html! { g.title { (text((MARGIN, MARGIN + 9.0), Anchor::Start, TITLE_SIZE, room, words)) } }
}

/// A text that is read from below, with its middle at `at`.
pub(crate) fn upright((x, y): Point, size: f64, room: f64, words: &str) -> Markup {
    let turn = format!("translate({} {}) rotate(-90)", px(x), px(y));
    html! { g transform=(turn) { (text((0.0, 0.0), Anchor::Middle, size, room, words)) } }
}

/// A straight line.
pub(crate) fn line(class: &str, from: Point, to: Point) -> Markup {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(px);
    html! { path class=(class) d={ "M" (x1) " " (y1) "L" (x2) " " (y2) } {} }
}

/// The outline of a rectangle.
pub(crate) fn frame((x, y): Point, (width, height): Point) -> Markup {
    html! { rect.frame x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) {} }
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

/// As much of the beginning of a text as has room.
fn fit(words: &str, size: f64, room: f64) -> String {
    if width(words, size) <= room {
        return words.into();
    }
    let mut taken = String::new();
    let mut left = room - width("…", size);
    for letter in words.chars() {
        left -= width(letter.encode_utf8(&mut [0; 4]), size);
        if left < 0.0 {
            break;
        }
        taken.push(letter);
    }
    taken.truncate(taken.trim_end().len());
    taken + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_room_is_cut_and_whole_in_its_tooltip() {
        let markup = text(
            (0.0, 0.0),
            Anchor::Start,
            10.0,
            60.0,
            "a rather long name <b>",
        );
        let markup = markup.into_string();
        assert!(
            markup.contains("<title>a rather long name &lt;b&gt;</title>"),
            "{markup}"
        );
        assert!(markup.contains("…</text>"), "{markup}");
        let markup = text((0.0, 0.0), Anchor::End, 10.0, 60.0, "short").into_string();
        assert!(markup.contains("text-anchor=\"end\">short</text>"));
    }

    #[test]
    fn a_coordinate_is_always_a_number() {
        let all = [f64::NAN, f64::INFINITY, -0.001, 1.26].map(px);
        assert_eq!(all.map(|x| x.to_string()), ["0", "0", "0", "1.3"]);
    }
}
