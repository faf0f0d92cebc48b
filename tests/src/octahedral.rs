//! The octahedral group in its regular action, by hand: 24 rotations of a cube, its five real irreps, and couplings of them by
//! averages over the group. What is learned or named elsewhere must agree with it.

use bispectral_learn::group::couplings::{Couplings, Tensor, Term};
use bispectral_learn::ndarray::Array2;

/// Elements of the group, and inputs of its regular action.
pub const ORDER: usize = 24;

type Rotation = [[i32; 3]; 3];

/// A copy of an irrep in the basis.
#[derive(Clone, Copy)]
struct Block {
    irrep: usize,
    from: usize,
}

/// The signed permutation matrices of determinant 1.
#[must_use]
pub fn rotations() -> Vec<Rotation> {
    let permutations = [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [0, 2, 1],
        [2, 1, 0],
        [1, 0, 2],
    ];
    let mut found = Vec::new();
    for (number, permutation) in permutations.iter().enumerate() {
        let parity = if number < 3 { 1 } else { -1 };
        for signs in 0..8 {
            let sign = |row: usize| if signs >> row & 1 == 1 { -1 } else { 1 };
            if parity * sign(0) * sign(1) * sign(2) == 1 {
                let mut g = [[0; 3]; 3];
                for (row, &column) in permutation.iter().enumerate() {
                    g[row][column] = sign(row);
                }
                found.push(g);
            }
        }
    }
    found
}

/// x moved by h: (h·x)(g) = x(h⁻¹ g), as the number of h⁻¹ g for every g.
#[must_use]
pub fn moved_by(h: usize) -> Vec<usize> {
    let all = rotations();
    let inverse = transposed(&all[h]);
    let place = |g: &Rotation| {
        let product = product(&inverse, g);
        all.iter().position(|g| *g == product).expect("an element")
    };
    all.iter().map(place).collect()
}

fn product(a: &Rotation, b: &Rotation) -> Rotation {
    let cell = |i: usize, j: usize| (0..3).map(|k| a[i][k] * b[k][j]).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| cell(i, j)))
}

fn transposed(a: &Rotation) -> Rotation {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// A1, A2 (the sign of the permutation of the axes), E (the axes without their sum), T1 (the rotation), T2 = A2 ⊗ T1.
fn irreps(g: &Rotation) -> [Array2<f64>; 5] {
    let entry = |i: usize, j: usize| f64::from(g[i][j]);
    let sign: f64 = (0..3)
        .map(|i| (0..3).map(|j| entry(i, j)).sum::<f64>())
        .product();
    let (a, b) = (0.5_f64.sqrt(), 6_f64.sqrt().recip());
    let plane = [[a, -a, 0.0], [b, b, -2.0 * b]];
    let e = |p: usize, q: usize| -> f64 {
        let cells = (0..9).map(|k| (k / 3, k % 3));
        cells
            .map(|(i, j)| plane[p][i] * entry(i, j).abs() * plane[q][j])
            .sum()
    };
    let rotation = Array2::from_shape_fn((3, 3), |(i, j)| entry(i, j));
    [
        Array2::from_elem((1, 1), 1.0),
        Array2::from_elem((1, 1), sign),
        Array2::from_shape_fn((2, 2), |(p, q)| e(p, q)),
        rotation.clone(),
        rotation * sign,
    ]
}

/// All couplings of up to three blocks; in front a selective set: terms whose derivatives have full rank, cheapest first.
///
/// # Panics
/// Never: what is made here is sound.
#[must_use]
pub fn couplings() -> Couplings {
    let matrices: Vec<[Array2<f64>; 5]> = rotations().iter().map(irreps).collect();
    let (basis, blocks) = basis(&matrices);
    let (mut tensors, mut terms) = (Vec::new(), Vec::new());
    for order in 1..=3 {
        for irreps in ascending(5, order) {
            let first = tensors.len();
            tensors.extend(invariant_tensors(&matrices, &irreps));
            for tensor in first..tensors.len() {
                let copies: Vec<Vec<&Block>> = (irreps.iter())
                    .map(|&irrep| blocks.iter().filter(|b| b.irrep == irrep).collect())
                    .collect();
                for chosen in choices(&copies) {
                    // Copies of one irrep in ascending order: the others are permutations of the same form.
                    let repeats = chosen.windows(2).zip(irreps.windows(2));
                    if repeats
                        .clone()
                        .all(|(b, i)| i[0] != i[1] || b[0].from <= b[1].from)
                    {
                        let offsets = chosen.iter().map(|block| block.from).collect();
                        terms.push(Term { tensor, offsets });
                    }
                }
            }
        }
    }
    let all = Couplings::new(basis, tensors, terms).expect("couplings");
    let (order, count) = by_rank(&all);
    let chosen = all.select(&order).expect("terms");
    chosen.with_selective(count).expect("fewer than all")
}

/// Rows √(d/24) ρ_ij(g): copy j of an irrep is its column j, and moves as it.
fn basis(matrices: &[[Array2<f64>; 5]]) -> (Array2<f64>, Vec<Block>) {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut blocks = Vec::new();
    for irrep in 0..5 {
        let dim = matrices[0][irrep].nrows();
        let scale = (dim as f64 / ORDER as f64).sqrt();
        for copy in 0..dim {
            let from = rows.len();
            blocks.push(Block { irrep, from });
            for i in 0..dim {
                rows.push(
                    matrices
                        .iter()
                        .map(|g| scale * g[irrep][[i, copy]])
                        .collect(),
                );
            }
        }
    }
    let basis = Array2::from_shape_vec((ORDER, ORDER), rows.concat()).expect("24 rows");
    (basis, blocks)
}

/// Lists of `order` numbers below `end` that do not descend.
fn ascending(end: usize, order: usize) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..order {
        lists = (lists.iter())
            .flat_map(|list: &Vec<usize>| {
                let from = list.last().copied().unwrap_or(0);
                (from..end).map(|k| [&list[..], &[k]].concat())
            })
            .collect();
    }
    lists
}

fn choices<'a>(copies: &[Vec<&'a Block>]) -> Vec<Vec<&'a Block>> {
    let mut lists: Vec<Vec<&Block>> = vec![Vec::new()];
    for of_irrep in copies {
        lists = (lists.iter())
            .flat_map(|list| of_irrep.iter().map(|block| [&list[..], &[*block]].concat()))
            .collect();
    }
    lists
}

/// A basis of the tensors that the group leaves as they are: averages of single entries, those that are new.
fn invariant_tensors(matrices: &[[Array2<f64>; 5]], irreps: &[usize]) -> Vec<Tensor> {
    let dims: Vec<usize> = irreps.iter().map(|&i| matrices[0][i].nrows()).collect();
    let size: usize = dims.iter().product();
    let index = |mut number: usize| -> Vec<usize> {
        let mut index = vec![0; dims.len()];
        for (place, dim) in index.iter_mut().zip(&dims).rev() {
            (*place, number) = (number % dim, number / dim);
        }
        index
    };
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut tensors = Vec::new();
    for seed in 0..size {
        let from = index(seed);
        let average = |number: usize| {
            let to = index(number);
            let along = |g: &[Array2<f64>; 5]| -> f64 {
                let factors = irreps.iter().enumerate();
                factors.map(|(k, &i)| g[i][[to[k], from[k]]]).product()
            };
            matrices.iter().map(along).sum::<f64>() / ORDER as f64
        };
        let mut value: Vec<f64> = (0..size).map(average).collect();
        let mut rest = value.clone();
        for known in &found {
            let overlap: f64 = rest.iter().zip(known).map(|(a, b)| a * b).sum();
            rest.iter_mut()
                .zip(known)
                .for_each(|(a, b)| *a -= overlap * b);
        }
        let length = rest.iter().map(|c| c * c).sum::<f64>().sqrt();
        if length > 1e-6 {
            found.push(rest.iter().map(|c| c / length).collect());
            let largest = value.iter().fold(0.0_f64, |l, c| l.max(c.abs()));
            value.iter_mut().for_each(|c| *c /= largest);
            tensors.push(Tensor::dense(&dims, &value, 1e-9).expect("a tensor"));
        }
    }
    tensors
}

/// The terms whose derivatives are new at some signal, cheapest first, then the others; and how many they are.
fn by_rank(couplings: &Couplings) -> (Vec<usize>, usize) {
    let x: Vec<f64> = (0..ORDER)
        .map(|n| ((n * n * 7 + n * 3 + 11) % 61) as f64 / 61.0 - 0.375)
        .collect();
    let z = couplings.coefficients(&x).expect("a signal");
    let jacobian = couplings.forms_jacobian(&z);
    let cost = |t: usize| {
        let tensor = &couplings.tensors()[couplings.terms()[t].tensor];
        tensor.entries().len() * tensor.order()
    };
    let mut by_cost: Vec<usize> = (0..couplings.terms().len()).collect();
    by_cost.sort_by_key(|&t| cost(t));
    let mut known: Vec<Vec<f64>> = Vec::new();
    let (mut selective, mut others) = (Vec::new(), Vec::new());
    for t in by_cost {
        let mut row = jacobian.row(t).to_vec();
        let size = row.iter().map(|d| d * d).sum::<f64>().sqrt();
        for other in &known {
            let overlap: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
            row.iter_mut()
                .zip(other)
                .for_each(|(a, b)| *a -= overlap * b);
        }
        let length = row.iter().map(|d| d * d).sum::<f64>().sqrt();
        if length > 1e-6 * size.max(1e-3) {
            known.push(row.iter().map(|d| d / length).collect());
            selective.push(t);
        } else {
            others.push(t);
        }
    }
    let count = selective.len();
    selective.extend(others);
    (selective, count)
}
