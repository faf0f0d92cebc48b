//! From orbits to a name: whole ones, parts of noisy ones, and those of images whose pixels are scrambled.

use super::{assert_consistent, follows, number, numbers, places};
use crate::characters::{elements, shuffled, sum, weights};
use crate::{Folder, Order, Random, f64s, npy};
use serde_json::Value;

#[test]
fn a_group_is_named_from_its_folder_or_its_model_in_any_way_of_writing_it() {
    let folder = Folder::new();
    folder.succeed("train --group Z4xZ2 -o run --quiet");
    let words = folder.succeed("group run");
    assert!(
        words.contains("group        Z4xZ2, 8 elements\n"),
        "{words}"
    );
    assert_eq!(folder.succeed("group run/model.bsn"), words);
    assert_eq!(folder.object("group run")["group"], "Z4xZ2");
    for name in ["Z4xZ2", "Z2xZ4", "z2Xz1Xz4"] {
        folder.succeed(&format!("group run --expect {name}"));
    }
    for name in ["Z8", "Z2xZ2xZ2", "Z4", "Z4xZ4"] {
        folder.refuse_with(
            &format!("group run --expect {name}"),
            &format!("run/model.bsn: the group is Z4xZ2, not {name}: "),
        );
    }
    folder.refuse_with(
        "group run --expect D4",
        "run/model.bsn: the group is Z4xZ2, not D4: ",
    );
    folder.refuse_with(
        "group run --expect E8",
        "group: \"E8\" is no group that is known by name",
    );

    let trained = folder.object("train --group Z2xZ3 -o product");
    assert_eq!(trained["group"]["name"], "Z6");
    assert_eq!(folder.object("group product --expect Z2xZ3")["group"], "Z6");
    assert_eq!(folder.object("inspect product/model.bsn")["group"], "Z6");
}

#[test]
fn rows_and_inputs_of_a_learned_w_stand_where_they_are_said_to() {
    let folder = Folder::new();
    for (name, order) in [("Z9", 9), ("Z4xZ2", 8), ("Z2xZ2xZ2", 8), ("Z6xZ2", 12)] {
        folder.succeed(&format!(
            "train --group {name} --no-polish -o run --force --quiet"
        ));
        let object = folder.object("group run");
        assert_eq!(object["group"], name);
        assert_eq!(object["file"], "run/model.bsn");
        assert_consistent(&object);
        let w = weights(&folder, "run/model.bsn", order);
        // Learned in f32 from data without noise: rows of Z4xZ2 are within 1.4e-6 of their characters.
        assert!(follows(&w, &object, 1e-3), "{object}");
    }
}

#[test]
fn parts_of_noisy_orbits_are_enough_for_a_name() {
    let folder = Folder::new();
    // Matching members would make what is learned exact.
    let flags = "--group Z12 --split transforms --held-out 0.25 --noise 0.05 --phases spectral";
    folder.succeed(&format!("train {flags} -o run --quiet"));
    folder.succeed("group run --expect Z12");
    let results: Value = serde_json::from_slice(&folder.read("run/results.json")).unwrap();
    assert_eq!(results["group"]["name"], "Z12");
    // What was learned is not exact, what was exported is.
    folder.succeed("import run/W.npy -o learned.bsn");
    let learned = folder.object("group learned.bsn --expect Z12");
    for field in ["least_overlap", "mean_overlap"] {
        let told = number(&results["group"], field);
        assert!((0.9..0.9999).contains(&told), "{results}");
        assert!((number(&learned, field) - told).abs() < 1e-6, "{learned}");
    }
    let learned = weights(&folder, "learned.bsn", 12);
    assert!(learned != weights(&folder, "run/model.bsn", 12));
}

#[test]
fn without_polish_the_model_is_w_as_it_was_learned() {
    let folder = Folder::new();
    for (flags, exact) in [("", true), ("--no-polish", false)] {
        // Matching members would make what is learned exact.
        let object = folder.object(&format!(
            "train --group Z6 --phases spectral {flags} -o run --force"
        ));
        assert_eq!(object["group"]["name"], "Z6");
        folder.succeed("import run/W.npy -o learned.bsn --force");
        let learned = weights(&folder, "learned.bsn", 6);
        let model = weights(&folder, "run/model.bsn", 6);
        assert_eq!(model == learned, !exact, "{flags}");
        // Exact rows begin with a positive number, learned ones at any phase.
        assert_eq!(model.iter().all(|row| row[0].im == 0.0), exact, "{flags}");
    }
}

/// All translates of 40 random images, their pixels in an order nobody is told of: `X.npy` and the orbits in `y.npy`.
fn scrambled(folder: &Folder, sides: &[usize; 2]) -> Vec<usize> {
    let mut random = Random(12);
    let pixels = elements(sides);
    let order = shuffled(pixels.len(), &mut random);
    let (mut samples, mut labels) = (Vec::new(), Vec::new());
    for orbit in 0..40_i64 {
        let image = random.values(pixels.len());
        for shift in &pixels {
            let moved = |&pixel: &usize| {
                let from = sum(&pixels[pixel], shift, sides);
                image[pixels.iter().position(|pixel| *pixel == from).unwrap()]
            };
            samples.extend(order.iter().map(moved));
            labels.extend(orbit.to_le_bytes());
        }
    }
    let (count, inputs) = (40 * pixels.len(), pixels.len());
    let shape = format!("({count}, {inputs})");
    folder.write("X.npy", npy("'<f8'", Order::C, &shape, f64s(samples)));
    folder.write(
        "y.npy",
        npy("'<i8'", Order::C, &format!("({count},)"), labels),
    );
    order
}

#[test]
fn translations_of_images_whose_pixels_are_scrambled_are_named_and_pixels_are_put_in_place() {
    for (sides, name) in [([3, 4], "Z12"), ([2, 6], "Z6xZ2")] {
        let folder = Folder::new();
        let order = scrambled(&folder, &sides);
        folder.succeed("train --data X.npy --labels y.npy -o run --quiet");
        let object = folder.object("group run");
        assert_eq!(object["group"], name);
        assert_consistent(&object);
        // Where input 0 is pixel o, the pixels a, b and a + b − o stand at places that add up.
        let (factors, pixels) = (numbers(&object["factors"]), elements(&sides));
        let positions = places(&object, "positions");
        let input = |pixel: &Vec<usize>| order.iter().position(|&p| pixels[p] == *pixel).unwrap();
        let origin = &pixels[order[0]];
        let back: Vec<usize> = sides.iter().zip(origin).map(|(side, o)| side - o).collect();
        for (a, b) in pixels
            .iter()
            .flat_map(|a| pixels.iter().map(move |b| (a, b)))
        {
            let both = sum(&sum(a, b, &sides), &back, &sides);
            let wanted = sum(&positions[input(a)], &positions[input(b)], &factors);
            assert_eq!(positions[input(&both)], wanted, "{a:?} and {b:?}");
        }
    }
}

#[test]
fn half_of_a_small_orbit_never_leads_to_a_wrong_name() {
    let folder = Folder::new();
    for seed in [0, 6] {
        let object = folder.object(&format!(
            "train --group Z2xZ2 --split transforms --held-out 0.25 --noise 0.05 --seed {seed} -o {seed}"
        ));
        let name = &object["group"]["name"];
        assert!(name.is_null() || name == "Z2xZ2", "{object}");
    }
}
