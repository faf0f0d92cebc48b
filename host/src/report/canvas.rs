//! Letters, lines and shapes on a picture, measured in its pixels from the upper left.

use super::picture::{FINE, INK};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::sync::Once;

/// What drawing returns; the library's errors become this by `?`.
pub(super) type Drawn = Result<(), Box<dyn Error>>;
/// A place, or a width and a height.
pub(super) type Pair = (f64, f64);

const FONT: &str = "DejaVu Sans";
/// From the middle of its capitals to where the library wants a text, as a part of its size: the library puts the
/// baseline half the size below, and DejaVu's capitals are 0.626 of the size high.
const RAISE: f64 = 0.5 - 0.626 / 2.0;
/// From the middle of the capitals to the top of a bar over a letter, and the bar's thickness, as parts of the size.
const BAR_RISE: f64 = 0.51;
const BAR_WIDTH: f64 = 0.065;
/// The combining macron of β̄. The library would draw it beside its letter.
const MACRON: char = '\u{304}';
/// Free at both sides of a heading.
const MARGIN: f64 = 16.0;
/// How long a dash and the gap after it are.
const DASH: Pair = (7.0, 5.0);

/// The one font, `size` pixels from the highest to the lowest letter.
pub(super) fn font(size: f64) -> FontDesc<'static> {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // Were it refused, the first text would say so.
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
    });
    (FONT, size * FINE as f64).into_font()
}

/// How wide a text of this size becomes.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let text = text.replace(MACRON, "");
    let dots = font(size).box_size(&text).map_or(0, |(width, _)| width);
    f64::from(dots) / FINE as f64
}

/// The text, or as much of its beginning as fits into `width` with a sign that more follows.
pub(super) fn fit(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.into();
    }
    let mut short: String = text.into();
    while short.pop().is_some() {
        let cut = format!("{}…", short.trim_end());
        if text_width(&cut, size) <= width {
            return cut;
        }
    }
    short
}

/// Pixels as dots.
pub(super) fn dots(pixels: f64) -> i32 {
    (pixels * FINE as f64).round() as i32
}

/// Where things are drawn.
pub(super) struct Canvas<'a> {
    root: DrawingArea<BitMapBackend<'a>, Shift>,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(root: DrawingArea<BitMapBackend<'a>, Shift>) -> Self {
        Canvas { root }
    }

    /// The library's own drawing area, in dots.
    pub(super) fn root(&self) -> &DrawingArea<BitMapBackend<'a>, Shift> {
        &self.root
    }

    /// A line of text whose capitals' middle is at the height of `at`, beside or around it.
    pub(super) fn text(
        &self,
        at: Pair,
        side: HPos,
        text: &str,
        size: f64,
        colour: RGBColor,
    ) -> Drawn {
        let (text, bars) = barred(text, size);
        let style = TextStyle::from(font(size)).color(&colour);
        let style = style.pos(Pos::new(HPos::Left, VPos::Top));
        let left = at.0 - before(side, text_width(&text, size));
        let place = (dots(left), dots(at.1 - RAISE * size));
        self.root.draw_text(&text, &style, place)?;
        for (start, width) in bars {
            let corner = (left + start, at.1 - BAR_RISE * size);
            self.rectangle(corner, (width, BAR_WIDTH * size), colour)?;
        }
        Ok(())
    }

    /// A heading around `at`, or beside it as far as a sheet this wide needs, or cut where it is too long for that.
    pub(super) fn heading(&self, at: Pair, width: f64, text: &str, size: f64) -> Drawn {
        let text = fit(text, size, width - 2.0 * MARGIN);
        let half = text_width(&text, size) / 2.0 + MARGIN;
        let middle = at.0.min(width - half).max(half);
        self.text((middle, at.1), HPos::Center, &text, size, INK)
    }

    /// A text that is read upwards, with its middle at `at`.
    pub(super) fn upright(&self, at: Pair, text: &str, size: f64) -> Drawn {
        let (text, bars) = barred(text, size);
        let style = TextStyle::from(font(size).transform(FontTransform::Rotate270)).color(&INK);
        let style = style.pos(Pos::new(HPos::Left, VPos::Top));
        let bottom = at.1 + before(HPos::Center, text_width(&text, size));
        let place = (dots(at.0 - RAISE * size), dots(bottom));
        self.root.draw_text(&text, &style, place)?;
        for (start, width) in bars {
            let corner = (at.0 - BAR_RISE * size, bottom - start - width);
            self.rectangle(corner, (BAR_WIDTH * size, width), INK)?;
        }
        Ok(())
    }

    /// A filled rectangle from its upper left corner.
    pub(super) fn rectangle(&self, corner: Pair, size: Pair, colour: RGBColor) -> Drawn {
        let (left, top) = (dots(corner.0), dots(corner.1));
        let (right, bottom) = (dots(corner.0 + size.0), dots(corner.1 + size.1));
        let shape = Rectangle::new([(left, top), (right, bottom)], colour.filled());
        Ok(self.root.draw(&shape)?)
    }

    /// The outline of a rectangle, one pixel wide and inside it.
    pub(super) fn frame(&self, corner: Pair, size: Pair, colour: RGBColor) -> Drawn {
        let ((left, top), (width, height)) = (corner, size);
        self.rectangle(corner, (width, 1.0), colour)?;
        self.rectangle((left, top + height - 1.0), (width, 1.0), colour)?;
        self.rectangle(corner, (1.0, height), colour)?;
        self.rectangle((left + width - 1.0, top), (1.0, height), colour)
    }

    /// A line through all points.
    pub(super) fn line(&self, points: &[Pair], width: f64, colour: RGBColor) -> Drawn {
        let style = colour.stroke_width(dots(width).max(1) as u32);
        Ok(self.root.draw(&PathElement::new(whole(points), style))?)
    }

    /// A line of dashes through all points.
    pub(super) fn dashes(&self, points: &[Pair], width: f64, colour: RGBColor) -> Drawn {
        let style = colour.stroke_width(dots(width).max(1) as u32);
        let (dash, gap) = (dots(DASH.0), dots(DASH.1));
        let points = whole(points);
        let line = DashedPathElement::new(points.iter().copied(), dash, gap, style);
        Ok(self.root.draw(&line)?)
    }

    /// A filled shape with these corners.
    pub(super) fn polygon(&self, corners: &[Pair], colour: RGBColor) -> Drawn {
        let shape = Polygon::new(whole(corners), colour.filled());
        Ok(self.root.draw(&shape)?)
    }

    /// A filled circle.
    pub(super) fn disc(&self, centre: Pair, radius: f64, colour: RGBColor) -> Drawn {
        let centre = (dots(centre.0), dots(centre.1));
        let shape = Circle::new(centre, dots(radius), colour.filled());
        Ok(self.root.draw(&shape)?)
    }
}

fn whole(points: &[Pair]) -> Vec<(i32, i32)> {
    points.iter().map(|&(x, y)| (dots(x), dots(y))).collect()
}

/// How much of a text this wide is left of the place it stands at.
fn before(side: HPos, width: f64) -> f64 {
    match side {
        HPos::Left => 0.0,
        HPos::Center => width / 2.0,
        HPos::Right => width,
    }
}

/// The text without its macrons, and where bars stand for them: their start and width.
fn barred(text: &str, size: f64) -> (String, Vec<Pair>) {
    let (mut plain, mut bars) = (String::new(), Vec::new());
    let mut start = 0.0;
    for letter in text.chars() {
        if letter == MACRON {
            bars.push((start, text_width(&plain, size) - start));
            continue;
        }
        start = text_width(&plain, size);
        // A line end has no letter.
        plain.push(if letter.is_control() { ' ' } else { letter });
    }
    let inside = |(start, width): Pair| (start + 0.1 * width, 0.8 * width);
    (plain, bars.into_iter().map(inside).collect())
}

#[cfg(test)]
mod tests {
    use super::super::picture::{Picture, Seen};
    use super::*;

    fn seen(drawing: impl FnOnce(&Canvas<'_>) -> Drawn) -> Seen {
        let picture = Picture::new("p", (120, 40)).unwrap();
        Seen::new(&picture.draw(drawing).unwrap().png().unwrap())
    }

    #[test]
    fn a_rectangle_covers_its_pixels_and_no_other() {
        let seen = seen(|canvas| canvas.rectangle((2.0, 3.0), (4.0, 5.0), RED));
        assert_eq!(seen.count(RED), 20);
        assert_eq!(seen.count(WHITE), 120 * 40 - 20);
        assert_eq!((seen.at(2, 3), seen.at(5, 7)), (RED, RED));
    }

    #[test]
    fn capitals_stand_around_the_height_that_is_named() {
        let seen = seen(|canvas| canvas.text((60.0, 20.0), HPos::Center, "HHH", 24.0, BLACK));
        let inked = |y: usize| (0..120).any(|x| seen.at(x, y) != WHITE);
        let rows: Vec<usize> = (0..40).filter(|&y| inked(y)).collect();
        let middle = (rows[0] + rows[rows.len() - 1] + 1) as f64 / 2.0;
        assert!((middle - 20.0).abs() <= 1.0, "{middle}");
    }

    #[test]
    fn a_macron_is_a_bar_over_its_letter_and_takes_no_room() {
        assert_eq!(text_width("β\u{304}(x)", 24.0), text_width("β(x)", 24.0));
        let (plain, bars) = barred("aβ\u{304}b", 24.0);
        let (start, width) = bars[0];
        assert_eq!((plain.as_str(), bars.len()), ("aβb", 1));
        assert!(start > text_width("a", 24.0) && start + width < text_width("aβ", 24.0));
        // One pixel of the bar at least is whole; the letter alone has nothing so high.
        let top = |text: &'static str| {
            let seen = seen(|canvas| canvas.text((9.0, 20.0), HPos::Left, text, 24.0, BLACK));
            (0..40).find(|&y| (0..120).any(|x| seen.at(x, y) == BLACK))
        };
        assert!(top("x\u{304}") < top("x"));
    }

    #[test]
    fn a_text_too_long_ends_with_a_sign_of_it() {
        assert_eq!(fit("short", 15.0, 200.0), "short");
        let cut = fit("a rather long text", 15.0, 60.0);
        assert!(cut.ends_with('…') && cut.starts_with("a r"), "{cut}");
        assert!(text_width(&cut, 15.0) <= 60.0);
        assert_eq!(fit("no room", 15.0, 1.0), "");
    }

    #[test]
    fn texts_without_letters_and_shapes_outside_can_be_drawn() {
        seen(|canvas| {
            canvas.text((5.0, 5.0), HPos::Left, "", 15.0, BLACK)?;
            canvas.text((5.0, 5.0), HPos::Right, "\n\t\u{1f600}", 15.0, BLACK)?;
            canvas.upright((-50.0, 900.0), "\u{304}outside\u{304}", 15.0)?;
            canvas.line(&[], 2.0, BLACK)?;
            canvas.dashes(&[(3.0, 3.0)], 2.0, BLACK)?;
            canvas.line(&[(-900.0, -900.0), (9000.0, 700.0)], 2.0, BLACK)?;
            canvas.rectangle((-5.0, -5.0), (900.0, 900.0), BLACK)?;
            canvas.frame((3.0, 3.0), (0.0, 0.0), BLACK)
        });
    }
}
