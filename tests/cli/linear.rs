//! A group that moves signals linearly, from a table to a model: rotations of a number, a vector and a quadrupole.

use crate::{Folder, Random};
use std::fmt::Write as _;

type Matrix = [[f64; 3]; 3];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn transposed(a: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// Of a unit quaternion, uniform in the ball and brought to the sphere.
fn rotation(random: &mut Random) -> Matrix {
    let [w, x, y, z] = loop {
        let q: [f64; 4] = std::array::from_fn(|_| random.next());
        let length = q.iter().map(|q| q * q).sum::<f64>().sqrt();
        if (0.1..1.0).contains(&length) {
            break q.map(|q| q / length);
        }
    };
    [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - z * w),
            2.0 * (x * z + y * w),
        ],
        [
            2.0 * (x * y + z * w),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - x * w),
        ],
        [
            2.0 * (x * z - y * w),
            2.0 * (y * z + x * w),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ]
}

/// `X.csv` and `y.csv`: things of degrees 0, 1 and 2, each in so many random rotations.
fn rotated(folder: &Folder, things: usize, members: usize) {
    let mut random = Random(5);
    let (mut samples, mut labels) = (String::new(), String::new());
    for thing in 0..things {
        let mean = random.next();
        let vector: [f64; 3] = std::array::from_fn(|_| random.next());
        let any: Matrix = std::array::from_fn(|_| std::array::from_fn(|_| random.next()));
        let trace = (any[0][0] + any[1][1] + any[2][2]) / 3.0;
        let tensor: Matrix = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                (any[i][j] + any[j][i]) / 2.0 - if i == j { trace } else { 0.0 }
            })
        });
        for _ in 0..members {
            let turn = rotation(&mut random);
            let v: [f64; 3] = std::array::from_fn(|i| (0..3).map(|k| turn[i][k] * vector[k]).sum());
            let m = product(&product(&turn, &tensor), &transposed(&turn));
            let root = 2_f64.sqrt();
            let quadrupole = [
                root * m[0][1],
                root * m[0][2],
                root * m[1][2],
                (m[0][0] - m[1][1]) / root,
                1.5_f64.sqrt() * m[2][2],
            ];
            let values = [mean].into_iter().chain(v).chain(quadrupole);
            let line: Vec<String> = values.map(|x| format!("{x:.5}")).collect();
            let _ = writeln!(samples, "{}", line.join(","));
            let _ = writeln!(labels, "t{thing}");
        }
    }
    folder.write("X.csv", samples);
    folder.write("y.csv", labels);
}

/// `X.csv` and `y.csv`: so many points of each thing, of `D` coordinates, in `members` positions.
fn points<const D: usize>(
    folder: &Folder,
    [things, points, members]: [usize; 3],
    mut moved: impl FnMut([f64; D], usize, &mut [f64; 2]) -> [f64; D],
) {
    let mut random = Random(9);
    let (mut samples, mut labels) = (String::new(), String::new());
    for thing in 0..things {
        let own: Vec<[f64; D]> = (0..points)
            .map(|_| std::array::from_fn(|_| random.next()))
            .collect();
        for member in 0..members {
            let mut motion = [random.next(), random.next()];
            let values = own
                .iter()
                .flat_map(|&point| moved(point, member, &mut motion));
            let line: Vec<String> = values.map(|x| format!("{x:.6}")).collect();
            let _ = writeln!(samples, "{}", line.join(","));
            let _ = writeln!(labels, "t{thing}");
        }
    }
    folder.write("X.csv", samples);
    folder.write("y.csv", labels);
}

#[test]
fn copies_of_one_motion_are_named_without_a_gradient() {
    let folder = Folder::new();
    let turned = |[x, y]: [f64; 2], angle: f64| {
        let (sin, cos) = angle.sin_cos();
        [cos * x - sin * y, sin * x + cos * y]
    };
    let run = |name: &str| {
        let line = format!("train --data X.csv --labels y.csv -o {name}");
        let trained = folder.object(&line);
        let within = trained["within"].as_f64().unwrap();
        assert!(within < 1e-8 && trained["nearest"] == 1.0, "{trained}");
        // Rounds of closed forms; gradients take thousands of steps.
        assert!(trained["steps"].as_u64().unwrap() < 100, "{trained}");
        assert!(
            trained["reconstruction"].as_f64().unwrap() < 1e-6,
            "{trained}"
        );
        // Its invariants lead back to signals that have them.
        folder.succeed(&format!("features {name} X.csv -o Y.npy --force"));
        let inverted = folder.object(&format!("invert {name} Y.npy -o back.npy --force"));
        let residuals = inverted["residuals"].as_array().unwrap();
        let worst = residuals
            .iter()
            .map(|r| r.as_f64().unwrap())
            .fold(0.0, f64::max);
        assert!(worst < 1e-5, "{name}: {worst}");
        trained["group"]["name"].as_str().unwrap().to_owned()
    };
    // Complex samples whose phase is not known, or known but for quarters.
    points(&folder, [100, 8, 8], |z, _, [angle, _]| {
        turned(z, *angle * 3.2)
    });
    assert_eq!(run("phase"), "SO(2)");
    // Products of two coordinates differ in two of the four: it takes more orbits.
    let quarter = |u: f64| (2.0 * u).floor() * std::f64::consts::FRAC_PI_2;
    points(&folder, [160, 8, 8], |z, _, [angle, _]| {
        turned(z, quarter(*angle))
    });
    assert_eq!(run("quarters"), "Z4");
    // Signals whose sign is not known.
    points(&folder, [60, 12, 2], |[x]: [f64; 1], member, _| {
        [x * [1.0, -1.0][member]]
    });
    assert_eq!(run("sign"), "Z2");
    // Points in a plane, turned and mirrored.
    points(&folder, [120, 3, 10], |z, member, [angle, _]| {
        let [x, y] = turned(z, *angle * 3.2);
        if member % 2 == 0 { [x, y] } else { [x, -y] }
    });
    assert_eq!(run("mirrored"), "O(2)");
    // A thing that is turned about the vertical.
    points(
        &folder,
        [120, 4, 10],
        |[x, y, z]: [f64; 3], _, [angle, _]| {
            let [x, y] = turned([x, y], *angle * 3.2);
            [x, y, z]
        },
    );
    assert_eq!(run("upright"), "SO(2)");
}

#[test]
fn rotations_of_space_are_named_exported_and_their_invariants_computed() {
    let folder = Folder::new();
    let (things, members) = (120, 6);
    rotated(&folder, things, members);
    let trained = folder.object("train --data X.csv --labels y.csv -o run");
    assert_eq!(trained["group"]["name"], "SO(3)");
    // Squares of distances: values are written with five digits.
    let (within, between) = (&trained["within"], &trained["between"]);
    assert!(
        within.as_f64().unwrap() < 1e-8 && between.as_f64().unwrap() > 0.2,
        "{trained}"
    );
    let words = folder.succeed("group run --expect SO(3)");
    assert!(words.contains("3 (degree 1), 5 (degree 2)"), "{words}");
    let refused = folder.refuse("group run --expect O(2)");
    assert!(
        refused.contains("the group is SO(3), not O(2)"),
        "{refused}"
    );
    folder.succeed("export run -o small.bsn --encoding i8");
    assert_eq!(folder.object("inspect small.bsn")["structure"], "couplings");
    let computed = folder.object("features small.bsn X.csv -o Y.npy");
    assert_eq!(computed["samples"], things * members);
}

#[test]
fn a_finite_group_behind_a_mixing_is_named_by_its_elements() {
    // Functions on the corners of a square with both orientations, moved by D4, behind a rotation of inputs by pairs.
    let folder = Folder::new();
    let mut random = Random(9);
    let corner = |n: usize, turn: usize, flip: bool| {
        let (place, side) = (n % 4, n / 4);
        let place = if flip { (4 - place) % 4 } else { place };
        (place + turn) % 4 + 4 * (side ^ usize::from(flip))
    };
    let (mut samples, mut labels) = (String::new(), String::new());
    for thing in 0..300 {
        let x: [f64; 8] = std::array::from_fn(|_| random.next());
        for member in 0..8 {
            let mut y = [0.0; 8];
            (0..8).for_each(|n| y[corner(n, member % 4, member > 3)] = x[n]);
            for round in 0..8 {
                for n in 0..7 {
                    let (sin, cos) = (0.7 + 0.3 * (n + 2 * round) as f64).sin_cos();
                    (y[n], y[n + 1]) = (cos * y[n] - sin * y[n + 1], sin * y[n] + cos * y[n + 1]);
                }
            }
            let line: Vec<String> = y.iter().map(|y| format!("{y:.6}")).collect();
            let _ = writeln!(samples, "{}", line.join(","));
            let _ = writeln!(labels, "t{thing}");
        }
    }
    folder.write("X.csv", samples);
    folder.write("y.csv", labels);
    let trained = folder.object("train --data X.csv --labels y.csv -o run --phases moments");
    assert_eq!(trained["group"]["name"], "D4", "{trained}");
    folder.succeed("group run --expect D4");
    let refused = folder.refuse("group run --expect Q8");
    assert!(refused.contains("the group is D4, not Q8"), "{refused}");
}

#[test]
fn a_budget_says_what_a_board_has_and_exits_with_1_where_it_is_too_little() {
    let folder = Folder::new();
    folder.succeed("model --group Z16 -o m.bsn");
    let words = folder.succeed("budget m.bsn --board cortex-m4f");
    assert!(
        words.contains("flash ") && words.contains("RAM ") && words.contains("instructions "),
        "{words}"
    );
    assert!(folder.object("budget m.bsn --board cortex-m0").is_object());
    let refused = folder.refuse("budget m.bsn --board cortex-m4f --flash 2K");
    assert!(refused.contains("2048"), "{refused}");
    assert!(folder.object("budget m.bsn --board rp2040").is_object());
}
