//! `bispectral import`: what becomes of W, and which W are refused.

use crate::{Folder, Order, Random, f64s, npy};
use bispectral_core::format::MAX_DIMENSION;
use bispectral_core::{Complex32, Model};

/// Complex values as bytes of either precision and endianness, and the model they must make.
fn encodings(values: &[(f64, f64)]) -> [(&'static str, Vec<u8>); 4] {
    let parts = || values.iter().flat_map(|&(re, im)| [re, im]);
    [
        ("'<c16'", parts().flat_map(f64::to_le_bytes).collect()),
        ("'>c16'", parts().flat_map(f64::to_be_bytes).collect()),
        (
            "'<c8'",
            parts().flat_map(|x| (x as f32).to_le_bytes()).collect(),
        ),
        (
            "'>c8'",
            parts().flat_map(|x| (x as f32).to_be_bytes()).collect(),
        ),
    ]
}

#[test]
fn every_order_precision_and_endianness_makes_the_same_model() {
    let (rows, inputs) = (2, 3);
    let mut random = Random(1);
    let w: Vec<(f64, f64)> = (0..rows * inputs)
        .map(|_| (random.next(), random.next()))
        .collect();
    let transposed: Vec<(f64, f64)> = (0..inputs)
        .flat_map(|column| (0..rows).map(move |row| row * inputs + column))
        .map(|at| w[at])
        .collect();
    let folder = Folder::new();
    for (values, order) in [(&w, Order::C), (&transposed, Order::Fortran)] {
        for (descr, data) in encodings(values) {
            folder.write("W.npy", npy(descr, order, "(2, 3)", data));
            folder.succeed("import W.npy -o model.bsn --force");
            let bytes = folder.read("model.bsn");
            let model = Model::from_bytes(&bytes).unwrap();
            assert_eq!((model.rows(), model.inputs()), (rows, inputs));
            for (at, &(re, im)) in w.iter().enumerate() {
                let rounded = Complex32::new(re as f32, im as f32);
                assert_eq!(model.weight(at / inputs, at % inputs), Some(rounded));
            }
        }
    }
}

#[test]
fn real_weights_have_no_imaginary_part() {
    let folder = Folder::new();
    let data: Vec<u8> = [1.0_f32, 2.0].map(f32::to_be_bytes).concat();
    folder.write("W.npy", npy("'>f4'", Order::C, "(1, 2)", data));
    folder.succeed("import W.npy -o model.bsn");
    let bytes = folder.read("model.bsn");
    let model = Model::from_bytes(&bytes).unwrap();
    assert_eq!(model.weight(0, 1), Some(Complex32::new(2.0, 0.0)));
}

#[test]
fn what_the_core_reads_back_is_reported() {
    let folder = Folder::new();
    folder.write(
        "wide.npy",
        npy("'<f8'", Order::C, "(1, 2)", f64s([0.6, 0.8])),
    );
    let object = folder.object("import wide.npy -o a.bsn --group Z4xZ2");
    assert_eq!(object["name"], "wide");
    assert_eq!(object["group"], "Z4xZ2");
    assert_eq!((&object["rows"], &object["inputs"]), (&1.into(), &2.into()));
    assert_eq!(object["bytes"], folder.read("a.bsn").len());

    let object = folder.object("import wide.npy -o b.bsn --name shaft --quiet");
    assert_eq!(object["name"], "shaft");
    assert!(object["group"].is_null());

    let (code, stdout, stderr) = folder.run("import wide.npy -o c.bsn --quiet");
    assert_eq!((code, &*stdout, &*stderr), (Some(0), "", ""));
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let folder = Folder::new();
    folder.write("W.npy", npy("'<f8'", Order::C, "(1, 1)", f64s([1.0])));
    folder.write("model.bsn", "precious");
    folder.refuse_with(
        "import W.npy -o model.bsn",
        "model.bsn: exists already: choose another name or add --force",
    );
    folder.succeed("import W.npy -o model.bsn --force");
    assert!(Model::from_bytes(&folder.read("model.bsn")).is_ok());
    assert_eq!(folder.contents().len(), 2);
}

#[test]
fn a_failure_destroys_nothing_even_by_force() {
    let folder = Folder::new();
    folder.write("W.npy", npy("'<f8'", Order::C, "(1, 1)", f64s([f64::NAN])));
    folder.write("model.bsn", "precious");
    folder.refuse("import W.npy -o model.bsn --force");
}

#[test]
fn places_where_no_file_can_be_are_refused() {
    let folder = Folder::new();
    folder.write("W.npy", npy("'<f8'", Order::C, "(1, 1)", f64s([1.0])));
    for (output, refusal) in [
        (".", ".: is a directory"),
        (
            "absent/model.bsn",
            "absent/model.bsn: its folder does not exist",
        ),
        #[cfg(unix)]
        ("/dev/null", "/dev/null: is a pipe or a device"),
    ] {
        folder.refuse_with(&format!("import W.npy -o {output} --force"), refusal);
    }
}

#[test]
fn arrays_that_are_no_weights_are_refused() {
    let c = |shape: &str, data: Vec<u8>| npy("'<f8'", Order::C, shape, data);
    let above = usize::from(MAX_DIMENSION) + 1;
    for (bytes, refusal) in [
        (c("(2,)", f64s([1.0, 2.0])), "the array has 1 dimension"),
        (c("()", f64s([1.0])), "the array has 0 dimensions"),
        (c("(1, 1, 1)", f64s([1.0])), "the array has 3 dimensions"),
        (c("(0, 4)", vec![]), "the array is empty"),
        (c("(4, 0)", vec![]), "the array is empty"),
        (
            c("(1, 2)", f64s([1.0])),
            "the data are truncated: 8 bytes where",
        ),
        (c("(1, 1)", f64s([1.0, 2.0])), "8 bytes follow the data"),
        (
            c("(1, 2)", f64s([1.0, f64::NAN])),
            "row 0, column 1: the real part is NaN",
        ),
        (
            npy(
                "'<c16'",
                Order::C,
                "(2, 1)",
                f64s([1.0, 1.0, 1.0, f64::INFINITY]),
            ),
            "row 1, column 0: the imaginary part is inf",
        ),
        (
            c("(2, 1)", f64s([1.0, -1e39])),
            "row 1, column 0: the real part is -1e39, more than f32 holds",
        ),
        (c("(1, 1)", f64s([0.0])), "the largest weight is outside"),
        (c("(1, 1)", f64s([1e30])), "the largest weight is outside"),
        (
            c(&format!("(1, {above})"), f64s(vec![1.0; above])),
            &format!("the shape is [1, {above}]: use at most"),
        ),
        (
            npy("'<i4'", Order::C, "(1, 1)", [1, 0, 0, 0]),
            "the elements are int32",
        ),
    ] {
        let folder = Folder::new();
        folder.write("W.npy", bytes);
        folder.refuse_with("import W.npy -o model.bsn", &format!("W.npy: {refusal}"));
    }
}

#[test]
fn elements_that_are_no_numbers_are_refused() {
    for (descr, refusal) in [
        ("'|b1'", "the elements are bool"),
        ("'<U2'", "the elements are strings"),
        ("'|S8'", "the elements are strings"),
        ("'|O'", "the elements are Python objects"),
        ("'<f16'", "the elements are of type '<f16'"),
        ("'<m8[s]'", "the elements are of type '<m8[s]'"),
        ("'|V8'", "the elements are of type '|V8'"),
        (
            "[('re', '<f4'), ('im', '<f4')]",
            "the elements are structured",
        ),
        ("'nonsense'", "the header does not decode"),
    ] {
        let folder = Folder::new();
        folder.write("W.npy", npy(descr, Order::C, "(1, 1)", [0; 8]));
        folder.refuse_with("import W.npy -o model.bsn", &format!("W.npy: {refusal}"));
    }
}

#[test]
fn a_shape_larger_than_its_file_takes_no_memory() {
    for (shape, refusal) in [
        (
            "(1000000000, 1000000000)",
            "the data are truncated: 8 bytes",
        ),
        (
            "(1, 2305843009213693951)",
            "the data are truncated: 8 bytes",
        ),
        (
            "(4294967296, 4294967296)",
            "the shape has more elements than",
        ),
        (
            "(4294967296, 4294967296, 0)",
            "the shape has more elements than",
        ),
        (
            "(1, 99999999999999999999)",
            "a dimension is larger than any file",
        ),
        ("(-1, 8)", "the header does not decode"),
        ("(1e3, 8)", "the header does not decode"),
    ] {
        let folder = Folder::new();
        folder.write("W.npy", npy("'<f8'", Order::C, shape, f64s([1.0])));
        folder.refuse_with("import W.npy -o model.bsn", &format!("W.npy: {refusal}"));
    }
}

#[test]
fn damaged_headers_are_refused() {
    let whole = npy("'<f8'", Order::C, "(1, 1)", f64s([1.0]));
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let nested = npy("'<f8'", Order::C, &"(".repeat(5000), []);
    let mut endless = b"\x93NUMPY\x02\x00".to_vec();
    endless.extend(u32::MAX.to_le_bytes());
    for (bytes, refusal) in [
        (vec![], "not a NumPy array"),
        (b"1,2,3\n".to_vec(), "not a NumPy array"),
        (b"PK\x03\x04and so on".to_vec(), "is an archive of arrays"),
        (whole[..9].to_vec(), "the file ends in its header"),
        (whole[..11].to_vec(), "the file ends in its header"),
        (whole[..60].to_vec(), "the file ends in its header"),
        (with(6, &[2]), "the header claims"),
        (with(6, &[7]), ".npy version 7 is not known"),
        (with(8, &[0xff, 0xff]), "the header claims 65535 bytes"),
        (with(8, &[0, 0]), "the header does not decode"),
        (with(12, b"x"), "the header does not decode"),
        (with(14, &[0xff]), "the header does not decode"),
        (endless, "the header claims 4294967295 bytes"),
        (nested, "the header has brackets in brackets"),
    ] {
        let folder = Folder::new();
        folder.write("W.npy", bytes);
        folder.refuse_with("import W.npy -o model.bsn", &format!("W.npy: {refusal}"));
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new();
    for (weights, refusal) in [
        ("absent.npy", "absent.npy: there is no such file"),
        (".", ".: is a directory"),
        #[cfg(unix)]
        ("/dev/zero", "/dev/zero: is a pipe or a device"),
    ] {
        folder.refuse_with(&format!("import {weights} -o model.bsn"), refusal);
    }
}
