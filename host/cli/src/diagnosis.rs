//! Where no group is recognised: the lines that say what was found, how known groups do, and what to try.

use bispectral_learn::analysis::evaluation::Evaluation;
use bispectral_learn::learn::{Diagnosis, Finding};

/// What a person reads below the summary of a run.
pub(super) fn lines(diagnosis: &Diagnosis) -> String {
    let mut lines = Vec::new();
    for finding in &diagnosis.findings {
        lines.push(format!("found        {finding}{}", command(finding)));
    }
    if !diagnosis.known.is_empty() {
        lines.push(format!(
            "{:<36} {:>8} {:>8} {:>8}   {:>8} {:>8} {:>9}",
            "known groups on this data",
            "within",
            "between",
            "nearest",
            "left",
            "others",
            "explained"
        ));
        lines.push(row("  learned W", Some(&diagnosis.learned), None));
    }
    for trial in &diagnosis.known {
        let name = format!("  {} ({})", trial.group, trial.name);
        let aligned = [trial.aligned_within, trial.aligned_between, trial.explained];
        lines.push(row(&name, trial.evaluation.as_ref(), Some(aligned)));
    }
    if !diagnosis.known.is_empty() {
        lines.push(
            "  within, between: mean squared distance of invariants of held-out orbits; left, others: what the best element \
             leaves of a member of the same orbit and of others; explained: pairs of which it leaves less than 0.2"
                .into(),
        );
    }
    if let Some(group) = diagnosis.chosen {
        lines.push(format!(
            "model        the exact invariants of {group} ({}), which do no worse here than the learned W; that is in \
             W.npy, and --no-polish makes it the model",
            group.name()
        ));
    }
    lines.join("\n")
}

fn row(name: &str, evaluation: Option<&Evaluation>, aligned: Option<[f64; 3]>) -> String {
    let invariants = evaluation.map_or_else(
        || format!("{:>8} {:>8} {:>8}", "-", "-", "-"),
        |found| {
            let nearest = format!("{:.1} %", 100.0 * found.nearest);
            format!("{:>8.2e} {:>8.2} {nearest:>8}", found.within, found.between)
        },
    );
    let aligned = aligned.map_or_else(String::new, |[within, between, explained]| {
        let explained = format!("{:.0} %", 100.0 * explained);
        format!("   {within:>8.2} {between:>8.2} {explained:>9}")
    });
    format!("{name:<36} {invariants}{aligned}")
}

/// What to run instead.
fn command(finding: &Finding) -> &'static str {
    match finding {
        Finding::Classes { .. } => {
            ": tell classes apart with `bispectral classify fit --data X --labels y -o model.bsn`"
        }
        _ => "",
    }
}
