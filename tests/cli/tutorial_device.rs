//! `docs/tutorial-device.md`, run: every command of its consoles, in their order and in one folder, prints what stands below it.

use crate::Folder;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The text between fences of this kind, block after block.
fn blocks<'t>(text: &'t str, kind: &str) -> Vec<&'t str> {
    let fence = format!("```{kind}\n");
    let begun = text.split(fence.as_str()).skip(1);
    begun
        .map(|rest| rest.split("```").next().expect("an end"))
        .collect()
}

/// Commands and what they print, in their order.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in blocks(text, "console").into_iter().flat_map(str::lines) {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => *output += &format!("{line}\n"),
            (None, None) => panic!("a console begins with a command, not `{line}`"),
        }
    }
    found
}

#[test]
fn every_command_of_the_device_tutorial_prints_what_stands_there() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial-device.md");
    let text = fs::read_to_string(page).expect("the page");
    let folder = Folder::new();
    folder.write("make.py", blocks(&text, "python")[0]);
    let command = Path::new(env!("CARGO_BIN_EXE_bispectral"));
    let mut path = vec![command.parent().expect("a folder").to_owned()];
    path.extend(env::split_paths(&env::var_os("PATH").expect("a PATH")));
    let path = env::join_paths(path).expect("a PATH");
    // What is built is kept for the next time.
    let target = command.ancestors().nth(2).expect("target").join("boards");
    let commands = commands(&text);
    assert!(commands.len() > 10, "{commands:#?}");
    let mut wrong = Vec::new();
    for (command, expected) in commands {
        let output = Command::new("bash")
            .args(["-c", &command])
            .current_dir(folder.0.path())
            .env("PATH", &path)
            .env("CARGO_TARGET_DIR", &target)
            .output()
            .expect("bash starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {errors}");
        let printed = String::from_utf8_lossy(&output.stdout);
        if printed != expected {
            wrong.push(format!(
                "$ {command}\n{printed}but the page has\n{expected}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
