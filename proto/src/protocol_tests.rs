use super::*;

#[test]
fn a_range_is_two_numbers_in_order() {
    for (text, expected) in
        [("1-1", Some((1, 1))), (" 2-10 ", Some((2, 10))), ("1 - 3", Some((1, 3))), ("0-0", Some((0, 0)))]
    {
        assert_eq!(Range::parse(text).map(|range| (range.min, range.max)), expected, "{text}");
    }
    for text in ["", "1", "-", "1-", "-1", "2-1", "a-b", "1-2-3", "1-4294967296", "1.0-2"] {
        assert_eq!(Range::parse(text), None, "{text}");
    }
    assert_eq!(Range::parse(&RANGE.to_string()), Some(RANGE));
}

#[test]
fn ranges_meet_when_they_share_a_number() {
    let range = |min, max| Range { min, max };
    for (one, other, meets) in [
        (range(1, 1), range(1, 1), true),
        (range(1, 3), range(3, 5), true),
        (range(1, 9), range(4, 5), true),
        (range(1, 2), range(3, 3), false),
    ] {
        assert_eq!(one.meets(other), meets);
        assert_eq!(other.meets(one), meets);
    }
}

#[test]
fn any_text_survives_a_query_component() {
    for text in ["", "a b", "/päth?&=+%25", "😀\n\0", "plain-._~"] {
        let encoded = encode_component(text);
        assert!(
            encoded.bytes().all(|byte| byte.is_ascii_graphic() && !b"&=?#+".contains(&byte)),
            "{encoded}"
        );
        assert_eq!(decode_component(&encoded).as_deref(), Some(text));
    }
    for bad in ["%", "%4", "%zz", "%ff", "%+1"] {
        assert_eq!(decode_component(bad), None, "{bad}");
    }
}

#[test]
fn an_event_of_a_later_version_is_no_error() {
    let line: EventLine = serde_json::from_str(r#"{"event":"shinier","sequence":4}"#).unwrap();
    assert_eq!(line, EventLine::Unknown);
}

#[test]
fn a_status_of_another_version_is_read_as_far_as_it_goes() {
    let status: Status = serde_json::from_str(r#"{"pid":7,"version":"9.9.9","novel":[1]}"#).unwrap();
    assert_eq!((status.pid, status.version.as_str(), status.protocol.as_str()), (7, "9.9.9", ""));
}
