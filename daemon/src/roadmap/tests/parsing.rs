//! What is a goal file, and what is wrong with what is none.

use serde_json::json;

use super::*;
use crate::roadmap::Defect;

#[track_caller]
fn message(file: impl AsRef<[u8]>) -> String {
    match Roadmap::parse(file.as_ref()) {
        Err(Defect::Malformed { message }) => message,
        other => panic!("{:?}: {other:?}", String::from_utf8_lossy(file.as_ref())),
    }
}

fn is_read(file: &str) -> bool {
    Roadmap::parse(file.as_bytes()).is_ok()
}

#[test]
fn a_byte_order_mark_is_tolerated_and_not_written() {
    let roadmap = Roadmap::parse(b"\xef\xbb\xbf{\"version\":1,\"goals\":[]}").unwrap();
    assert!(roadmap.print().starts_with(b"{"));
    assert_eq!(message("\u{feff}\u{feff}{}"), "it is not valid JSON at line 1, column 1: expected value");
}

#[test]
fn bad_json_is_placed_by_line_and_column() {
    for (file, expected) in [
        ("", "it is empty"),
        (" \n\t", "it is empty"),
        ("\u{feff}", "it is empty"),
        (
            "{\"version\": 1, \"goals\": [",
            "it is not valid JSON at line 1, column 25: EOF while parsing a list",
        ),
        ("{\n  \"version\": 1,,\n}", "it is not valid JSON at line 2, column 16: key must be a string"),
        ("{\n  \"größe\" 1\n}", "it is not valid JSON at line 2, column 11: expected `:`"),
        ("{\"version\": 01}", "it is not valid JSON at line 1, column 14: invalid number"),
        ("{} {}", "it is not valid JSON at line 1, column 4: trailing characters"),
        ("nul", "it is not valid JSON at line 1, column 3: EOF while parsing a value"),
    ] {
        assert_eq!(message(file), expected, "{file}");
    }
}

#[test]
fn merge_markers_are_named_with_their_lines() {
    let file = "{\n<<<<<<< HEAD\n  \"version\": 1,\n||||||| base\n=======\n>>>>>>> other\n";
    assert_eq!(message(file), "merge conflict markers stand in it, at lines 2, 4, 5 and 6");
    assert_eq!(message("{\r\n  \"a\": 1\r\n>>>>>>> x\r\n}"), "merge conflict markers stand in it, at line 3");
    let many = format!("{{\n{}", "<<<<<<< a\n=======\n>>>>>>> b\n".repeat(20));
    assert_eq!(message(many), "60 merge conflict markers stand in it, from line 2 to line 61");
    // Inside a text it is no marker.
    let goals = json!([goal("a", json!({"description": "<<<<<<< HEAD\n=======\n"}))]);
    assert!(is_read(&json!({"version": 1, "goals": goals}).to_string()));
}

#[test]
fn bytes_that_are_no_utf8_are_placed() {
    assert_eq!(message(b"{\n  \"version\": \xff}"), "it is not UTF-8 at line 2, column 14");
    assert_eq!(message(b"{\"a\": \"\xc3\xa4\xc3\"}"), "it is not UTF-8 at line 1, column 9");
}

#[test]
fn the_files_own_fields_are_checked() {
    for (file, expected) in [
        ("[]", "it must hold an object, not an array"),
        ("{\"goals\": []}", "field \"version\" is missing; it must be 1"),
        ("{\"version\": \"1\", \"goals\": []}", "field \"version\" must be 1, not \"1\" (line 1, column 13)"),
        ("{\"version\": 0, \"goals\": []}", "field \"version\" must be 1, not 0 (line 1, column 13)"),
        ("{\"version\": null, \"goals\": []}", "field \"version\" must be 1, not null (line 1, column 13)"),
        ("{\"version\": 1}", "field \"goals\" is missing, an array of goals"),
        (
            "{\"version\": 1,\n\"goals\": {}}",
            "field \"goals\" must be an array of goals, not an object (line 2, column 10)",
        ),
        (
            "{\"version\": 1, \"revision\": -1, \"goals\": []}",
            "field \"revision\" must be a whole number from 0 to 9007199254740991, not -1 (line 1, column 28)",
        ),
        (
            "{\"version\": 1, \"goals\": [], \"retiredIds\": [1]}",
            "field \"retiredIds\" holds an entry that must be text, not a number (line 1, column 43)",
        ),
        (
            "{\"version\": 1, \"goals\": [], \"version\": 1}",
            "field \"version\" stands there twice (line 1, column 29)",
        ),
        (
            "{\"version\": 1, \"goals\": [], \"\\ud800\": 1}",
            "a field's name is no Unicode text: \"\\ud800\" (line 1, column 29)",
        ),
    ] {
        assert_eq!(message(file), expected, "{file}");
    }
    for revision in ["1.5", "9007199254740992", "1e300", "\"7\"", "null", "true"] {
        let file = format!("{{\"version\": 1, \"revision\": {revision}, \"goals\": []}}");
        assert!(message(file).starts_with("field \"revision\" must be a whole number"), "{revision}");
    }
    for (revision, number) in
        [("0", 0), ("9007199254740991", 9_007_199_254_740_991), ("7.0", 7), ("1e2", 100)]
    {
        let file = format!("{{\"version\": 1.0, \"revision\": {revision}, \"goals\": []}}");
        assert_eq!(Roadmap::parse(file.as_bytes()).unwrap().revision(), number);
    }
    assert_eq!(Roadmap::parse(b"{\"version\": 1, \"goals\": []}").unwrap().revision(), 0);
}

#[test]
fn a_newer_version_is_told_apart_before_anything_else_is_looked_at() {
    for (file, found) in [
        ("{\"version\": 2, \"goals\": {}}", json!(2)),
        ("{\"goals\": 7, \"version\": 1.5, \"revision\": \"x\"}", json!(1.5)),
    ] {
        let defect = Roadmap::parse(file.as_bytes()).unwrap_err();
        assert_eq!(defect, Defect::Newer { found: found.clone() });
        let failure = serde_json::to_value(defect.failure("/r/worklist.json")).unwrap();
        assert_eq!((&failure["code"], &failure["retryable"]), (&json!("PERSISTENCE_FAILED"), &json!(false)));
        let details = json!({"resolution": "upgrade-stepstone", "path": "/r/worklist.json", "found": found});
        assert_eq!(failure["details"], details);
    }
}

#[test]
fn a_malformed_file_is_refused_with_its_path() {
    let failure = Roadmap::parse(b"{").unwrap_err().failure("/r/worklist.json");
    check_message(&failure);
    assert!(failure.message.contains("line 1, column 1"), "{}", failure.message);
    let failure = serde_json::to_value(failure).unwrap();
    assert_eq!(failure["details"], json!({"resolution": "repair-project-file", "path": "/r/worklist.json"}));
    assert_eq!((&failure["code"], &failure["retryable"]), (&json!("PERSISTENCE_FAILED"), &json!(false)));
}

#[test]
fn goals_are_checked_field_by_field() {
    for (more, field, problem) in [
        (json!({"title": 3}), "title", "must be text, not a number"),
        (json!({"description": null}), "description", "must be text, not null"),
        (
            json!({"status": "waiting"}),
            "status",
            "must be one of open, active, done, archived, not \"waiting\"",
        ),
        (json!({"status": true}), "status", "must be text, not true or false"),
        (json!({"dependsOn": "b"}), "dependsOn", "must be an array of texts, not text"),
        (json!({"links": ["x", {}]}), "links", "holds an entry that must be text, not an object"),
        (json!({"previousIds": [null]}), "previousIds", "holds an entry that must be text, not null"),
    ] {
        let file = json!({"version": 1, "goals": [plain("first"), goal("b", more.clone())]}).to_string();
        let expected = format!("goal 2 (\"b\"), field \"{field}\": {problem} (line 1, column ");
        assert!(message(&file).starts_with(&expected), "{more}: {}", message(&file));
    }
    for field in
        ["description", "group", "completedAt", "branch", "claimedAt", "claimedBy", "createdAt", "updatedAt"]
    {
        for wrong in [json!(1), json!(null), json!([]), json!({})] {
            let file = json!({"version": 1, "goals": [goal("b", json!({field: wrong}))]}).to_string();
            assert!(message(&file).starts_with(&format!("goal 1 (\"b\"), field \"{field}\": must be text")));
        }
    }
    for field in ["id", "title", "status", "createdAt", "updatedAt"] {
        let mut without = plain("b");
        without.as_object_mut().unwrap().shift_remove(field);
        let message = message(json!({"version": 1, "goals": [without]}).to_string());
        assert!(message.contains(&format!("field \"{field}\": is missing")), "{message}");
    }
    assert_eq!(
        message("{\"version\": 1, \"goals\": [3]}"),
        "goal 1: must be an object, not a number (line 1, column 26)"
    );
    let lines = "{\"version\": 1, \"goals\": [\n{\"id\": \"a\",\n   \"title\": 3}]}";
    assert_eq!(
        message(lines),
        "goal 1 (\"a\"), field \"title\": must be text, not a number (line 3, column 13)"
    );
}

#[test]
fn fields_that_stand_twice_are_refused_at_either_level() {
    let text = plain("a").to_string().replace("\"title\":\"a\"", "\"title\":\"a\",\"x\":1,\"\\u0078\":2");
    let message = message(format!("{{\"version\":1,\"goals\":[{text}]}}"));
    assert!(message.starts_with("goal 1 (\"a\"), field \"x\": stands there twice"), "{message}");
}

#[test]
fn half_surrogate_pairs_are_refused_where_they_are_read() {
    let text = plain("a").to_string().replace("\"title\":\"a\"", "\"title\":\"\\ud83d\"");
    let message = message(format!("{{\"version\":1,\"goals\":[{text}]}}"));
    assert!(message.starts_with("goal 1 (\"a\"), field \"title\": holds half a surrogate pair"), "{message}");
}

#[test]
fn two_goals_with_one_id_are_named() {
    let file = "{\"version\": 1, \"goals\": [\n".to_owned()
        + &[plain("a"), plain("b"), plain("a")].map(|goal| goal.to_string()).join(",\n")
        + "]}";
    assert_eq!(message(file), "goals 1 (line 2, column 1) and 3 (line 4, column 1) have the same id \"a\"");
    // A former id may be another goal's live one.
    let goals = json!([plain("a"), goal("b", json!({"previousIds": ["a", "b", "c"]})), goal("c", json!({}))]);
    assert!(is_read(&json!({"version": 1, "goals": goals, "retiredIds": ["a", "a"]}).to_string()));
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| {
        let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!("{{\"version\": 1, \"goals\": [], \"x\": {value}}}")
    };
    assert!(is_read(&nested(99)));
    assert!(message(nested(100)).starts_with("it nests deeper than 100 levels at line 1, column "));
    assert!(message(nested(1_000_000)).starts_with("it nests deeper"));
    assert!(message("[".repeat(1_000_000)).starts_with("it is not valid JSON"));
}

#[test]
fn escaped_names_are_the_same_names() {
    let file = "{\"v\\u0065rsion\":1,\"goals\":[{\"\\u0069d\":\"\\u0061\",\"title\":\"t\",\"status\":\"\\u006fpen\",\"createdAt\":\"\",\"updatedAt\":\"\"}]}";
    let mut bench = Bench::of(Roadmap::parse(file.as_bytes()).unwrap());
    bench.writes(json!({"action": "update", "id": "a", "title": "new"}), &["a"]);
    let text = String::from_utf8(bench.roadmap.print()).unwrap();
    for kept in ["\"v\\u0065rsion\": 1", "\"\\u0069d\": \"\\u0061\"", "\"status\": \"\\u006fpen\""] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn messages_stay_short_whatever_stands_in_the_file() {
    let long = "x".repeat(100_000);
    for file in [
        json!({"version": 1, "goals": [goal(&long, json!({"status": long}))]}),
        json!({"version": 1, "goals": [goal("a", json!({"title": 3})), {"id": long}]}),
        json!({"version": long, "goals": []}),
        json!({"version": 1, "revision": long, "goals": []}),
        json!({"version": 1, "goals": [plain(&long), plain(&long)]}),
    ] {
        assert!(message(file.to_string()).len() < 400);
    }
    let twice = format!("{{\"version\":1,\"goals\":[],\"{long}\":1,\"{long}\":2}}");
    assert!(message(twice).len() < 400);
}
