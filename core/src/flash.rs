//! Models in flash, at an address from which whole words can be loaded.

/// Bytes at a multiple of 16, which [`include_model!`](crate::include_model) makes.
///
/// ```
/// use bispectral_core::Aligned;
///
/// static BYTES: Aligned<[u8; 3]> = Aligned([1, 2, 3]);
/// assert_eq!(BYTES.0.as_ptr() as usize % 16, 0);
/// ```
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub struct Aligned<T: ?Sized>(pub T);

/// `include_bytes!` of a model at a multiple of 16, and its [`Sizes`](crate::Sizes) as constants.
///
/// `include_model!(mod turn = "turn.bsn")` is a module `turn` with the bytes, `MODEL`, and the constants `INPUTS`, `ROWS`,
/// `PAIRS`, `FEATURES`, `SCRATCH`, `CLASSES`, `CHARACTERS`, `STACK` and `BYTES`. They are read from the model: a program stays as it is when the model is
/// exported anew in another form. `SCRATCH` is enough for a classifier, too. `include_model!("turn.bsn")` is the bytes alone.
///
/// Weights at a multiple of four are loaded as words; from `include_bytes!`, which promises no alignment,
/// a Cortex-M0 or a RISC-V without unaligned loads would put each together from four bytes.
///
/// ```
/// use bispectral_core::{Complex32, Model, include_model};
///
/// include_model!(mod z4 = concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
///
/// let model = Model::from_bytes(z4::MODEL)?;
/// let mut scratch = [0.0; z4::SCRATCH];
/// let mut features = [Complex32::ZERO; z4::PAIRS];
/// model.invariants(&[0.1, 0.9, 0.3, -0.2], &mut scratch, &mut features)?;
/// assert!(model.is_aligned() && z4::CLASSES == 0);
/// # Ok::<(), bispectral_core::Error>(())
/// ```
///
/// A file that is no model does not compile:
///
/// ```compile_fail
/// bispectral_core::include_model!(mod wrong = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
/// ```
#[macro_export]
macro_rules! include_model {
    ($(#[$about:meta])* $visibility:vis mod $name:ident = $path:expr) => {
        $(#[$about])*
        #[allow(dead_code)]
        $visibility mod $name {
            static ALIGNED: &$crate::Aligned<[u8]> = &$crate::Aligned(*include_bytes!($path));
            /// The model, at a multiple of 16.
            pub static MODEL: &[u8] = &ALIGNED.0;
            const SIZES: $crate::Sizes = match $crate::Sizes::of(include_bytes!($path)) {
                Some(sizes) => sizes,
                None => panic!("the file is no bispectral model of this version"),
            };
            /// N: the samples of a signal.
            pub const INPUTS: usize = SIZES.inputs;
            /// R: the rows of W, one coefficient each.
            pub const ROWS: usize = SIZES.rows;
            /// The invariants of a signal.
            pub const PAIRS: usize = SIZES.pairs;
            /// Numbers that the features of a signal are.
            pub const FEATURES: usize = SIZES.features;
            /// Elements of scratch for every computation, a classifier's included.
            pub const SCRATCH: usize = SIZES.scratch;
            /// Classes that a classifier tells apart, or none.
            pub const CLASSES: usize = SIZES.classes;
            /// Coefficients that follow a stream, or none.
            pub const CHARACTERS: usize = SIZES.characters;
            /// Bytes of stack that the core takes at most.
            pub const STACK: usize = SIZES.stack;
            /// Bytes of the model.
            pub const BYTES: usize = include_bytes!($path).len();
        }
    };
    ($path:expr $(,)?) => {{
        static MODEL: &$crate::Aligned<[u8]> = &$crate::Aligned(*include_bytes!($path));
        &MODEL.0
    }};
}
