//! The behaviour scenarios of `tests/scenarios/`, one test per file.

use stepstone_tests::scenario;

/// How many there are; a scenario that gets lost is a failure.
const COUNT: usize = 93;

fn check(file: &str) {
    let problems = scenario::run_all(&scenario::load(&scenario::directory().join(file)));
    assert!(problems.is_empty(), "{} differences in {file}:\n{}", problems.len(), problems.join("\n"));
}

macro_rules! files {
    ($($name:ident),* $(,)?) => {
        const FILES: &[&str] = &[$(concat!(stringify!($name), ".json")),*];
        $(
            #[test]
            fn $name() {
                check(concat!(stringify!($name), ".json").trim_start_matches("r#"));
            }
        )*
    };
}

files!(add, commands, inputs, lifecycle, r#move, plan, reads, storage, update);

#[test]
fn all_scenarios_are_there_and_every_file_is_run() {
    let mut count = 0;
    for entry in std::fs::read_dir(scenario::directory()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(FILES.iter().any(|file| file.trim_start_matches("r#") == name), "{name} is not run");
        count += scenario::load(&path).len();
    }
    assert_eq!(count, COUNT);
}
