//! Colour maps, the bars that explain them, and colours for curves.

use super::canvas::{Canvas, Drawn, Pair};
use super::picture::INK;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Colours at equal steps from 0 to 1, mixed in between.
pub(super) struct Map(&'static [u32]);

/// Blue below the middle, nearly white there, red above: ColorBrewer's RdBu without its darkest ends, and greyer
/// in the middle, so that zeros stand out from the paper.
pub(super) const DIVERGING: Map = Map(&[
    0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf2f2f2, 0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b,
]);
/// From dark violet through green to yellow, lighter all the way: matplotlib's viridis.
pub(super) const VIRIDIS: Map = Map(&[
    0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725,
]);
/// From nearly white to dark blue: ColorBrewer's Blues.
pub(super) const BLUES: Map = Map(&[
    0xf7fbff, 0xdeebf7, 0xc6dbef, 0x9ecae1, 0x6baed6, 0x4292c6, 0x2171b5, 0x08519c, 0x08306b,
]);
/// The same from dark to nearly white.
pub(super) const NEAR: Map = Map(&[
    0x08306b, 0x08519c, 0x2171b5, 0x4292c6, 0x6baed6, 0x9ecae1, 0xc6dbef, 0xdeebf7, 0xf7fbff,
]);
/// From black to white.
pub(super) const GREYS: Map = Map(&[0x000000, 0xffffff]);

/// What is not a number has this colour; no map here but [`GREYS`] has it.
pub(super) const UNKNOWN: RGBColor = RGBColor(0xa0, 0xa0, 0xa0);

/// Colours that also a colour-blind reader can tell apart (Okabe and Ito, 2008), without the yellow.
pub(super) const CURVES: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x22, 0x22, 0x22),
];

/// Width of a colour bar and of its tick marks, and the size of its numbers.
const BAR: f64 = 18.0;
const TICK: f64 = 5.0;
const NUMBER: f64 = 17.0;

impl Map {
    /// The colour of a value; values outside 0 … 1 get that of the nearer end.
    pub(super) fn at(&self, value: f64) -> RGBColor {
        if value.is_nan() {
            return UNKNOWN;
        }
        let place = value.clamp(0.0, 1.0) * (self.0.len() - 1) as f64;
        let below = (place as usize).min(self.0.len() - 2);
        let part = place - below as f64;
        let mix = |shift: u32| {
            let channel = |colour: u32| f64::from(colour >> shift & 0xff);
            let (low, high) = (channel(self.0[below]), channel(self.0[below + 1]));
            (low + (high - low) * part).round() as u8
        };
        RGBColor(mix(16), mix(8), mix(0))
    }

    /// A bar of all colours from 1 at its top to 0, with texts at some values beside it.
    pub(super) fn bar(
        &self,
        canvas: &Canvas<'_>,
        corner: Pair,
        height: f64,
        ticks: &[(f64, String)],
    ) -> Drawn {
        let (left, top) = corner;
        for row in 0..height as usize {
            let value = 1.0 - (row as f64 + 0.5) / height;
            canvas.rectangle((left, top + row as f64), (BAR, 1.0), self.at(value))?;
        }
        canvas.frame(corner, (BAR, height), INK)?;
        for (value, text) in ticks {
            let y = top + 0.5 + (1.0 - value) * (height - 1.0);
            canvas.rectangle((left + BAR, (y - 0.5).round()), (TICK, 1.0), INK)?;
            let at = (left + BAR + TICK + 4.0, y);
            canvas.text(at, HPos::Left, text, NUMBER, INK)?;
        }
        Ok(())
    }
}

/// Black or white, whichever is read better on this colour.
pub(super) fn legible_on(colour: RGBColor) -> RGBColor {
    // Rec. 709 luminance of the stored values; the eye's middle grey is near 0.45 of them.
    let RGBColor(red, green, blue) = colour;
    let luminance = 0.2126 * f64::from(red) + 0.7152 * f64::from(green) + 0.0722 * f64::from(blue);
    if luminance > 0.45 * 255.0 {
        BLACK
    } else {
        WHITE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(colour: RGBColor) -> f64 {
        0.2126 * f64::from(colour.0) + 0.7152 * f64::from(colour.1) + 0.0722 * f64::from(colour.2)
    }

    #[test]
    fn a_map_begins_and_ends_with_its_ends_and_mixes_between() {
        assert_eq!(GREYS.at(0.0), BLACK);
        assert_eq!(GREYS.at(1.0), WHITE);
        assert_eq!(GREYS.at(0.5), RGBColor(0x80, 0x80, 0x80));
        assert_eq!(DIVERGING.at(0.5), RGBColor(0xf2, 0xf2, 0xf2));
        assert_eq!(GREYS.at(f64::NEG_INFINITY), BLACK);
        assert_eq!(GREYS.at(7.0), WHITE);
        assert_eq!(VIRIDIS.at(f64::NAN), UNKNOWN);
    }

    #[test]
    fn lightness_rises_or_falls_all_the_way_so_that_prints_without_colour_are_read() {
        let steps = |map: &Map| -> Vec<f64> {
            let values = (0..=40).map(|step| f64::from(step) / 40.0);
            values.map(|value| lightness(map.at(value))).collect()
        };
        assert!(steps(&VIRIDIS).windows(2).all(|pair| pair[0] < pair[1]));
        assert!(steps(&NEAR).windows(2).all(|pair| pair[0] < pair[1]));
        assert!(steps(&BLUES).windows(2).all(|pair| pair[0] > pair[1]));
        let both = steps(&DIVERGING);
        assert!(both[..=20].windows(2).all(|pair| pair[0] < pair[1]));
        assert!(both[20..].windows(2).all(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn letters_are_white_on_dark_and_black_on_light() {
        assert_eq!(legible_on(VIRIDIS.at(0.0)), WHITE);
        assert_eq!(legible_on(VIRIDIS.at(1.0)), BLACK);
    }
}
