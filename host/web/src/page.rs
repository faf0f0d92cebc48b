//! The page as one file, with the engine and the classifiers inside: it works from a folder, without a server or a network.

use crate::classifiers::{KINDS, classifier};
use crate::engine::exact;
use bispectral_learn::Result;
use serde_json::json;

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");
const BRIDGE: &str = include_str!("../page/bridge.js");
const SCRIPT: &str = include_str!("../page/page.js");

/// HTML around the WebAssembly of this crate, and around classifiers that are learned here.
///
/// # Errors
/// The examples cannot be learned from.
pub fn page(engine: &[u8]) -> Result<String> {
    let mut classifiers = Vec::new();
    for kind in KINDS {
        let model = classifier(kind)?;
        let exact = exact(&kind.group().parse()?)?;
        classifiers.push(json!({
            "exact": base64(&exact), "model": base64(&model), "classes": kind.classes(), "instructions": kind.counted_instructions(),
        }));
    }
    Ok(PAGE
        .replace("{{style}}", STYLE)
        .replace("{{engine}}", &base64(engine))
        .replace("{{classifiers}}", &json!(classifiers).to_string())
        .replace("{{bridge}}", BRIDGE)
        .replace("{{explore}}", bispectral_report::EXPLORE)
        .replace("{{script}}", SCRIPT))
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let group = u32::from_be_bytes(group);
        for k in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * k)) as usize & 63];
            text.push(if k <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
