//! The page to play with, in a real browser by a real driver: what it shows is what the host computes.

use bispectral::Arguments;
use bispectral_core::Model;
use bispectral_learn::data::group::Group;
use bispectral_learn::data::npy;
use bispectral_learn::data::orbits::Orbits;
use bispectral_tests::browser::{Browser, PATIENCE, key};
use bispectral_tests::classified::{BOARDS, answers};
use bispectral_tests::repository;
use bispectral_web::classifiers::{KINDS, classifier};
use bispectral_web::page::page;
use clap::Parser;
use ndarray::Array2;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The page shows itself within a second.
const FIRST_PAINT_MS: f64 = 1000.0;

/// The page as `host/web/build.sh` puts it together, but for the program that writes the file: that would be built once more.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let engine = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine.wasm");
    let built = Command::new("bash")
        .arg(repository().join("host/web/engine.sh"))
        .arg(&engine)
        .arg("dev")
        .status();
    assert!(built.expect("bash").success(), "the engine does not build");
    page(&fs::read(engine).expect("an engine")).expect("a page")
});

/// The page, opened and ready, in the folder of its downloads.
fn opened(folder: &Path) -> Option<Browser> {
    let browser = Browser::open(folder)?;
    let path = folder.join("index.html");
    fs::write(&path, &*PAGE).expect("a file");
    browser.visit(&path);
    browser.wait("globalThis.bispectral");
    Some(browser)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .expect("numbers")
        .iter()
        .map(number)
        .collect()
}

fn choose(browser: &Browser, id: &str, value: &str) {
    browser.run(&format!(
        "const e = document.getElementById('{id}'); e.value = '{value}'; e.dispatchEvent(new Event('change'))"
    ));
}

fn click(browser: &Browser, id: &str) {
    browser.run(&format!("document.getElementById('{id}').click()"));
}

fn number_of(browser: &Browser, id: &str) -> f64 {
    browser.text(id).parse().expect("a number")
}

/// The signal of the page, and the checksum of its invariants as bispectral-core computes them here.
fn checksum_here(browser: &Browser) -> String {
    let x = browser.get("return Array.from(bispectral.signal())");
    let x: Vec<f32> = numbers(&x).iter().map(|&v| v as f32).collect();
    let bytes = browser.get("return Array.from(bispectral.call('export', undefined, bispectral.models[bispectral.state.kind].handle, 0))");
    let bytes: Vec<u8> = numbers(&bytes).iter().map(|&v| v as u8).collect();
    let model = Model::from_bytes(&bytes).expect("a model");
    let invariants = model.invariants_vec(&x).expect("a signal");
    let bits: Vec<u8> = invariants
        .iter()
        .flat_map(|v| [v.re, v.im])
        .flat_map(f32::to_le_bytes)
        .collect();
    let crc = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC);
    format!("{:08x}", crc.checksum(&bits))
}

/// Presses the mouse on the signal, moves it through points, and releases it. A point is a share of the height, from the left of
/// the square in the middle and from above.
fn drag(browser: &Browser, points: &[[f64; 2]]) {
    let place = browser.get(
        "const e = document.getElementById('signal'); e.scrollIntoView({ block: 'center', behavior: 'instant' });
         const b = e.getBoundingClientRect(); return [b.left + b.width / 2 - b.height / 2, b.top, b.height]",
    );
    let [left, top, height] = [0, 1, 2].map(|k| number(&place[k]));
    let points: Vec<[f64; 2]> = points
        .iter()
        .map(|[x, y]| [left + x * height, top + y * height])
        .collect();
    browser.mouse(&points, true);
}

/// Waits for a file that the browser downloads.
fn downloaded(path: &Path) -> Vec<u8> {
    let until = Instant::now() + PATIENCE;
    while !path.exists() {
        assert!(Instant::now() < until, "{}: not downloaded", path.display());
        thread::sleep(Duration::from_millis(50));
    }
    fs::read(path).expect("a file")
}

/// What the command line says.
fn command(line: &str, path: &Path) -> bispectral_learn::Result<()> {
    let words = line.split_whitespace().map(|word| match word {
        "PATH" => path.into(),
        word => word.into(),
    });
    bispectral::run(&Arguments::parse_from(
        words.collect::<Vec<std::ffi::OsString>>(),
    ))
}

/// Nothing was complained of, and nothing asked of a network.
fn assert_quiet(browser: &Browser) {
    assert_eq!(browser.text("failure"), "");
    assert_eq!(browser.console(), json!([]), "the console");
    let asked = browser.get("return performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('blob:') && !n.startsWith('data:'))");
    assert_eq!(asked, json!([]), "requests");
}

#[test]
fn the_page_shows_the_bits_of_the_device_and_what_they_determine() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(browser) = opened(folder.path()) else {
        return;
    };
    // First paint, from the browser's own clock: once more where others keep the machine busy.
    let painted = || {
        number(
            &browser
                .get("return performance.getEntriesByName('first-contentful-paint')[0].startTime"),
        )
    };
    let mut paint = painted();
    for _ in 0..4 {
        if paint < FIRST_PAINT_MS {
            break;
        }
        browser.visit(&folder.path().join("index.html"));
        browser.wait("globalThis.bispectral");
        paint = painted();
    }
    println!("first paint {paint:.0} ms; {}", browser.text("size"));
    assert!(paint < FIRST_PAINT_MS, "first paint after {paint} ms");

    // See it: the bits are those of the core here; moved, the invariants stay and z does not, nor does the class change.
    let stays = |class: &str, what: &str| {
        assert_eq!(browser.text("checksum"), checksum_here(&browser), "{what}");
        assert_eq!(browser.text("class"), class, "{what}");
        // Unit vectors in f32 arithmetic, and coefficients that turned.
        let [drift, drift_z] = ["drift", "drift-z"].map(|id| number_of(&browser, id));
        assert!(drift < 1e-5 && drift_z > 0.05, "{what}: {drift}, {drift_z}");
    };
    for (kind, class) in [("turn", "gearbox"), ("shifted", "7"), ("turned", "7")] {
        choose(&browser, "kind", kind);
        assert_eq!(browser.text("checksum"), checksum_here(&browser), "{kind}");
        assert_eq!(browser.text("class"), class, "{kind}");
        browser.run("document.getElementById('signal').focus()");
        browser.press(&[], &[key::RIGHT]);
        stays(class, kind);
    }
    // Turned by the mouse, from the right of the middle to below it.
    let angle = || number(&browser.get("return bispectral.state.angle"));
    let before = angle();
    drag(&browser, &[[0.8, 0.5], [0.7, 0.7], [0.5, 0.8]]);
    let turned = (angle() - before - 90.0).abs();
    assert!(turned < 3.0, "{turned} degrees too far");
    assert_eq!(browser.text("class"), "7", "turned");

    // A seven, drawn by the mouse, is a seven; dragged, its invariants stay.
    choose(&browser, "kind", "shifted");
    click(&browser, "clear");
    drag(
        &browser,
        &[[0.35, 0.25], [0.65, 0.25], [0.56, 0.5], [0.48, 0.75]],
    );
    assert_eq!(browser.text("class"), "7", "drawn");
    assert_eq!(browser.text("checksum"), checksum_here(&browser), "drawn");
    browser.run("document.querySelector('[name=pointer][value=move]').click()");
    let before = browser.get("return Array.from(bispectral.signal())");
    drag(&browser, &[[0.5, 0.5], [0.6, 0.4]]);
    assert_ne!(
        browser.get("return Array.from(bispectral.signal())"),
        before
    );
    stays("7", "dragged");

    // Fool it: by the bispectrum, noise becomes the signal somewhere in its orbit; by the power spectrum, something else.
    choose(&browser, "kind", "turn");
    choose(&browser, "example", "1");
    for (measure, inside) in [("0", true), ("1", false)] {
        choose(&browser, "measure", measure);
        click(&browser, "step");
        assert_eq!(browser.text("fool-steps"), "1");
        click(&browser, "play");
        browser.wait("document.getElementById('fool-steps').textContent.includes('ended')");
        let distance = number_of(&browser, "fool-orbit");
        assert_eq!(distance < 0.05, inside, "{measure}: {distance}");
    }
    // Paused, it takes no step.
    click(&browser, "again");
    // At once, since a fast machine is at the end soon.
    browser.run("const play = document.getElementById('play'); play.click(); play.click()");
    assert!(number_of(&browser, "fool-steps") > 0.0);
    let steps = browser.text("fool-steps");
    thread::sleep(Duration::from_millis(200));
    assert_eq!(
        (browser.text("fool-steps"), browser.text("play")),
        (steps, "Play".into())
    );
    assert_quiet(&browser);
}

#[test]
fn the_page_learns_groups_and_gives_their_models() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(browser) = opened(folder.path()) else {
        return;
    };
    let learn = |group: &str, recipe: &str| {
        choose(&browser, "hidden", group);
        choose(&browser, "recipe", recipe);
        click(&browser, "start");
        browser.wait("document.getElementById('group').textContent");
        browser.text("group")
    };
    assert_eq!(learn("D4", "0"), "D4");
    assert_eq!(learn("SO(3)", "0"), "SO(3)");
    // By gradients, stopped and gone on with.
    choose(&browser, "hidden", "Z32");
    choose(&browser, "recipe", "1");
    click(&browser, "start");
    browser.wait("/[0-9]+ steps/.test(document.getElementById('progress').textContent)");
    click(&browser, "pause");
    // What was under way when it was stopped is still told.
    thread::sleep(Duration::from_millis(500));
    let stopped = browser.text("progress");
    thread::sleep(Duration::from_millis(300));
    assert_eq!(
        (browser.text("progress"), browser.text("pause")),
        (stopped.clone(), "Go on".into())
    );
    click(&browser, "pause");
    browser.wait(&format!(
        "document.getElementById('progress').textContent !== '{stopped}'"
    ));
    assert_eq!(learn("Z4xZ2", "1"), "Z4xZ2");
    // A value by keys.
    browser.run("document.getElementById('table-host').focus()");
    browser.press(&[], &[key::RIGHT, key::RIGHT, key::DOWN]);
    let value = browser.text("table-value");
    assert!(value.starts_with("1 · 1 = "), "{value}");

    // Take it along, and read it by the command line.
    browser.run("document.querySelector('[data-file=\"0\"]').click()");
    let model = folder.path().join("model.bsn");
    let bytes = downloaded(&model);
    let read = Model::from_bytes(&bytes).expect("a model");
    assert_eq!((read.group(), read.inputs()), (Some("Z4xZ2"), 8));
    command("bispectral inspect PATH --quiet", &model).expect("inspected");
    command("bispectral group PATH --expect Z4xZ2 --quiet", &model).expect("the group");
    for (form, archive, files) in [
        (
            3,
            "firmware-rust.zip",
            [
                "firmware/src/main.rs",
                "firmware/bispectral-core/src/lib.rs",
                "firmware/expected.txt",
            ],
        ),
        (
            4,
            "firmware-c.zip",
            [
                "firmware/main.c",
                "firmware/Makefile",
                "firmware/expected.txt",
            ],
        ),
    ] {
        browser.run(&format!(
            "document.querySelector('[data-file=\"{form}\"]').click()"
        ));
        let bytes = downloaded(&folder.path().join(archive));
        for name in files {
            let found = bytes
                .windows(name.len())
                .any(|part| part == name.as_bytes());
            assert!(found, "{archive}: {name}");
        }
    }
    click(&browser, "report");
    let report = downloaded(&folder.path().join("report.html"));
    assert!(String::from_utf8_lossy(&report).contains("recognised as Z4xZ2"));
    assert_quiet(&browser);
}

/// Samples of orbits of Z8, as people keep them.
struct Own {
    samples: Array2<f32>,
    labels: Vec<usize>,
}

impl Own {
    fn new() -> Self {
        let group: Group = "Z8".parse().expect("a group");
        let orbits = Orbits::of_group(&group, 30, 1);
        let mut samples = Array2::zeros((30 * 8, 8));
        for (k, mut sample) in samples.rows_mut().into_iter().enumerate() {
            let sample = sample.as_slice_mut().expect("in one piece");
            orbits.write_member(k / 8, k % 8, sample);
        }
        let labels = (0..30 * 8).map(|k| k / 8).collect();
        Own { samples, labels }
    }

    /// The orbit in the first column, below a header.
    fn table(&self) -> String {
        let mut text = "orbit,x0,x1,x2,x3,x4,x5,x6,x7\n".to_owned();
        for (label, sample) in self.labels.iter().zip(self.samples.rows()) {
            let words: Vec<String> = sample.iter().map(ToString::to_string).collect();
            text += &format!("thing {label},{}\n", words.join(","));
        }
        text
    }

    fn labels(&self) -> Vec<u8> {
        let mut header = format!(
            "{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}",
            self.labels.len()
        );
        // NumPy fills up to a multiple of 64 bytes, the ten before the header among them.
        header += &" ".repeat(117 - header.len());
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        let labels = self.labels.iter().map(|&label| label as i64);
        bytes.extend(labels.flat_map(i64::to_le_bytes));
        bytes
    }
}

#[test]
fn samples_of_ones_own_are_learned_from_and_other_files_are_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(browser) = opened(folder.path()) else {
        return;
    };
    let own = Own::new();
    let table = own.table();
    let x = npy::real(&own.samples.view());
    let y = own.labels();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("a file");
        path
    };
    // Dropped on the page, as a browser does it; a file's bytes go as they are.
    let drop_files = |files: &[(&str, &[u8])]| {
        let files: Vec<Value> = files
            .iter()
            .map(|(name, bytes)| json!([name, bytes]))
            .collect();
        browser.run(&format!(
            "const transfer = new DataTransfer();
             for (const [name, bytes] of {}) transfer.items.add(new File([new Uint8Array(bytes)], name));
             const event = type => new DragEvent(type, {{ dataTransfer: transfer, bubbles: true, cancelable: true }});
             document.body.dispatchEvent(event('dragover'));
             document.body.dispatchEvent(event('drop'));",
            json!(files)
        ));
    };
    let learned = |what: &str| {
        browser.wait("document.getElementById('group').textContent || document.getElementById('failure').textContent");
        assert_eq!(browser.text("failure"), "", "{what}");
        assert_eq!(browser.text("group"), "Z8", "{what}");
    };
    browser.upload("files", &[&write("own.csv", table.as_bytes())]);
    learned("a table");
    let paths = [write("X.npy", &x), write("y.npy", &y)];
    browser.run("document.getElementById('group').textContent = ''");
    browser.upload("files", &[&paths[0], &paths[1]]);
    learned("two arrays");
    browser.run("document.getElementById('group').textContent = ''");
    let german = table.replace(',', ";").replace('.', ",");
    drop_files(&[("own.csv", german.as_bytes())]);
    learned("a table of a spreadsheet, dropped");
    browser.run("document.getElementById('group').textContent = ''");
    drop_files(&[("y.npy", &y), ("X.npy", &x)]);
    learned("two arrays, dropped");

    let ragged = table.replacen("thing 3,", "thing 3,1,", 1);
    let word = table.replacen("thing 0,", "thing 0,none", 1);
    let text = |bytes: &str| bytes.as_bytes().to_vec();
    for (name, bytes, what) in [
        ("photo.png", b"\x89PNG\r\n".to_vec(), "photo.png: "),
        ("empty.csv", Vec::new(), "empty.csv: "),
        ("binary.csv", vec![0xff, 0xfe, 0, 1], "binary.csv: "),
        ("ragged.csv", text(&ragged), "ragged.csv: line 26 "),
        ("word.csv", text(&word), "word.csv: line 2: "),
        ("X.npy", x.clone(), "X.npy: "),
        ("cut.npy", x[..300].to_vec(), "cut.npy: "),
        ("text.npy", text(&table), "text.npy: "),
        // Each sample is the only one of its orbit.
        ("lonely.csv", text("1,2,3\n2,3,4\n3,1,2\n"), ""),
    ] {
        browser.run("document.getElementById('failure').textContent = ''");
        drop_files(&[(name, &bytes)]);
        browser.wait("document.getElementById('failure').textContent");
        let said = browser.text("failure");
        println!("{said}");
        assert!(said.starts_with(what), "{said}");
        assert!(said.contains(": ") && !said.contains('\n'), "{said}");
        let seen = browser.get(
            "const b = document.getElementById('failure').getBoundingClientRect(); return b.height > 0 && b.top >= 0 && b.bottom <= innerHeight",
        );
        assert_eq!(seen, json!(true), "{name}: out of sight");
    }
    // And the page goes on.
    drop_files(&[("own.csv", table.as_bytes())]);
    browser.wait("!document.getElementById('failure').textContent && document.getElementById('group').textContent");
    learned("a table behind wrong files");
    assert_quiet(&browser);
}

/// What can be reached by the Tab key, in the order of the page.
const REACHABLE: &str = "
    const all = [...document.querySelectorAll('a[href], button:enabled, select, input:enabled, [tabindex=\"0\"]')];
    return all.filter(e => e.getClientRects().length && !(e.type === 'radio' && !e.checked))
        .map(e => e.id || e.name || e.dataset.file || e.getAttribute('href'));";

/// What has the focus, and whether that can be seen.
const FOCUSED: &str = "
    const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
    const seen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0 && box.top < innerHeight;
    return e === document.body ? null : [e.id || e.name || e.dataset.file || e.getAttribute('href'), seen];";

#[test]
fn every_control_is_reached_by_keys_in_order_seen_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(browser) = opened(folder.path()) else {
        return;
    };
    // Without the motion that brings a control in sight.
    browser.appear(1280, 844, "light", "reduce");
    let reachable = browser.get(REACHABLE);
    let reachable = reachable.as_array().expect("controls");
    assert!(reachable.len() > 25, "{reachable:?}");
    let mut reached = Vec::new();
    loop {
        browser.press(&[], &[key::TAB]);
        let focused = browser.get(FOCUSED);
        if focused.is_null() || reached.len() > reachable.len() {
            break;
        }
        assert_eq!(focused[1], json!(true), "{focused}: not to be seen");
        reached.push(focused[0].clone());
    }
    assert_eq!(&reached, reachable);
    // And back.
    browser.press(&[key::SHIFT], &[key::TAB]);
    assert_eq!(browser.get(FOCUSED)[0], reachable[reachable.len() - 1]);

    let nameless = browser.get(
        "return [...document.querySelectorAll('button, select, input, [tabindex], [role=img], canvas, svg')]
         .filter(e => !e.closest('[aria-hidden]') && !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label')))
         .map(e => e.id)",
    );
    assert_eq!(nameless, json!([]));
    // Every reference of a name or a description is to something that is there.
    let lost = browser.get(
        "return ['aria-labelledby', 'aria-describedby', 'for'].flatMap(name => [...document.querySelectorAll(`[${name}]`)].map(e => e.getAttribute(name))).filter(id => !document.getElementById(id))",
    );
    assert_eq!(lost, json!([]));
    // Headings go down one level at a time.
    let levels = browser
        .get("return [...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1])");
    let levels = numbers(&levels);
    assert!(
        levels[0] == 1.0 && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1.0),
        "{levels:?}"
    );
    assert_quiet(&browser);
}

/// Ratios of contrast of text (at least 4.5) and of parts that must be seen (at least 3), as WCAG 2.1 defines them.
const CONTRAST: &str = "
    const style = getComputedStyle(document.documentElement);
    const light = name => {
        const hex = style.getPropertyValue(name).trim();
        const [r, g, b] = [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16) / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
    return [['--ink', 4.5], ['--faint', 4.5], ['--warn', 4.5], ['--mark', 4.5], ['--positive', 3], ['--negative', 3], ['--edge', 3]]
        .map(([name, least]) => [name, ratio(name, '--paper'), least]);";

/// Controls smaller than a fingertip wants, in CSS pixels (WCAG 2.2, 2.5.8), and how far the page is wider than its window.
const FIT: &str = "
    const small = [...document.querySelectorAll('button, select, nav a, input[type=range], input[type=file]')]
        .filter(e => e.getClientRects().length).filter(e => e.getBoundingClientRect().height < 24).map(e => e.id || e.textContent);
    return [small, document.documentElement.scrollWidth - innerWidth];";

#[test]
fn the_page_fits_phones_and_desks_light_and_dark_and_moves_little_where_that_is_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(browser) = opened(folder.path()) else {
        return;
    };
    let mut papers = Vec::new();
    for (width, colours) in [
        (390, "light"),
        (390, "dark"),
        (1280, "light"),
        (1280, "dark"),
    ] {
        browser.appear(width, 844, colours, "no-preference");
        let fit = browser.get(FIT);
        assert_eq!(fit[0], json!([]), "{width} {colours}: too small to touch");
        assert!(number(&fit[1]) <= 0.0, "{width} {colours}: too wide: {fit}");
        let ratios = browser.get(CONTRAST);
        for ratio in ratios.as_array().expect("ratios") {
            if width == 390 {
                println!("{colours}: {ratio}");
            }
            assert!(number(&ratio[1]) >= number(&ratio[2]), "{colours}: {ratio}");
        }
        // Pictures change with the theme: where there are no samples, there is paper.
        papers.push(browser.get("return getComputedStyle(document.body).backgroundColor"));
        browser.wait(
            "(() => {
                const pen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
                pen.drawImage(document.getElementById('orbits'), 0, 0);
                const drawn = 'rgb(' + [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).join(', ') + ')';
                return drawn === getComputedStyle(document.body).backgroundColor;
            })()",
        );
    }
    assert_ne!(papers[0], papers[1]);

    // Two pictures a second of an attack that plays, where it would have dozens.
    browser.appear(1280, 844, "light", "reduce");
    browser.run(
        "globalThis.changes = 0; new MutationObserver(() => globalThis.changes++).observe(document.getElementById('fool-steps'), { childList: true });
         document.getElementById('play').click()",
    );
    thread::sleep(Duration::from_secs(2));
    let changes = number(&browser.get("return globalThis.changes"));
    assert!((1.0..=8.0).contains(&changes), "{changes} pictures");
    assert_quiet(&browser);
}

#[test]
fn the_instructions_of_the_classifiers_are_those_that_an_emulated_m4f_counts() {
    let board = &BOARDS[0];
    assert_eq!(board.name, "M4F");
    board.build().expect("firmware");
    let mut off = Vec::new();
    for kind in KINDS {
        let bytes = classifier(kind).expect("a classifier");
        let model = Model::from_bytes(&bytes).expect("a model");
        let samples = kind.variants(1, 3);
        let found = board.classify(&bytes, &samples).expect("answers");
        assert_eq!(
            found.answers,
            answers(&model, &samples).expect("answers"),
            "{kind:?}"
        );
        let counted = found.instructions.expect("counted") as f64;
        let shown = kind.counted_instructions() as f64;
        println!("{kind:?}: {counted} counted, {shown} shown");
        off.push((shown / counted - 1.0).abs());
    }
    // Another compiler may take others.
    assert!(off.iter().all(|off| *off < 0.05), "{off:?}");
}
