//! What the command says where nothing fails, and what to do where something does.

use crate::Folder;
use crate::classify::{SMALL, shapes};

/// Signals of 16 values, each under all its shifts, that are `offset` from zero.
fn shifted(folder: &Folder, exemplars: usize, offset: f64) {
    let (mut samples, mut labels) = (String::new(), String::new());
    for exemplar in 0..exemplars {
        for by in 0..16 {
            let value = |n: usize| {
                let k = (n + by) % 16;
                offset + ((exemplar * 37 + k * k * (exemplar + 3) + 11 * k) % 23) as f64 / 8.0
            };
            let line: Vec<String> = (0..16).map(|n| format!("{:.3}", value(n))).collect();
            samples += &(line.join(",") + "\n");
            labels += &format!("{exemplar}\n");
        }
    }
    folder.write("X.csv", samples);
    folder.write("y.csv", labels);
}

#[test]
fn every_command_takes_the_folder_of_a_run_or_says_how_to_go_on_with_it() {
    let folder = Folder::new();
    shifted(&folder, 12, 0.0);
    folder.succeed("train --data X.csv --labels y.csv -o run --quiet");
    folder.succeed("features run X.csv -o Y.npy");
    folder.succeed("inspect run");
    folder.succeed("invert run Y.npy -o back.npy");
    folder.succeed("attack run X.csv -o attack --steps 3 --restarts 0");
    folder.succeed("export run -o small.bsn --fit flash=64K");
    folder.succeed(&format!(
        "classify train run --data X.csv --labels y.csv -o c {SMALL}"
    ));
    std::fs::remove_file(folder.path("run/model.bsn")).unwrap();
    for command in [
        "features run X.csv -o Z.npy",
        "inspect run",
        "group run",
        "export run -o e.bsn",
    ] {
        let said = "run: the run is not finished: go on with `bispectral train --resume run`";
        folder.refuse_with(command, said);
    }
    folder.refuse_with(
        "features run/model.bsn X.csv -o Z.npy",
        "run: the run is not finished: go on with `bispectral train --resume run`",
    );
    folder.refuse_with(
        "inspect small.bsn/model.bsn",
        "small.bsn/model.bsn: small.bsn is a file, and no folder: check the path",
    );
    folder.refuse_with(
        "classify export small.bsn -o e.bsn",
        "small.bsn: a file, where the folder of a classifier is wanted: ",
    );
    folder.refuse_with(
        "classify predict small.bsn X.csv -o e.csv",
        "small.bsn: the model has no classifier: ",
    );
}

#[test]
fn what_is_odd_about_the_data_is_said_in_a_line() {
    let folder = Folder::new();
    shifted(&folder, 12, 2048.0);
    let labels = String::from_utf8(folder.read("y.csv")).unwrap();
    // The last sample is alone.
    folder.write(
        "lonely.csv",
        labels.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n99\n",
    );
    let (code, _, said) = folder.run("train --data X.csv --labels lonely.csv -o run --exemplars 5");
    assert_eq!(code, Some(0), "{said}");
    for words in [
        "note: X.csv: the mean of the samples, 2049",
        "times what they do around it, and swamps the invariants: ",
        "note: lonely.csv: 1 of the labels have one sample each (the first is 99)",
        "note: --exemplars has no effect: all samples are taken",
    ] {
        assert!(
            said.replace(&folder.path("").display().to_string(), "")
                .contains(words),
            "{words}: {said}"
        );
    }
}

#[test]
fn an_offset_is_said_where_the_model_sees_it_and_tables_go_there_and_back() {
    let folder = Folder::new();
    shifted(&folder, 12, 0.0);
    folder.succeed("train --data X.csv --labels y.csv -o run --quiet");
    folder.succeed("features run X.csv -o Y.csv");
    folder.succeed("invert run Y.csv -o back.csv");
    folder.succeed("features run back.csv -o again.csv");
    let numbers = |file: &str| -> Vec<f32> {
        let text = String::from_utf8(folder.read(file)).unwrap();
        let lines = text.lines().skip(1);
        lines
            .flat_map(|line| {
                line.split(',')
                    .map(|x| x.parse().unwrap())
                    .collect::<Vec<f32>>()
            })
            .collect()
    };
    let (before, after) = (numbers("Y.csv"), numbers("again.csv"));
    // f32 invariants of unit length, through coefficients and back.
    assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-4));
    assert_eq!(before.len(), after.len());

    shifted(&folder, 12, 2048.0);
    let (code, _, said) = folder.run("features run X.csv -o far.npy");
    assert!(
        code == Some(0) && said.contains("and swamps the invariants: "),
        "{said}"
    );
    // Harmonics of a period have no mean.
    folder.succeed("classify fit --data X.csv --labels y.csv -o fitted.bsn --held-out 0.1");
    for command in [
        "features fitted.bsn X.csv -o near.npy",
        "classify predict fitted.bsn X.csv -o found.csv",
        "compare --data X.csv --labels y.csv --draws 1",
    ] {
        let (code, _, said) = folder.run(command);
        assert!(
            code == Some(0) && !said.contains("swamps"),
            "{command}: {said}"
        );
    }
}

#[test]
fn signals_are_named_by_the_words_they_were_trained_with() {
    let folder = Folder::new();
    shapes(&folder);
    let numbers = String::from_utf8(folder.read("y.csv")).unwrap();
    let words = numbers
        .replace("-7", "idle")
        .replace("1000", "worn, loose")
        .replace('4', "good");
    folder.write("words.csv", words.replace("worn, loose", "\"worn, loose\""));
    folder.succeed(&format!(
        "classify train z8.bsn --data X.csv --labels words.csv -o c {SMALL}"
    ));
    folder.succeed("classify predict c X.csv -o found.csv");
    let found = String::from_utf8(folder.read("found.csv")).unwrap();
    assert_eq!(
        found,
        format!("label\n{}", words.replace("worn, loose", "\"worn, loose\""))
    );
    let evaluated = folder.object("classify evaluate c --data X.csv --labels found.csv");
    assert_eq!(evaluated["accuracy"], 1.0);
    assert_eq!(
        evaluated["names"],
        serde_json::json!(["good", "idle", "worn, loose"])
    );

    // The same as a device has it, which knows classes by number; the words lie beside it.
    folder.succeed("classify export c -o device.bsn");
    let evaluated = folder.object("classify evaluate device.bsn --data X.csv --labels words.csv");
    assert_eq!(evaluated["accuracy"], 1.0);
    folder.succeed("classify predict device.bsn X.csv -o by_device.csv");
    assert_eq!(folder.read("by_device.csv"), folder.read("found.csv"));
    let inspected = folder.object("inspect device.bsn");
    assert_eq!(inspected["class_names"][2], "worn, loose");
    // Samples of one class are enough to evaluate.
    folder.write("one.csv", "4.0,1.0,0.0,0.0,0.0,0.0,0.0,1.0\n".repeat(3));
    folder.write("idle.csv", "idle\n".repeat(3));
    folder.succeed("classify evaluate device.bsn --data one.csv --labels idle.csv");
    folder.write("strange.csv", "idle\nasleep\nidle\n");
    folder.refuse_with(
        "classify evaluate device.bsn --data one.csv --labels strange.csv",
        "the labels: \"asleep\" is none of the model's classes: good, idle, worn, loose: ",
    );
    // A module and a header have them in themselves, a copy has its own file.
    folder.succeed("export device.bsn -o copy.bsn");
    folder.succeed("classify predict copy.bsn X.csv -o by_copy.csv");
    assert_eq!(folder.read("by_copy.csv"), folder.read("found.csv"));
    folder.succeed("export device.bsn -o module.rs --emit rust");
    let module = String::from_utf8(folder.read("module.rs")).unwrap();
    for line in [
        "//! let class = module::MODEL.classify(&signal, &mut scratch, &mut scores)?;",
        "//! let name = module::CLASS_NAMES[class];",
        "pub const CLASSES: usize = 3;",
        "pub const CLASS_NAMES: [&str; CLASSES] = [\"good\", \"idle\", \"worn, loose\"];",
    ] {
        assert!(module.contains(line), "{line}: {}", &module[..900]);
    }
    folder.succeed("export device.bsn -o header.h --emit c");
    let header = String::from_utf8(folder.read("header.h")).unwrap();
    for line in [
        "#define HEADER_CLASSES 3",
        "bispectral_classify(",
        "    \"worn, loose\",\n",
    ] {
        assert!(header.contains(line), "{line}: {}", &header[..900]);
    }
    // Names of another model are no names.
    folder.succeed("classify export c -o other.bsn --encoding f32");
    std::fs::copy(
        folder.path("device.classes.json"),
        folder.path("other.classes.json"),
    )
    .unwrap();
    folder.refuse_with(
        "classify predict other.bsn X.csv -o none.csv",
        "other.classes.json: these are the classes of another model than the one beside them: ",
    );
    std::fs::remove_file(folder.path("other.classes.json")).unwrap();
    folder.succeed("classify predict other.bsn X.csv -o numbers.csv");
    assert!(folder.read("numbers.csv").starts_with(b"label\n1\n0\n2\n"));
    folder.refuse_with(
        "classify evaluate c --data X.csv --labels y.csv",
        "the labels: they are numbers, ",
    );
    let emitted = folder.succeed("classify export c -o device.rs --emit rust");
    assert!(emitted.contains("exported"), "{emitted}");
    assert!(
        String::from_utf8(folder.read("device.rs"))
            .unwrap()
            .contains("pub ")
    );
}

#[test]
fn labels_beside_signals_and_files_of_another_kind_are_said() {
    let folder = Folder::new();
    shapes(&folder);
    let labels = String::from_utf8(folder.read("y.csv")).unwrap();
    let signals = String::from_utf8(folder.read("X.csv")).unwrap();
    let lines = signals.lines().zip(labels.lines());
    let table = |column: &str, label: fn(&str) -> String| {
        let names: Vec<String> = (0..8).map(|k| format!("s{k}")).collect();
        let rows = lines
            .clone()
            .map(|(x, y)| format!("{x},{}\n", label(y)))
            .collect::<String>();
        format!("{},{column}\n{rows}", names.join(","))
    };
    folder.write("words.csv", table("what", |label| format!("state {label}")));
    folder.write("called.csv", table("Class", str::to_owned));
    folder.refuse_with(
        "features z8.bsn words.csv -o Y.npy",
        "words.csv: line 1: the last column holds words, such as \"state ",
    );
    folder.refuse_with(
        "features z8.bsn called.csv -o Y.npy",
        "called.csv: line 1: the last column is called \"Class\", and is no part of a signal: ",
    );
    folder.refuse_with(
        "export z8.bsn -o z8.copy.bsn --emit rust",
        "z8.copy.bsn: --emit rust writes a module: name it z8.copy.rs",
    );
    folder.refuse_with(
        "classify train --data X.csv --labels y.csv -o c",
        "the model: none is named: name one, or fit both at once: `bispectral classify fit ",
    );
    folder.succeed(&format!(
        "classify train z8.bsn --data X.csv --labels y.csv -o c {SMALL}"
    ));
    let (_, _, notes) = folder.run("export c -o alone.bsn");
    assert!(
        notes.contains(
            "note: c: this is the model without its classifier; `bispectral classify export c` "
        ),
        "{notes}"
    );
    folder.succeed("classify fit --data X.csv --labels y.csv -o fitted.bsn");
    let (code, _, refusal) = folder.run("group fitted.bsn");
    assert_eq!(code, Some(1));
    assert!(
        refusal.contains("some of the characters of Z8, which is its group"),
        "{refusal}"
    );
}

#[test]
fn a_share_of_few_samples_says_how_little_it_says() {
    let folder = Folder::new();
    shapes(&folder);
    let line = format!(
        "classify train z8.bsn --data X.csv --labels y.csv -o c --held-out 0.016 {SMALL} --exponent 0.5 --features power"
    );
    let (_, stdout, stderr) = folder.run(&line);
    assert!(
        stdout.contains("4 of 4 right: 100.00 %; of so few, the true share may be 51 to 100 %"),
        "{stdout}"
    );
    assert!(
        stderr.contains("note: --exponent has no effect: "),
        "{stderr}"
    );
}

#[test]
fn choosing_pairs_of_a_model_without_w_leaves_it_without_w() {
    let folder = Folder::new();
    shifted(&folder, 12, 0.0);
    folder.succeed("train --data X.csv --labels y.csv -o run --quiet");
    folder.succeed("export run -o fft.bsn --structure fft");
    let best =
        folder.object("export fft.bsn -o best.bsn --pairs best:8 --data X.csv --labels y.csv");
    assert!(best["flash_bytes"].as_u64().unwrap() < 400, "{best}");
}

#[test]
fn shells_and_man_get_what_they_read() {
    let folder = Folder::new();
    assert!(folder.succeed("completions bash").contains("_bispectral()"));
    assert!(
        folder
            .succeed("completions fish")
            .contains("complete -c bispectral")
    );
    assert!(folder.succeed("man").contains(".TH bispectral 1"));
    assert!(folder.succeed("man train").contains("labels"));
    folder.refuse_with("man nothing", "nothing: no such command: ");
}
