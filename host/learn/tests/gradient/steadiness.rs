//! The same bits on any number of threads, and whatever a workspace did before.

use super::random::{SHAPES, objectives, random_network, random_samples};
use bispectral_learn::network::{Loss, SecondOrder, Workspace};

/// Loss and gradient of both objectives, as bits.
fn bits(workspace: &mut Workspace<f32>, shape: (usize, usize, &[usize])) -> Vec<u64> {
    let (rows, inputs, orbits) = shape;
    let network = random_network(rows, inputs, 6);
    let samples = random_samples(inputs, orbits, 7);
    let mut bits = Vec::new();
    let mut note = |loss: Loss, workspace: &Workspace<f32>| {
        bits.extend([loss.invariance, loss.reconstruction, loss.total].map(f64::to_bits));
        let gradient = workspace.gradient();
        let numbers = gradient.re.iter().chain(gradient.im);
        bits.extend(numbers.map(|g| u64::from(g.to_bits())));
    };
    for objective in objectives() {
        let loss = workspace.loss_and_gradient(&network, &samples, orbits, &objective);
        note(loss.expect("finite"), workspace);
    }
    let loss = workspace.second_order(&network, &samples, orbits, &SecondOrder::default());
    note(loss.expect("finite"), workspace);
    bits
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // 36 tiles in 16 parts, and one tile in one.
    for shape in [(100, 100, &[9, 1, 30, 5][..]), (7, 8, &[4, 4][..])] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            pool.install(|| bits(&mut Workspace::new(), shape))
        };
        let one = on(1);
        for threads in [2, 8, 8] {
            assert!(on(threads) == one, "{threads} threads, {shape:?}");
        }
    }
}

#[test]
fn what_a_workspace_did_before_leaves_no_trace() {
    let mut used = Workspace::new();
    for shape in SHAPES.into_iter().chain(SHAPES.into_iter().rev()) {
        assert!(
            bits(&mut used, shape) == bits(&mut Workspace::new(), shape),
            "{shape:?}"
        );
    }
}
