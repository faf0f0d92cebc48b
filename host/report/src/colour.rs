//! Colours by level: a value is rounded to one of few levels, each a class of the style sheet.

use maud::Render;
use std::fmt::Write;

/// Levels of a map of one direction; a map of two has as many, with zero in the middle. More could hardly be told
/// apart in cells of a few pixels.
pub(crate) const LEVELS: u8 = 33;
/// Levels on either side of zero.
pub(crate) const SIDE: i8 = (LEVELS / 2) as i8;
/// The highest level of a map of one direction.
pub(crate) const TOP: u8 = LEVELS - 1;

/// From dark violet through green to yellow, lighter all the way: matplotlib's viridis.
const VIRIDIS: [u32; 9] = [
    0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725,
];
const GREYS: [u32; 2] = [0x000000, 0xffffff];

/// Curves that have a colour of their own: those of Okabe and Ito (2008), which also a colour-blind reader can tell
/// apart, darkened for paper and lightened for the dark until each has three times the contrast of its ground.
pub(crate) const CURVES: usize = 7;

/// A colour of the style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level {
    map: char,
    step: u8,
}

impl Level {
    /// What is no number.
    pub(crate) const UNKNOWN: Level = Level { map: 'u', step: 0 };

    /// A place in an order, 0 … [`TOP`].
    pub(crate) fn ordinal(step: u8) -> Self {
        Level {
            map: 'v',
            step: step.min(TOP),
        }
    }

    /// A strength 0 … [`TOP`], from the paper's colour to the strongest blue.
    pub(crate) fn strength(step: u8) -> Self {
        Level {
            map: 's',
            step: step.min(TOP),
        }
    }

    /// Black to white, 0 … [`TOP`]. A photograph is the same on any paper.
    pub(crate) fn grey(step: u8) -> Self {
        Level {
            map: 'g',
            step: step.min(TOP),
        }
    }

    /// −[`SIDE`] … [`SIDE`], from blue through the paper's colour to red.
    pub(crate) fn signed(step: i8) -> Self {
        let map = if step < 0 { 'n' } else { 'p' };
        Level {
            map,
            step: step.unsigned_abs().min(SIDE.unsigned_abs()),
        }
    }

    /// Whether white letters are read better on it than black ones.
    pub(crate) fn is_dark(self) -> bool {
        let colour = match self.map {
            'v' => mix(&VIRIDIS, self.step),
            _ => mix(&GREYS, self.step),
        };
        contrast(colour, 0xffffff) > contrast(colour, 0x000000)
    }
}

impl Render for Level {
    fn render_to(&self, to: &mut String) {
        // Writing to a string does not fail.
        let _ = write!(to, "{}{}", self.map, self.step);
    }
}

/// The level of a part 0 … 1 of a map of one direction; nothing for what is no number.
pub(crate) fn step(part: f64) -> Option<u8> {
    // Within 0 … TOP by the clamp.
    (!part.is_nan()).then(|| (part.clamp(0.0, 1.0) * f64::from(TOP)).round() as u8)
}

/// Rules for all levels.
pub(crate) fn style() -> String {
    let mut css = String::from(".u0{stroke:var(--unknown)}");
    let mut rule = |map: char, step: u8, colour: &str, opacity: f64| {
        let opacity = (opacity * 1000.0).round() / 1000.0;
        let _ = write!(css, ".{map}{step}{{stroke:{colour}");
        if opacity < 1.0 {
            let _ = write!(css, ";stroke-opacity:{opacity}");
        }
        css.push('}');
    };
    for step in 0..LEVELS {
        let part = f64::from(step) / f64::from(TOP);
        rule('v', step, &format!("#{:06x}", mix(&VIRIDIS, step)), 1.0);
        rule('g', step, &format!("#{:06x}", mix(&GREYS, step)), 1.0);
        rule('s', step, "var(--strong)", part);
    }
    for step in 0..=SIDE.unsigned_abs() {
        let part = f64::from(step) / f64::from(SIDE);
        rule('p', step, "var(--positive)", part);
        rule('n', step, "var(--negative)", part);
    }
    for curve in 0..CURVES {
        let colour = format!("var(--curve-{curve})");
        let _ = write!(
            css,
            ".c{curve}{{stroke:{colour}}}.m{curve}{{fill:{colour}}}"
        );
    }
    css
}

/// The colour of a map at a level.
fn mix(map: &[u32], step: u8) -> u32 {
    let place = f64::from(step) / f64::from(TOP) * (map.len() - 1) as f64;
    let below = (place as usize).min(map.len() - 2);
    let part = place - below as f64;
    [16, 8, 0].into_iter().fold(0, |mixed, shift| {
        let channel = |colour: u32| f64::from(colour >> shift & 0xff);
        let (low, high) = (channel(map[below]), channel(map[below + 1]));
        mixed << 8 | (low + (high - low) * part).round() as u32
    })
}

/// Contrast of two colours by WCAG 2.1: (L₁ + 0.05) / (L₂ + 0.05) of their luminances.
fn contrast(one: u32, other: u32) -> f64 {
    let luminance = |colour: u32| {
        let channel = |shift: u32| {
            let value = f64::from(colour >> shift & 0xff) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0) + 0.05
    };
    let (one, other) = (luminance(one), luminance(other));
    one.max(other) / one.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The custom properties of the light scheme and of the dark one.
    fn schemes(css: &str) -> [Vec<(String, u32)>; 2] {
        let (light, dark) = css.split_once("prefers-color-scheme: dark").unwrap();
        let dark = dark.split_once("\n}").unwrap().0;
        [light, dark].map(|part| {
            let lines = part
                .lines()
                .filter_map(|line| line.trim().strip_prefix("--"));
            let pairs = lines.filter_map(|line| line.trim_end_matches(';').split_once(": #"));
            pairs
                .map(|(name, hex)| (name.into(), u32::from_str_radix(hex, 16).unwrap()))
                .collect()
        })
    }

    #[test]
    fn letters_have_the_contrast_of_aa_and_curves_that_of_graphics_in_both_schemes() {
        for scheme in schemes(include_str!("drawing.css")) {
            let card = scheme.iter().find(|(name, _)| name == "card").unwrap().1;
            let curves = scheme
                .iter()
                .filter(|(name, _)| name.starts_with("curve-"))
                .count();
            assert_eq!(curves, CURVES);
            for (name, colour) in &scheme {
                // AA asks for 4.5 of letters and 3 of graphics.
                let least = match name.as_str() {
                    "ink" | "soft" => 4.5,
                    "card" | "faint" | "unknown" => 0.0,
                    _ => 3.0,
                };
                assert!(contrast(*colour, card) >= least, "{name} {colour:06x}");
            }
        }
        for scheme in schemes(include_str!("report.css")) {
            let find = |wanted: &str| scheme.iter().find(|(name, _)| name == wanted).unwrap().1;
            for ground in ["paper", "tint"] {
                for letters in ["ink", "soft", "link", "note"] {
                    let contrast = contrast(find(letters), find(ground));
                    assert!(contrast >= 4.5, "{letters} on {ground}: {contrast}");
                }
            }
        }
    }

    #[test]
    fn numbers_in_cells_have_the_contrast_of_aa() {
        for step in 0..LEVELS {
            let ink = if Level::ordinal(step).is_dark() {
                0xffffff
            } else {
                0
            };
            assert!(contrast(mix(&VIRIDIS, step), ink) >= 4.5, "{step}");
        }
    }

    #[test]
    fn a_value_has_the_nearest_level() {
        assert_eq!(
            [0.0, 1.0, 0.5, -7.0, f64::INFINITY].map(step),
            [Some(0), Some(32), Some(16), Some(0), Some(32)]
        );
        assert_eq!(step(f64::NAN), None);
        assert_eq!(mix(&GREYS, TOP / 2), 0x808080);
    }
}
