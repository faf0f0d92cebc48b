//! The photographs of van Hateren and van der Schaaf (1998): `.iml` (linear) and `.imc` (deblurred) files.
//!
//! 1024 rows of 1536 big-endian u16 and nothing else, so the size of the file is all there is to check.

use bispectral_learn::storage::open_file;
use bispectral_learn::{Error, Result};
use ndarray::Array2;
use std::io::Read;
use std::path::Path;

/// Rows of a photograph.
pub const HEIGHT: usize = 1024;
/// Columns of a photograph.
pub const WIDTH: usize = 1536;

const BYTES: u64 = (HEIGHT * WIDTH * 2) as u64;

/// The photograph in the file at `path`, in the camera's linear units: 12 bits in an `.iml` file.
///
/// # Errors
/// It cannot be read, or is not of the one size such files have.
///
/// ```
/// use bispectral_run::photographs::iml;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("imk00001.iml");
/// std::fs::write(&path, [0x01, 0x02].repeat(1536 * 1024))?;
/// assert_eq!(iml::read(&path)?[[1023, 1535]], 258.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(path: &Path) -> Result<Array2<f32>> {
    let (file, length) = open_file(path)?;
    let mut bytes = Vec::new();
    if length == BYTES {
        let reading = file.take(BYTES + 1).read_to_end(&mut bytes);
        reading.map_err(|error| Error::reading(path, &error))?;
    }
    let values = bytes
        .chunks_exact(2)
        .map(|pair| f32::from(u16::from_be_bytes([pair[0], pair[1]])));
    Array2::from_shape_vec((HEIGHT, WIDTH), values.collect()).map_err(|_| {
        Error::file(
            path,
            format!("{length} bytes, where a photograph of {WIDTH} × {HEIGHT} pixels has {BYTES}"),
            "copy or download it again",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bytes(bytes: &[u8]) -> Result<Array2<f32>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("imk00001.iml");
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    }

    #[test]
    fn pixels_are_big_endian_and_row_after_row() {
        let mut bytes = vec![0; BYTES as usize];
        bytes[2 * WIDTH + 2] = 0x0f;
        bytes[2 * WIDTH + 3] = 0xff;
        let photograph = of_bytes(&bytes).unwrap();
        assert_eq!(photograph.dim(), (1024, 1536));
        assert_eq!(photograph[[1, 1]], 4095.0);
        assert_eq!(photograph.sum(), 4095.0);
    }

    #[test]
    fn files_of_any_other_size_are_refused() {
        for length in [0, 1, 100, BYTES - 1, BYTES + 1] {
            let line = of_bytes(&vec![0; length as usize]).unwrap_err().to_string();
            let refusal = format!(
                "imk00001.iml: {length} bytes, where a photograph of 1536 × 1024 pixels has 3145728: "
            );
            assert!(line.contains(&refusal), "{line}");
        }
    }
}
