//! Text that anyone may have written, in characters which no browser obeys.

/// Control characters, those which reverse or break lines in Unicode, and the two which XML does not allow.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
                | '\u{fffe}' | '\u{ffff}'
        )
}

/// `text` with everything that would be obeyed, but for the ends of its lines, as `\u{1b}`.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if is_obeyed(character) && character != '\n' {
            printable.extend(character.escape_default());
        } else {
            printable.push(character);
        }
    }
    printable
}
