//! The file's layout, and what a change leaves alone.

use serde_json::json;

use super::*;

/// Two goals in our layout, with everything in them that could be spelled in another way.
const LAID_OUT: &str = r#"{
  "$schema": "x",
  "version": 1,
  "goals": [
    {
      "id": "a",
      "rank": 1.50e+3,
      "title": "Gr\u00f6\u00dfe \/ ü",
      "status": "open",
      "createdAt": "2026-01-01T00:00:00.000Z",
      "updatedAt": "2026-01-01T00:00:00.000Z",
      "dependsOn": [
        "b"
      ],
      "empty": [],
      "nothing": {},
      "deep": {
        "a": [
          1,
          {
            "b": -0.0
          }
        ]
      }
    },
    {
      "updatedAt": "2026-01-01T00:00:00.000Z",
      "createdAt": "2026-01-01T00:00:00.000Z",
      "big": 123456789012345678901234567890,
      "status": "open",
      "title": "B",
      "id": "b"
    }
  ],
  "revision": 7,
  "retiredIds": [],
  "extra": [
    1E5,
    null
  ]
}
"#;

fn laid_out() -> Bench {
    Bench::of(Roadmap::parse(LAID_OUT.as_bytes()).unwrap())
}

fn text(bench: &Bench) -> String {
    String::from_utf8(bench.roadmap.print()).unwrap()
}

#[test]
fn our_layout_is_printed_as_it_was_read() {
    assert_eq!(text(&laid_out()), LAID_OUT);
    let empty = "{\n  \"version\": 1,\n  \"revision\": 0,\n  \"goals\": []\n}\n";
    assert_eq!(text(&Bench::empty()), empty);
    assert_eq!(text(&Bench::of(Roadmap::parse(empty.as_bytes()).unwrap())), empty);
}

#[test]
fn other_layouts_are_laid_out_with_every_string_and_number_as_it_was_spelled() {
    let squeezed: String = LAID_OUT.lines().map(str::trim).collect();
    let tabs = LAID_OUT.replace("  ", "\t").replace('\n', "\r\n");
    let wide = LAID_OUT
        .replace(':', " :\t")
        .replace(" :\t00:00.000Z", ":00:00.000Z")
        .replace("T00 :\t", "T00:")
        .replace("00 :\t00", "00:00");
    let spaced = LAID_OUT.replace("[]", "[ \n ]").replace("{}", "{\t}").replace("],", "]\n,");
    for other in [squeezed, tabs, wide, spaced] {
        let roadmap = Roadmap::parse(other.as_bytes()).unwrap_or_else(|defect| panic!("{defect:?}: {other}"));
        assert_eq!(String::from_utf8(roadmap.print()).unwrap(), LAID_OUT, "{other}");
    }
}

#[test]
fn a_change_replaces_a_field_in_its_place_and_appends_new_ones() {
    let mut bench = laid_out();
    bench.writes(
        json!({"action": "update", "id": "b", "title": "New", "group": "G", "description": "d"}),
        &["b"],
    );
    let expected = LAID_OUT
        .replace("\"revision\": 7", "\"revision\": 8")
        .replace(
            "      \"updatedAt\": \"2026-01-01T00:00:00.000Z\",\n      \"createdAt\"",
            &format!("      \"updatedAt\": \"{NOW}\",\n      \"createdAt\""),
        )
        .replace("\"title\": \"B\"", "\"title\": \"New\"")
        .replace(
            "      \"id\": \"b\"\n",
            "      \"id\": \"b\",\n      \"description\": \"d\",\n      \"group\": \"G\"\n",
        );
    assert_eq!(text(&bench), expected);
}

#[test]
fn what_a_change_does_not_touch_keeps_its_text() {
    let mut bench = laid_out();
    bench.writes(json!({"action": "update", "id": "a", "dependsOn": []}), &["a"]);
    let expected = LAID_OUT
        .replace("\"revision\": 7", "\"revision\": 8")
        .replacen("\"updatedAt\": \"2026-01-01T00:00:00.000Z\"", &format!("\"updatedAt\": \"{NOW}\""), 1)
        .replace("      \"dependsOn\": [\n        \"b\"\n      ],\n", "");
    assert_eq!(text(&bench), expected);
    let mut bench = laid_out();
    bench.writes(json!({"action": "delete", "id": "b", "confirm": true}), &["a", "b"]);
    let printed = text(&bench);
    for kept in ["\"rank\": 1.50e+3", "\"b\": -0.0", "Gr\\u00f6\\u00dfe \\/ ü", "1E5", "\"$schema\": \"x\""]
    {
        assert!(printed.contains(kept), "{kept}: {printed}");
    }
    assert!(printed.contains("\"retiredIds\": [\n    \"b\"\n  ],\n  \"extra\""), "{printed}");
}

#[test]
fn absent_fields_of_the_file_are_appended_when_they_are_needed() {
    let mut bench = Bench::with_file(json!({"version": 1, "goals": [plain("a")], "x": 1}));
    bench.writes(json!({"action": "delete", "id": "a", "confirm": true}), &["a"]);
    assert_eq!(bench.file().to_string(), r#"{"version":1,"goals":[],"x":1,"revision":1,"retiredIds":["a"]}"#);
}

#[test]
fn strings_are_written_readably() {
    let mut bench = Bench::empty();
    let title = "q\"b\\s/ü😀\u{7f}\u{1}\u{2028}.";
    bench.writes(json!({"action": "add", "title": title, "description": "a\nb\tc\r"}), &["q-b-s-u"]);
    let printed = text(&bench);
    assert!(printed.contains("\"title\": \"q\\\"b\\\\s/ü😀\u{7f}\\u0001\u{2028}.\""), "{printed}");
    assert!(printed.contains("\"description\": \"a\\nb\\tc\\r\""), "{printed}");
    assert_eq!(bench.goal("q-b-s-u")["title"], title);
}

#[test]
fn answers_are_compact_and_keep_numbers_as_they_are_spelled() {
    let bench = laid_out();
    let operation = stepstone_proto::operation::Read::Show { id: "b".to_owned() };
    let result = read(&bench.roadmap, "show", &operation).unwrap();
    assert!(result.get().contains("\"big\":123456789012345678901234567890,"), "{result}");
    assert!(!result.get().contains([' ', '\n']), "{result}");
}

#[test]
fn what_no_reader_can_hold_stays_in_the_file_and_out_of_answers() {
    let odd = plain("a")
        .to_string()
        .replace("\"title\":\"a\"", "\"title\":\"a\",\"huge\":1e999,\"half\":\"\\ud800\",\"x\":1e3");
    let file = format!("{{\"version\":1,\"goals\":[{odd}]}}");
    let mut bench = Bench::of(Roadmap::parse(file.as_bytes()).unwrap());
    let shown = bench.run(json!({"action": "show", "id": "a"})).result["goal"].clone();
    assert_eq!(shown, goal("a", json!({"x": 1000.0})));
    let moment = Moment { now_ms: NOW_MS, claimed_by: "", branch: None };
    let change = stepstone_proto::operation::Change::Reopen(stepstone_proto::operation::Target {
        id: "a".to_owned(),
        expected_updated_at: None,
    });
    assert!(matches!(
        decide(&bench.roadmap, &change, &moment).unwrap(),
        Decision::Answer { no_op: true, .. }
    ));
    bench.run(json!({"action": "update", "id": "a", "description": "d"}));
    for kept in ["\"huge\": 1e999", "\"half\": \"\\ud800\""] {
        assert!(text(&bench).contains(kept), "{kept}");
    }
}
