use super::*;

#[test]
fn our_layout_is_printed_as_it_was_read() {
    let text = "{\n  \"version\": 1,\n  \"revision\": 7,\n  \"goals\": [\n    {\n      \"id\": \"a\",\n      \"title\": \"A\",\n      \"status\": \"open\",\n      \"createdAt\": \"x\",\n      \"updatedAt\": \"x\",\n      \"dependsOn\": [\n        \"b\"\n      ],\n      \"n\": 1.50e+3,\n      \"o\": {},\n      \"l\": []\n    }\n  ]\n}\n";
    let roadmap = Roadmap::parse(text.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(roadmap.print()).unwrap(), text);
}
