//! Images scaled down by averaging areas.

/// The pixels that a part of a line covers, and the share of the part each is.
pub(super) type Shares = Vec<(usize, f64)>;

/// The mean of what every pixel of `small` covers of `image`, whose rows have `width` pixels.
pub(super) fn average(
    image: &[f32],
    width: usize,
    [down, right]: [&[Shares]; 2],
    small: &mut [f32],
) {
    for (row, rows) in small.chunks_exact_mut(right.len()).zip(down) {
        for (pixel, columns) in row.iter_mut().zip(right) {
            let mut sum = 0.0;
            for &(v, of_v) in rows {
                for &(h, of_h) in columns {
                    sum += of_v * of_h * f64::from(image[v * width + h]);
                }
            }
            *pixel = sum as f32;
        }
    }
}

/// For each of `to` equal parts of a window in the middle of a line, which of the line's `from` pixels it covers, and the
/// share of the part each is. Where the window, moved by `shift`, leaves the line, there is nothing.
pub(super) fn shares(from: usize, to: usize, window: f64, shift: f64) -> Vec<Shares> {
    let scale = window / to as f64;
    let origin = (from as f64 - window) / 2.0 + shift;
    (0..to)
        .map(|part| {
            let begin = origin + part as f64 * scale;
            let end = origin + (part + 1) as f64 * scale;
            (begin.max(0.0) as usize..from)
                .take_while(|&pixel| (pixel as f64) < end)
                .map(|pixel| {
                    let covered = end.min(pixel as f64 + 1.0) - begin.max(pixel as f64);
                    (pixel, covered / scale)
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_covered_once() {
        for (from, to) in [(28, 16), (16, 16), (5, 8), (1, 3)] {
            for part in shares(from, to, from as f64, 0.0) {
                let sum: f64 = part.iter().map(|(_, share)| share).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{from} to {to}: {part:?}");
            }
        }
    }

    #[test]
    fn a_window_that_leaves_the_line_sees_nothing_there() {
        let parts = shares(4, 4, 4.0, 1.5);
        let sums: Vec<f64> = parts
            .iter()
            .map(|part| part.iter().map(|(_, share)| share).sum())
            .collect();
        assert_eq!(sums, [1.0, 1.0, 0.5, 0.0]);
        let parts = shares(4, 2, 2.0, 0.0);
        assert_eq!(parts, [vec![(1, 1.0)], vec![(2, 1.0)]]);
    }
}
