//! Second moments of the members of orbits.

use super::orbits::Orbits;
use faer::Mat;

impl Orbits {
    /// mean(x xᵀ) over every member of every orbit, in double precision, block by block.
    pub(crate) fn covariance(&self) -> Mat<f64> {
        const COLUMNS: usize = 512;
        let inputs = self.inputs();
        let mut sum = Mat::<f64>::zeros(inputs, inputs);
        let mut sample = vec![0.0_f32; inputs];
        let mut places = (0..self.len())
            .flat_map(|orbit| (0..self.members(orbit)).map(move |member| (orbit, member)));
        let mut count = 0;
        loop {
            let mut block = Mat::<f64>::zeros(inputs, COLUMNS);
            let mut filled = 0;
            for (column, (orbit, member)) in places.by_ref().take(COLUMNS).enumerate() {
                self.write_member(orbit, member, &mut sample);
                for (n, x) in sample.iter().enumerate() {
                    block[(n, column)] = f64::from(*x);
                }
                filled = column + 1;
            }
            if filled == 0 {
                break;
            }
            sum += &block * block.transpose();
            count += filled;
        }
        sum * faer::Scale(1.0 / f64::from(count.max(1) as u32))
    }
}
