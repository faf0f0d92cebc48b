//! The library's enumerations as values of flags: the names and the help are the command line's own.

use bispectral_learn::analysis::trial;
use bispectral_learn::classify::{device, features, protocol};
use bispectral_learn::data::orbits;
use bispectral_learn::learn::{phase, schedule};
use bispectral_learn::model::{emit, firmware, form};
use bispectral_learn::network;
use bispectral_learn::{Error, Result};
use bispectral_run::config;
use clap::ValueEnum;
use std::path::Path;

/// An enumeration of flag values for each of the library's, both ways: one that lacks a variant does not compile.
macro_rules! choices {
    ($($(#[$about:meta])* $name:ident for $library:ty {
        $($(#[doc = $help:literal])* $variant:ident,)*
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name {
            $($(#[doc = $help])* $variant,)*
        }

        impl From<$name> for $library {
            fn from(choice: $name) -> Self {
                match choice {
                    $($name::$variant => <$library>::$variant,)*
                }
            }
        }

        impl From<$library> for $name {
            fn from(value: $library) -> Self {
                match value {
                    $(<$library>::$variant => $name::$variant,)*
                }
            }
        }
    )*};
}

choices! {
    /// What a phase minimises.
    Loss for phase::LossName {
        /// The residual of permutations that take members to members: no gradient, exact, and from few orbits. For data
        /// that is moved by permutations, of up to 1024 inputs; beyond, it is left out
        Permutations,
        /// The share of the orbits' moments that W does not make diagonal: no gradient, and exact on whole orbits. For
        /// data that is moved by permutations, of up to 1024 inputs; beyond, it is left out
        Spectral,
        /// The change of |z_i|² along orbits: hundreds of times cheaper, and nearly enough
        SecondOrder,
        /// The paper's loss: the change of β̄ along orbits, and the reconstruction of x
        OrbitSeparation,
        /// The share of invariant forms that changes along orbits: no gradient, and W stays as it is. For data that a compact
        /// group moves linearly, in any coordinates, of up to 64 inputs; beyond, it is left out
        Moments,
    }

    /// How the learning rate changes.
    Schedule for schedule::Schedule {
        /// `lr` throughout
        Constant,
        /// From `lr` to zero along half a cosine
        Cosine,
        /// Triangles between `lr_low` and `lr`, `period` steps each: the paper's
        Cyclic,
        /// `lr`, halved when the mean loss of `period` steps has not fallen for `patience` periods: the authors' code
        Plateau,
    }

    /// How invariants are compared.
    Distance for network::Distance {
        /// ‖β̄_a − β̄_b‖², the paper's equation
        Squared,
        /// ‖β̄_a − β̄_b‖, as in the authors' code
        Euclidean,
    }

    /// What of the residual counts.
    Reconstruction for network::Reconstruction {
        /// All of it, as in the paper's equation
        Complex,
        /// Its real part, as in the authors' code
        Real,
    }

    /// What is held out.
    Split for orbits::Split {
        /// Some members of every orbit: the paper's
        Transforms,
        /// Whole orbits
        Exemplars,
    }

    /// How exemplars are moved.
    Transform for config::TransformName {
        /// Cyclic shifts of a signal
        Translate1d,
        /// Cyclic shifts of an image, in both directions
        Translate2d,
        /// Rotations of a square image about its centre
        Rotate,
    }

    /// What signals are compared by.
    Attacked for trial::Features {
        /// β̄, the normalised bispectrum
        Bispectrum,
        /// |z|², normalised
        Power,
        /// As many different numbers as |z|² has: the mean squared responses of small random filters, normalised
        Pooled,
        /// The invariants of a model of couplings; what bispectrum means for it, too
        Couplings,
    }

    /// What is classified.
    Classified for features::Kind {
        /// β̄: all there is to know of a signal but where in its orbit it is
        Invariants,
        /// |z|² / ‖z‖²: invariant, too, but without phases
        Power,
        /// The signal as it is
        Signal,
    }

    /// How a classifier's learning rate changes.
    RateSchedule for protocol::RateSchedule {
        /// It is multiplied by `factor` where the loss has not fallen for `patience` looks: the paper's
        Plateau,
        /// From `rate` to zero along half a cosine
        Cosine,
    }

    /// What a weight of a perceptron is on a device.
    LayerEncoding for device::Encoding {
        /// Four bytes
        F32,
        /// One byte, and a scale for each output of a layer
        I8,
    }

    /// How a weight of W is stored.
    Encoding for form::Encoding {
        /// Four bytes, as it was learned
        F32,
        /// Two bytes: off by at most 2^-12 of itself
        F16,
        /// One byte, and a scale a row
        I8,
        /// Of the structures cyclic and fft: whole numbers of 32 bits throughout, for processors without floats
        I32,
    }

    /// The language of a program around a model.
    Language for firmware::Language {
        /// A Cargo project
        Rust,
        /// A Makefile, and the core as a static library
        C,
    }

    /// The kinds of files a model is written as.
    Emit for emit::Kind {
        /// A model file, for `include_model!`, a file system or a partition of its own
        Postcard,
        /// A Rust module with the model and its sizes as constants
        Rust,
        /// A C header with the model and its sizes
        C,
    }
}

impl Emit {
    /// Refuses a name that says another kind of file: nobody reads a module of Rust as a model.
    pub(crate) fn check(self, output: &Path) -> Result<()> {
        let said = match output.extension().and_then(|end| end.to_str()) {
            Some("bsn") => Emit::Postcard,
            Some("rs") => Emit::Rust,
            Some("h" | "c") => Emit::C,
            _ => return Ok(()),
        };
        if said == self {
            return Ok(());
        }
        let (what, end) = match self {
            Emit::Postcard => ("a model is written, as without --emit", "bsn"),
            Emit::Rust => ("--emit rust writes a module", "rs"),
            Emit::C => ("--emit c writes a header", "h"),
        };
        let remedy = format!("name it {}", output.with_extension(end).display());
        Err(Error::file(output, what, remedy))
    }
}
