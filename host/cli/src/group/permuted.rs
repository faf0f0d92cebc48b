//! A group of permutations: of a run, whose folder has them, or by the name that a model of couplings has.

use super::linear::is_linear;
use super::{WIDEST, table};
use bispectral_learn::data::group::Group as Named;
use bispectral_learn::group::{
    Action, Cayley, MOST_ROWS, Structure, group_name, group_table, is_same_group, known_action,
};
use bispectral_learn::model::couplings;
use bispectral_learn::model::file::{ModelFile, weights};
use bispectral_learn::{Error, Result};
use bispectral_report::{Cayley as Drawn, Drawing};
use bispectral_run::console::{self, Console};
use bispectral_run::{PERMUTATIONS, permutations};
use ndarray::ArrayView2;
use num_complex::Complex32;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// Cycles of more inputs are cut on a terminal; --json has all of them.
const LONGEST: usize = 160;

/// What there is to say of a group that need not commute.
#[derive(Debug, Serialize)]
pub(super) struct Description {
    file: String,
    group: String,
    /// Other names of the same group.
    aliases: Vec<String>,
    /// Whether an isomorphism to the group of that name was found.
    proven: bool,
    order: usize,
    commutative: bool,
    rows: usize,
    inputs: usize,
    /// Where the permutations are known.
    generators: Option<Vec<Generator>>,
    /// How each orbit of inputs is moved.
    input_orbits: Option<Vec<InputOrbit>>,
    /// Elements that are conjugate to each other.
    classes: Vec<Vec<usize>>,
    centre: Vec<usize>,
    /// Of every element.
    orders: Vec<usize>,
    table: Vec<Vec<u16>>,
}

#[derive(Debug, Serialize)]
struct Generator {
    element: usize,
    order: usize,
    /// Of inputs; what is not in one stays.
    cycles: Vec<Vec<usize>>,
    #[serde(skip)]
    words: String,
}

#[derive(Debug, Serialize)]
struct InputOrbit {
    inputs: Vec<usize>,
    /// Elements that fix one of them.
    stabiliser: usize,
    /// The group that is left where elements that do the same here count once.
    group: String,
    regular: bool,
}

/// What `--expect` names.
pub(super) struct Expected {
    name: String,
    /// `None` for a group of infinitely many elements.
    table: Option<Cayley>,
}

impl Expected {
    pub(super) fn new(name: &str) -> Result<Self> {
        if is_linear(name) {
            let name = name.to_owned();
            return Ok(Expected { name, table: None });
        }
        // Commutative groups may have more elements than the library's tables.
        let product = name.parse::<Named>();
        let product = product.ok().filter(|group| group.order() <= MOST_ROWS);
        Ok(Expected {
            name: name.to_owned(),
            table: Some(match product {
                Some(group) => Cayley::of(&group),
                None => group_table(name)?,
            }),
        })
    }

    /// Refuses another group.
    pub(super) fn check(&self, path: &Path, found: &Cayley, name: &str) -> Result<()> {
        let same = |table: &Cayley| is_same_group(found, table);
        if self.table.as_ref().is_some_and(same) {
            return Ok(());
        }
        self.refuse(path, name)
    }

    /// Refuses another group than that of this name, which moves signals linearly.
    pub(super) fn check_name(&self, path: &Path, name: &str) -> Result<()> {
        let found = group_table(name).ok();
        let same = |found: &Cayley| {
            self.table
                .as_ref()
                .is_some_and(|table| is_same_group(found, table))
        };
        if self.name == name || found.as_ref().is_some_and(same) {
            return Ok(());
        }
        self.refuse(path, name)
    }

    fn refuse(&self, path: &Path, name: &str) -> Result<()> {
        let what = format!("the group is {name}, not {}", self.name);
        let remedy = "train it on other data, or expect another group";
        Err(Error::file(path, what, remedy))
    }
}

/// How the group of a model moves its inputs: by the permutations in its folder, or in the usual way of the group it names,
/// where its invariants do not change under these.
pub(crate) fn action_of(file: &ModelFile) -> Result<Option<Action>> {
    let model = file.model()?;
    let beside = file.path().with_file_name(PERMUTATIONS);
    let of_run = beside.is_file().then(|| permutations::read(&beside));
    let of_name = || known_action(model.group()?, Some(model.inputs())).ok();
    let known = of_run.transpose()?.into_iter().chain(of_name());
    let order = model.group().and_then(|name| group_table(name).ok());
    let order = order.map(|table| table.order());
    // A subgroup is a symmetry, too.
    let mut known = known.filter(|action| {
        action.degree() == model.inputs() && order.is_none_or(|order| order == action.order())
    });
    Ok(match couplings::decode(&model) {
        Some(forms) => known.find(|action| is_symmetry(action, &forms)),
        None => {
            let w = weights(&model);
            known.find(|action| multiplies_rows(action, &w.view()))
        }
    })
}

/// Whether the generators multiply each row of W by a number of modulus 1, which is all that invariants do not see.
fn multiplies_rows(action: &Action, w: &ArrayView2<'_, Complex32>) -> bool {
    // Of a row's mean square: i8 is off by 2^-14, and of two elements some character differs by 3 or more.
    const FURTHEST: f32 = 0.1;
    let multiplied = |g: &usize| {
        let images = &action.elements()[*g];
        w.rows().into_iter().all(|row| {
            let pairs = || (0..row.len()).map(|n| (row[n], row[images.image(n)]));
            let square: f32 = row.iter().map(Complex32::norm_sqr).sum();
            let factor = pairs().map(|(a, b)| a.conj() * b).sum::<Complex32>() / square;
            let most = FURTHEST * square / row.len() as f32;
            pairs().all(|(a, b)| (b - factor * a).norm_sqr() <= most)
        })
    };
    action.generators().iter().all(multiplied)
}

/// Whether the forms of a model do not change under the generators: the file beside it may be another run's.
fn is_symmetry(action: &Action, forms: &bispectral_learn::group::Couplings) -> bool {
    // Any signal without a symmetry of its own.
    let x: Vec<f64> = (0..action.degree())
        .map(|n| ((n * n * 7 + n * 3 + 11) % 61) as f64 / 61.0 - 0.375 + n as f64 * 1e-3)
        .collect();
    let Ok(t) = forms.invariants(&x) else {
        return false;
    };
    // Of f32, f16 or i8.
    let off = |g: &usize| {
        let moved = forms.invariants(&action.elements()[*g].moved(&x));
        moved.map_or(f64::INFINITY, |moved| {
            let pairs = t.iter().zip(&moved);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        })
    };
    action.generators().iter().all(|g| off(g) < 0.05)
}

/// Describes the group of a model of couplings; the drawing of its table, too.
pub(super) fn describe(
    file: &ModelFile,
    expected: Option<&Expected>,
    console: &Console,
) -> Result<(Description, String)> {
    let path = file.path();
    let model = file.model()?;
    let action = action_of(file)?;
    let table = match (&action, model.group()) {
        (Some(action), _) => action.table(),
        (None, Some(name)) => group_table(name).map_err(|error| {
            let what = format!("its group, {}, is in no library", console::name(name));
            let remedy = error.remedy().unwrap_or_default().to_owned();
            Error::file(path, what, remedy)
        })?,
        (None, None) => {
            let what =
                "a model of couplings that names no group, and the folder has no permutations";
            return Err(Error::file(path, what, "name the folder of its run"));
        }
    };
    let named = group_name(&table);
    if let Some(expected) = expected {
        expected.check(path, &table, &named.name)?;
    }
    if action.is_none() {
        console.say(&format!(
            "note: {}: a model file has the name of its group, not how it permutes the inputs: name the folder of its run",
            console::name(&path.display().to_string())
        ));
    }
    let structure = Structure::of(&table)
        .map_err(|axiom| Error::file(path, axiom.to_string(), "train again"))?;
    let described = Description {
        file: path.display().to_string(),
        order: table.order(),
        commutative: structure.centre().len() == table.order(),
        rows: model.rows(),
        inputs: model.inputs(),
        generators: action.as_ref().map(generators),
        input_orbits: action
            .as_ref()
            .map(|action| input_orbits(action, &named.name)),
        classes: structure.classes().to_vec(),
        centre: structure.centre().to_vec(),
        orders: structure.orders().to_vec(),
        table: table.rows().map(<[u16]>::to_vec).collect(),
        group: named.name,
        aliases: named.aliases,
        proven: named.proven,
    };
    let order: Vec<usize> = (0..table.order()).collect();
    let title = format!("Cayley table of {}", described.group);
    let drawing: Drawing = Drawn::new(table.products(), &order, None, title).into();
    Ok((described, drawing.svg()))
}

fn generators(action: &Action) -> Vec<Generator> {
    let of = |&g: &usize| {
        let element = &action.elements()[g];
        Generator {
            element: g,
            order: element.order(),
            cycles: element.cycles(),
            words: element.to_string(),
        }
    };
    action.generators().iter().map(of).collect()
}

fn input_orbits(action: &Action, name: &str) -> Vec<InputOrbit> {
    let of = |inputs: Vec<usize>| {
        let image = action.restricted(&inputs);
        let stabiliser = action.stabiliser(inputs[0]);
        let group = match &image {
            // As many elements as the whole: the same group.
            Some(image) if image.order() < action.order() => group_name(&image.table()).name,
            _ => name.to_owned(),
        };
        InputOrbit {
            stabiliser,
            group,
            regular: image.is_some_and(|image| image.is_regular()),
            inputs,
        }
    };
    action.orbits().into_iter().map(of).collect()
}

impl InputOrbit {
    /// Orbits of which the same is said are counted together.
    fn words(&self) -> String {
        match self.inputs.len() {
            1 => "1 input that stays".into(),
            count if self.regular => {
                format!("{count} inputs, moved by {} regularly", self.group)
            }
            count => format!(
                "{count} inputs, moved by {} ({} elements fix each)",
                self.group, self.stabiliser
            ),
        }
    }
}

impl Description {
    pub(super) fn words(&self) -> String {
        let also = match &self.aliases[..] {
            [] => String::new(),
            aliases => format!(" ({})", aliases.join(", ")),
        };
        let proof = match (self.proven, self.commutative) {
            (true, true) => ", by its invariant factors",
            (true, false) => ", proven by an isomorphism",
            (false, _) => ", which has no name in the library",
        };
        let sizes: Vec<String> = (self.classes.iter())
            .map(|class| class.len().to_string())
            .collect();
        let mut text = format!(
            "model        {}: {} rows, {} inputs, couplings\n\
             group        {}{also}, {} elements{proof}\n\
             classes      {} of conjugate elements, of {}\n\
             centre       {} elements{}",
            console::name(&self.file),
            self.rows,
            self.inputs,
            self.group,
            self.order,
            self.classes.len(),
            sizes.join(", "),
            self.centre.len(),
            if self.commutative {
                ": it commutes"
            } else {
                ""
            },
        );
        for generator in self.generators.iter().flatten() {
            let mut cycles = generator.words.clone();
            if cycles.len() > LONGEST {
                let cut = cycles[..LONGEST].rfind(')').map_or(LONGEST, |at| at + 1);
                cycles.truncate(cut);
                cycles.push_str(" … (--json)");
            }
            let _ = write!(
                text,
                "\ngenerator    {} of order {}: {cycles}",
                generator.element, generator.order
            );
        }
        if let Some(orbits) = &self.input_orbits {
            let mut kinds: Vec<(String, usize)> = Vec::new();
            for words in orbits.iter().map(InputOrbit::words) {
                match kinds.iter_mut().find(|(known, _)| *known == words) {
                    Some((_, count)) => *count += 1,
                    None => kinds.push((words, 1)),
                }
            }
            let kinds: Vec<String> = kinds
                .into_iter()
                .map(|(words, count)| format!("{count} of {words}"))
                .collect();
            let _ = write!(
                text,
                "\ninputs       {} orbits: {}",
                orbits.len(),
                kinds.join("; ")
            );
        }
        if self.order > WIDEST {
            text.push_str("\nThe table and the classes: --picture FILE.svg, --json");
            return text;
        }
        text.push_str("\n\nElement times element:\n\n");
        text.push_str(&table(&self.table));
        text
    }
}
