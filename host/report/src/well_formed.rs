//! For tests: whether markup is well formed, as XML wants it.

use crate::DrawingError;
use crate::svg::Picture;

/// Elements without an end in HTML.
const VOID: [&str; 1] = ["meta"];

/// That every element is closed in its turn, every attribute is quoted and named once in its element, and no
/// character stands where it would be markup; returns how many elements there are.
pub(crate) fn elements(markup: &str) -> usize {
    let (mut open, mut count) = (Vec::new(), 0);
    let body = markup.strip_prefix("<!DOCTYPE html>").unwrap_or(markup);
    let mut parts = body.split('<');
    assert_eq!(parts.next(), Some(""), "nothing stands before the root");
    for part in parts {
        let (tag, text) = part.split_once('>').expect("every tag ends");
        assert!(
            text.split('&').skip(1).all(|rest| rest.contains(';')),
            "{text}"
        );
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text}"
        );
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name == "style" || !text.contains('>'), "{text}");
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{open:?}");
            continue;
        }
        assert!(
            name.chars().all(|letter| letter.is_ascii_alphanumeric()),
            "{name}"
        );
        check_attributes(attributes);
        count += 1;
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    count
}

fn check_attributes(mut attributes: &str) {
    let mut names = Vec::new();
    while !attributes.trim().is_empty() {
        let (name, rest) = attributes.split_once("=\"").expect("a quoted value");
        let name = name.trim();
        let of_a_name =
            |letter: char| letter.is_ascii_alphabetic() || letter == '-' || letter.is_ascii_digit();
        assert!(
            name.chars().all(of_a_name) && !names.contains(&name),
            "{name}"
        );
        names.push(name);
        let (value, rest) = rest.split_once('"').expect("the end of a value");
        assert!(!value.contains(['<', '>']), "{value}");
        attributes = rest;
    }
}

/// That a picture is well formed, has finite numbers only and no more than these bytes; returns its file.
pub(crate) fn sound(picture: Result<Picture, DrawingError>, most: usize) -> String {
    let file = picture.unwrap().file("t", "d");
    elements(&file);
    finite(&file);
    assert!(file.len() < most, "{}", file.len());
    file
}

/// That no attribute has a number which is none.
fn finite(markup: &str) {
    for attributes in markup.split('<').filter_map(|part| part.split('>').next()) {
        for value in attributes
            .split("=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            assert!(
                !value.contains("NaN") && !value.contains("inf"),
                "{attributes}"
            );
        }
    }
}

#[test]
fn what_is_not_well_formed_is_noticed() {
    assert_eq!(elements("<a b=\"1\" c=\"2\">t &amp; u<d></d></a>"), 2);
    for bad in [
        "<a>",
        "<a></b>",
        "<a b=1></a>",
        "<a b=\"1\" b=\"2\"></a>",
        "<a>&</a>",
        "<a>></a>",
        "t<a></a>",
    ] {
        assert!(std::panic::catch_unwind(|| elements(bad)).is_err(), "{bad}");
    }
}
