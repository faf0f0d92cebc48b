//! Every form of two models, and rotations of a sphere, on four emulated boards: `cargo run --release -p bispectral-tests --bin table`.
//!
//! Flash is the model's; RAM is signal, scratch and stack, in the streaming form. The change is ‖β̄(g·x) − β̄(x)‖, the
//! largest over ten group elements and twenty random signals. Bits are compared with this host's.

use bispectral_core::Model;
use bispectral_learn::analysis::evaluation::evaluate;
use bispectral_learn::data::representation::{functions_on_sphere, orthogonal};
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::couplings::encode;
use bispectral_learn::model::form::Encoding;
use bispectral_tests::device::{self, BOARDS, Board};
use bispectral_tests::example;
use bispectral_tests::forms::{Form, forms};
use bispectral_tests::sphere::learned;
use std::process::ExitCode;

/// Of the sphere's functions, and the orbits that their group is learned from.
const DEGREES: usize = 8;
const ORBITS: usize = 600;

fn main() -> ExitCode {
    if let Err(refusal) = BOARDS.iter().try_for_each(Board::build) {
        eprintln!("error: {refusal}");
        return ExitCode::FAILURE;
    }
    for form in forms() {
        print(&form);
    }
    for form in sphere() {
        print(&form);
    }
    println!(
        "\nZ16xZ16 by hand, microfft and triple products, no scaling, a plain norm, 32896 invariants"
    );
    for board in &BOARDS {
        let [instructions, transform] = board.by_hand();
        if instructions > 0 {
            println!(
                "  {:<5}instructions {instructions:>9}, of these the transform {transform}",
                board.name
            );
        }
    }
    ExitCode::SUCCESS
}

/// SO(3) of degrees 0 to 8, learned from samples. The change is that of ten rotations of random functions.
fn sphere() -> Vec<Form> {
    let couplings = learned(DEGREES, ORBITS);
    let mixing = orthogonal((DEGREES + 1) * (DEGREES + 1), 7);
    let others = functions_on_sphere(DEGREES, &mixing, 20, 10, 2).expect("orbits");
    let form = |encoding| {
        let bytes = encode(&couplings, encoding, "sphere", Some("SO(3)")).expect("a model");
        let model = Model::from_bytes(&bytes).expect("a sound model");
        let evaluation = evaluate(&model, &others).expect("invariants");
        Form {
            name: format!(
                "SO(3) of degrees 0 to {DEGREES} {encoding}, {} invariants",
                model.pairs()
            ),
            cost: Cost::of(&model, bytes.len()),
            change: evaluation.within.sqrt(),
            checksum: example::checksum(&model, &device::signal(model.inputs())),
            bytes,
        }
    };
    [Encoding::F32, Encoding::F16, Encoding::I8]
        .map(form)
        .into()
}

fn print(form: &Form) {
    println!(
        "\n{}: flash {} bytes, RAM {} + stack, change {:.1e}, estimated {}",
        form.name,
        form.cost.flash_bytes,
        form.cost.ram.streaming_bytes,
        form.change,
        form.cost.estimated_instructions
    );
    for board in &BOARDS {
        let line = match board.count(&form.bytes) {
            Ok(counted) => format!(
                "instructions {:>9}, stack {:>5}, RAM {:>6}, program {:>6}, bits {}",
                counted
                    .instructions
                    .map_or("-".into(), |count| count.to_string()),
                counted.stack,
                form.cost.ram.streaming_bytes + counted.stack,
                counted.program,
                if counted.checksum == form.checksum {
                    "equal"
                } else {
                    "DIFFER"
                },
            ),
            Err(refusal) => refusal,
        };
        println!("  {:<5}{line}", board.name);
    }
}
