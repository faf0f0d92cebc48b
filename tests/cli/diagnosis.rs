//! `bispectral train` where no group is recognised: it says what the data looks like, and never ends worse than a known group.

use crate::{Folder, Random};
use std::fmt::Write as _;

const INPUTS: usize = 16;

/// `count` things of `length` values, of which `sample` makes the members; labels are words.
fn write(
    folder: &Folder,
    [count, members, length]: [usize; 3],
    sample: impl Fn(&[f64], usize, usize) -> Vec<f64>,
) {
    let mut random = Random(7);
    let (mut samples, mut labels) = (String::new(), String::from("thing\n"));
    for orbit in 0..count {
        let rough = random.values(length + 4);
        let thing: Vec<f64> = rough.windows(4).map(|w| w.iter().sum()).collect();
        for member in 0..members {
            let values = sample(&thing, orbit, member);
            let line: Vec<String> = values.iter().map(|x| format!("{x:.4}")).collect();
            samples += &(line.join(",") + "\n");
            let _ = writeln!(labels, "thing {orbit}");
        }
    }
    folder.write("X.csv", samples);
    folder.write("y.csv", labels);
}

fn shifted(thing: &[f64], orbit: usize, member: usize) -> Vec<f64> {
    let by = member * (3 + 2 * (orbit % 5));
    (0..INPUTS).map(|n| thing[(n + by) % INPUTS]).collect()
}

#[test]
fn windows_of_a_longer_signal_are_called_that_in_words_json_the_report_and_by_group() {
    let folder = Folder::new();
    write(&folder, [30, 10, 40], |thing, orbit, member| {
        let begin = (orbit * 3 + member * 5) % 8;
        // Differences: smooth windows are nearly those of a cycle, whose group would be the model.
        (begin..begin + INPUTS)
            .map(|n| thing[n + 1] - thing[n])
            .collect()
    });
    let words = folder.succeed("train --data X.csv --labels y.csv -o run");
    for wanted in [
        "group        none recognised\n",
        "found        the motion is not cyclic: ",
        "  learned W ",
        "  all 16 cyclic shifts (Z16) ",
        "  quarter turns of 4 × 4 images (Z4) ",
        "  mirror of 4 × 4 images (Z2) ",
    ] {
        assert!(words.contains(wanted), "{wanted}: {words}");
    }
    let object = folder.object("train --data X.csv --labels y.csv -o run --force");
    assert_eq!(object["diagnosis"]["findings"][0]["finding"], "windows");
    folder.succeed("report run");
    let page = String::from_utf8(folder.read("run/report.html")).unwrap();
    assert!(page.contains("The motion is not cyclic: members agree where they overlap"));
    folder.refuse_with(
        "group run",
        "run/model.bsn: no group was recognised: the motion is not cyclic: ",
    );
}

#[test]
fn few_members_are_counted_and_the_known_group_is_the_model() {
    let folder = Folder::new();
    write(&folder, [12, 2, INPUTS], shifted);
    let words = folder.succeed("train --data X.csv --labels y.csv -o run");
    for wanted in [
        "group        none recognised; the model is that of all 16 cyclic shifts (Z16)\n",
        "found        an orbit has 2 members; 6 would do, so give 4 more of each\n",
        "model        the exact invariants of all 16 cyclic shifts (Z16), which do no worse",
    ] {
        assert!(words.contains(wanted), "{wanted}: {words}");
    }
    assert!(!words.contains("not cyclic"), "{words}");
    folder.succeed("group run --expect Z16");
    let object = folder.object("train --data X.csv --labels y.csv -o run --force");
    assert!(object["within"].as_f64().unwrap() < 1e-9, "{object}");
}

#[test]
fn a_motion_that_explains_a_part_is_named_and_not_denied() {
    let folder = Folder::new();
    // A third of the members are another thing under the same label.
    write(&folder, [20, 12, INPUTS], |thing, orbit, member| {
        let moved = shifted(thing, orbit, member);
        let other = |x: &f64| (9.0 * x + orbit as f64).sin();
        match member < 8 {
            true => moved,
            false => moved.iter().map(other).collect(),
        }
    });
    let words = folder.succeed("train --data X.csv --labels y.csv -o run");
    assert!(
        words.contains("look for a second motion, or wrong labels"),
        "{words}"
    );
    assert!(!words.contains("no known motion"), "{words}");
}

#[test]
fn a_label_with_one_sample_is_left_out_and_the_others_are_learned_from() {
    let folder = Folder::new();
    write(&folder, [20, 12, INPUTS], shifted);
    let labels = String::from_utf8(folder.read("y.csv")).unwrap();
    folder.write(
        "y.csv",
        labels.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\nalone\n",
    );
    let (code, words, notes) = folder.run("train --data X.csv --labels y.csv -o run");
    assert_eq!(code, Some(0), "{notes}");
    assert!(words.contains("group        Z16 "), "{words}");
    assert!(
        notes.contains("1 of the labels have one sample each (the first is alone)"),
        "{notes}"
    );
}
