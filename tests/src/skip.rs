//! Tests that cannot be run everywhere: said aloud, and in CI a failure unless it was meant.

/// Says that a test was not run for want of `what`.
///
/// # Panics
/// In CI (`CI` is set), unless `BISPECTRAL_SKIP` names it: `BISPECTRAL_SKIP=mnist,chromium`.
pub fn skipped(what: &str, remedy: &str) {
    let meant = std::env::var("BISPECTRAL_SKIP").unwrap_or_default();
    let is_meant = meant.split(',').any(|name| name.trim() == what);
    let is_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    assert!(
        is_meant || !is_ci,
        "not run for want of {what}: {remedy}, or say that it is meant by BISPECTRAL_SKIP={what}"
    );
    eprintln!("NOT RUN for want of {what}: {remedy}");
}
