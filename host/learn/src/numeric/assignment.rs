//! The assignment problem: a permutation p with the largest Σ_n value[n, p(n)], by shortest augmenting paths (Jonker and
//! Volgenant).
//!
//! Minimising cost = −value. Column reduction and two rounds of row augmentation give most rows their column; each row left is
//! assigned by Dijkstra's algorithm on reduced costs `c[i, j] − v[j]`, which stay at their least where they are assigned.
//! O(n³) at worst, near n² where the start is good.

/// Rows' columns with the largest sum of `values`, a square matrix row after row; ties fall to the lowest.
///
/// # Panics
/// `values` is not `size`² numbers.
#[must_use]
pub fn assign(values: &[f32], size: usize) -> Vec<usize> {
    assert_eq!(values.len(), size * size);
    if let Some(columns) = largest_of_rows(values, size) {
        return columns;
    }
    let row = |i: usize| &values[i * size..][..size];
    let none = usize::MAX;
    let (mut column_of, mut row_of) = (vec![none; size], vec![none; size]);
    let mut v = vec![f64::INFINITY; size];
    let mut best_row = vec![0; size];
    for i in 0..size {
        for ((v, best), &value) in v.iter_mut().zip(&mut best_row).zip(row(i)) {
            if -f64::from(value) < *v {
                (*v, *best) = (-f64::from(value), i);
            }
        }
    }
    for j in (0..size).rev() {
        let i = best_row[j];
        if column_of[i] == none {
            (column_of[i], row_of[j]) = (j, i);
        }
    }
    let mut free: Vec<usize> = (0..size).filter(|&i| column_of[i] == none).collect();
    for _ in 0..2 {
        free = augment_rows(values, size, &free, &mut v, &mut column_of, &mut row_of);
    }
    let mut distance = vec![0.0; size];
    let mut predecessor = vec![0; size];
    for &start in &free {
        predecessor.fill(start);
        // The distances of columns that were not scanned yet.
        let mut open: Vec<f64> = (row(start).iter().zip(&v))
            .map(|(&value, v)| -f64::from(value) - v)
            .collect();
        let mut scanned = Vec::new();
        let (end, least) = loop {
            let (mut j, mut least) = (0, f64::INFINITY);
            for (k, &open) in open.iter().enumerate() {
                if open < least {
                    (j, least) = (k, open);
                }
            }
            distance[j] = least;
            let i = row_of[j];
            if i == none || scanned.len() + 1 == size {
                break (j, least);
            }
            scanned.push(j);
            open[j] = f64::NAN;
            let values = row(i);
            let base = -f64::from(values[j]) - v[j] - least;
            let columns = open.iter_mut().zip(&mut predecessor);
            for ((open, predecessor), (&value, v)) in columns.zip(values.iter().zip(&v)) {
                let through = -f64::from(value) - v - base;
                // Scanned columns are no number, which nothing is less than.
                if through < *open {
                    (*open, *predecessor) = (through, i);
                }
            }
        };
        for &j in &scanned {
            v[j] += distance[j] - least;
        }
        let mut j = end;
        loop {
            let i = predecessor[j];
            row_of[j] = i;
            std::mem::swap(&mut column_of[i], &mut j);
            if i == start {
                break;
            }
        }
    }
    column_of
}

/// A permutation with a large sum of `values`, a square matrix row after row: rows take the column of their largest number, those
/// that lose most without it first, and the others the best that is left. Some n² steps; the largest sum where no two rows want
/// the same column.
///
/// # Panics
/// `values` is not `size`² numbers.
#[must_use]
pub fn assign_greedily(values: &[f32], size: usize) -> Vec<usize> {
    assert_eq!(values.len(), size * size);
    let mut rows: Vec<(f32, usize, usize)> = (values.chunks_exact(size).enumerate())
        .map(|(i, row)| {
            let (mut first, mut second, mut column) = (f32::NEG_INFINITY, f32::NEG_INFINITY, 0);
            for (j, &value) in row.iter().enumerate() {
                if value > first {
                    (second, first, column) = (first, value, j);
                } else if value > second {
                    second = value;
                }
            }
            (first - second, i, column)
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut taken = vec![false; size];
    let mut columns = vec![usize::MAX; size];
    let mut left = Vec::new();
    for (_, i, j) in rows {
        if std::mem::replace(&mut taken[j], true) {
            left.push(i);
        } else {
            columns[i] = j;
        }
    }
    let mut free: Vec<usize> = (0..size).filter(|&j| !taken[j]).collect();
    for i in left {
        let value = |k: &usize| values[i * size + free[*k]];
        let best = (0..free.len()).max_by(|a, b| value(a).total_cmp(&value(b)));
        columns[i] = free.swap_remove(best.expect("as many columns as rows"));
    }
    columns
}

/// The column of the largest number of each row, where no two rows have the same: nothing can be larger.
fn largest_of_rows(values: &[f32], size: usize) -> Option<Vec<usize>> {
    let mut taken = vec![false; size];
    let largest = |row: &[f32]| {
        let mut best = (0, f32::NEG_INFINITY);
        for (j, &value) in row.iter().enumerate() {
            if value > best.1 {
                best = (j, value);
            }
        }
        (!std::mem::replace(&mut taken[best.0], true)).then_some(best.0)
    };
    values.chunks_exact(size).map(largest).collect()
}

/// Gives free rows their best column where that frees a row no worse off; returns the rows that are free after it.
fn augment_rows(
    values: &[f32],
    size: usize,
    free: &[usize],
    v: &mut [f64],
    column_of: &mut [usize],
    row_of: &mut [usize],
) -> Vec<usize> {
    let none = usize::MAX;
    let mut left = Vec::new();
    let mut waiting: Vec<usize> = free.iter().rev().copied().collect();
    // Rounding could make two rows take a column from each other for ever.
    let mut budget = 4 * size;
    while let Some(i) = waiting.pop() {
        let (mut first, mut second) = ((f64::INFINITY, 0), (f64::INFINITY, 0));
        let row = &values[i * size..][..size];
        for (j, (&value, v)) in row.iter().zip(&*v).enumerate() {
            let reduced = -f64::from(value) - v;
            if reduced < first.0 {
                (second, first) = (first, (reduced, j));
            } else if reduced < second.0 {
                second = (reduced, j);
            }
        }
        let gain = second.0 - first.0;
        let mut j = first.1;
        let holder = row_of[j];
        let falls = gain.is_finite() && gain > 0.0;
        if falls {
            v[j] -= gain;
        } else if holder != none && second.0.is_finite() {
            j = second.1;
        }
        let displaced = row_of[j];
        (column_of[i], row_of[j]) = (j, i);
        if displaced != none {
            column_of[displaced] = none;
            budget = budget.saturating_sub(1);
            if falls && budget > 0 {
                waiting.push(displaced);
            } else {
                left.push(displaced);
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn best(values: &[f32], size: usize, row: usize, used: u32) -> f64 {
        if row == size {
            return 0.0;
        }
        let free = (0..size).filter(|j| used & (1 << j) == 0);
        let value = |j: usize| f64::from(values[row * size + j]);
        free.map(|j| value(j) + best(values, size, row + 1, used | 1 << j))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    proptest! {
        #[test]
        fn no_permutation_has_a_larger_sum(
            (size, values) in (1_usize..=7).prop_flat_map(|size| {
                // Few values, so that there are ties.
                (Just(size), prop::collection::vec((-4_i8..=4).prop_map(f32::from), size * size))
            }),
        ) {
            let found = assign(&values, size);
            let mut sorted = found.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..size));
            let sum: f64 = found.iter().enumerate().map(|(i, &j)| f64::from(values[i * size + j])).sum();
            let most = best(&values, size, 0, 0);
            prop_assert_eq!(sum, most);

            let greedy = assign_greedily(&values, size);
            let mut sorted = greedy.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..size));
            if largest_of_rows(&values, size).is_some() {
                let sum: f64 = greedy.iter().enumerate().map(|(i, &j)| f64::from(values[i * size + j])).sum();
                prop_assert_eq!(sum, most);
            }
        }
    }

    #[test]
    fn a_hidden_permutation_of_many_is_found() {
        let size = 300;
        let hidden = |i: usize| (i * 7 + 3) % size;
        let noise = |i: usize, j: usize| ((i * 31 + j * 17 + i * j) % 101) as f32 / 101.0;
        let values: Vec<f32> = (0..size * size)
            .map(|k| {
                noise(k / size, k % size)
                    + if k % size == hidden(k / size) {
                        2.0
                    } else {
                        0.0
                    }
            })
            .collect();
        assert!(
            assign(&values, size)
                .into_iter()
                .enumerate()
                .all(|(i, j)| j == hidden(i))
        );
    }
}
