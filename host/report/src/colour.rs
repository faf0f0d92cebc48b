//! Colours by level: a value is rounded to one of few levels, each a class of the style sheet.

use maud::Render;
use std::fmt::Write;

/// Levels of a map of one direction; a map of two has as many, with zero in the middle. More could hardly be told
/// apart in cells of a few pixels.
const LEVELS: u8 = 33;
/// The highest level of a map of one direction, and those on either side of zero.
pub(crate) const TOP: u8 = LEVELS - 1;
pub(crate) const SIDE: i8 = (LEVELS / 2) as i8;

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
pub(crate) enum Level {
    /// What is no number.
    Unknown,
    /// A place in an order, 0 … [`TOP`].
    Ordinal(u8),
    /// From the paper's colour to the strongest blue, 0 … [`TOP`].
    Strength(u8),
    /// Black to white, 0 … [`TOP`]. A photograph is the same on any paper.
    Grey(u8),
    /// −[`SIDE`] … [`SIDE`], from blue through the paper's colour to red.
    Signed(i8),
}

impl Level {
    /// The nearest level of a map of one direction to a part of it, 0 … 1.
    pub(crate) fn of(part: f64, map: fn(u8) -> Level) -> Self {
        step(part).map_or(Level::Unknown, map)
    }

    /// Whether white letters are read better on it than black ones.
    pub(crate) fn is_dark(self) -> bool {
        let colour = match self {
            Level::Ordinal(step) => mix(&VIRIDIS, step),
            Level::Grey(step) => mix(&GREYS, step),
            _ => GREYS[1],
        };
        contrast(colour, GREYS[1]) > contrast(colour, GREYS[0])
    }

    /// Its colour and how much of the paper is not seen through it.
    fn paint(self) -> (String, f64) {
        match self {
            Level::Unknown => ("var(--unknown)".into(), 1.0),
            Level::Ordinal(step) => (format!("#{:06x}", mix(&VIRIDIS, step)), 1.0),
            Level::Grey(step) => (format!("#{:06x}", mix(&GREYS, step)), 1.0),
            Level::Strength(step) => ("var(--strong)".into(), f64::from(step) / f64::from(TOP)),
            Level::Signed(step) => {
                let side = if step < 0 { "negative" } else { "positive" };
                let part = f64::from(step.unsigned_abs()) / f64::from(SIDE);
                (format!("var(--{side})"), part)
            }
        }
    }
}

/// The class of the style sheet.
impl Render for Level {
    fn render_to(&self, to: &mut String) {
        let (map, step) = match *self {
            Level::Unknown => ('u', 0),
            Level::Ordinal(step) => ('v', step),
            Level::Strength(step) => ('s', step),
            Level::Grey(step) => ('g', step),
            Level::Signed(step) if step < 0 => ('n', step.unsigned_abs()),
            Level::Signed(step) => ('p', step.unsigned_abs()),
        };
        // Writing to a string does not fail.
        let _ = write!(to, "{map}{step}");
    }
}

/// The level of a part 0 … 1 of a map of one direction; nothing for what is no number.
pub(crate) fn step(part: f64) -> Option<u8> {
    // Within 0 … TOP by the clamp.
    (!part.is_nan()).then(|| (part.clamp(0.0, 1.0) * f64::from(TOP)).round() as u8)
}

/// Rules for all levels and curves.
pub(crate) fn style() -> String {
    let maps = [Level::Ordinal, Level::Strength, Level::Grey];
    let one_way = maps.into_iter().flat_map(|map| (0..=TOP).map(map));
    let levels = one_way.chain((-SIDE..=SIDE).map(Level::Signed));
    let mut css = String::new();
    for level in levels.chain([Level::Unknown]) {
        let (colour, opacity) = level.paint();
        let class = level.render().into_string();
        let _ = write!(
            css,
            ".{class}{{stroke:{colour};stroke-opacity:{opacity:.3}}}"
        );
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
    let channel = |colour: u32, shift: u32| match f64::from(colour >> shift & 0xff) / 255.0 {
        value if value <= 0.04045 => value / 12.92,
        value => ((value + 0.055) / 1.055).powf(2.4),
    };
    let [one, other] = [one, other].map(|colour| {
        let [red, green, blue] = [16, 8, 0].map(|shift| channel(colour, shift));
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    });
    one.max(other) / one.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The colours of the light scheme and of the dark one by their names.
    fn schemes(css: &str) -> [BTreeMap<&str, u32>; 2] {
        let (light, dark) = css.split_once("prefers-color-scheme: dark").unwrap();
        let dark = dark.split_once("\n}").unwrap().0;
        [light, dark].map(|part| {
            let properties = part
                .split(';')
                .filter_map(|property| property.split_once(": #"));
            let named = properties.filter_map(|(name, hex)| Some((name.split_once("--")?.1, hex)));
            let colour = |hex| u32::from_str_radix(hex, 16).unwrap();
            named.map(|(name, hex)| (name, colour(hex))).collect()
        })
    }

    #[test]
    fn letters_have_the_contrast_of_aa_and_curves_that_of_graphics_in_both_schemes() {
        // AA asks for 4.5 of letters and 3 of graphics.
        for scheme in schemes(include_str!("drawing.css")) {
            let curves = scheme.keys().filter(|name| name.starts_with("curve-"));
            assert_eq!(curves.count(), CURVES);
            for (name, colour) in &scheme {
                let least = match *name {
                    "ink" | "soft" => 4.5,
                    "card" | "faint" | "unknown" => 0.0,
                    _ => 3.0,
                };
                let contrast = contrast(*colour, scheme["card"]);
                assert!(contrast >= least, "{name}: {contrast}");
            }
        }
        for scheme in schemes(include_str!("report.css")) {
            for (ground, letters) in ["ink", "soft", "link", "note"]
                .into_iter()
                .flat_map(|letters| [("paper", letters), ("tint", letters)])
            {
                let contrast = contrast(scheme[letters], scheme[ground]);
                assert!(contrast >= 4.5, "{letters} on {ground}: {contrast}");
            }
        }
        for step in 0..LEVELS {
            let dark = Level::Ordinal(step).is_dark();
            let ink = GREYS[usize::from(dark)];
            assert!(contrast(mix(&VIRIDIS, step), ink) >= 4.5, "{step}");
        }
    }

    #[test]
    fn a_value_has_the_nearest_level_and_each_level_a_rule() {
        let steps = [0.0, 1.0, 0.5, -7.0, f64::INFINITY, f64::NAN].map(step);
        assert_eq!(
            steps,
            [Some(0), Some(32), Some(16), Some(0), Some(32), None]
        );
        assert_eq!(mix(&GREYS, TOP / 2), 0x808080);
        let style = style();
        for rule in [
            ".g16{stroke:#808080;stroke-opacity:1.000}",
            ".n16{stroke:var(--negative);stroke-opacity:1.000}",
            ".p4{stroke:var(--positive);stroke-opacity:0.250}",
            ".s16{stroke:var(--strong);stroke-opacity:0.500}",
            ".u0{stroke:var(--unknown)",
        ] {
            assert!(style.contains(rule), "{rule}");
        }
    }
}
