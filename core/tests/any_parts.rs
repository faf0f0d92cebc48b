//! Models that are valid by construction, of random numbers: what they compute is what the equations say. libFuzzer begins where
//! this ends (`core/fuzz`).

#![cfg(all(
    feature = "dense",
    feature = "conjugates",
    feature = "f32",
    feature = "f16"
))]

#[path = "any_parts/examined.rs"]
mod any_parts;
#[allow(dead_code)]
mod by_hand;
#[allow(dead_code)]
mod equations;

#[test]
fn valid_parts_of_any_numbers_compute_what_the_equations_say() {
    // Numerical Recipes' generator.
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    let mut compared = 0;
    for _ in 0..10_000 {
        let length = 8 + random() % 300;
        let bytes: Vec<u8> = (0..length).map(|_| random() as u8).collect();
        compared += usize::from(any_parts::examine(&bytes));
    }
    println!("{compared} of 10,000 have a direction that is known to 1e-3");
    assert!(compared > 2_500, "{compared}");
}
