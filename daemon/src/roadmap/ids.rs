//! How ids are made from titles.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The longest slug.
const LONGEST: usize = 40;
/// A cut goes back to the last hyphen when it leaves at least so much.
const SHORTEST_CUT: usize = 20;

/// The id that a title asks for, before it is compared with the ids that are taken.
#[must_use]
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    let folded = title.nfkd().filter(|character| !is_combining_mark(*character));
    for character in folded.flat_map(char::to_lowercase) {
        if character.is_ascii_lowercase() || character.is_ascii_digit() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    if slug.ends_with('-') {
        slug.pop();
    }
    if slug.len() > LONGEST {
        slug.truncate(LONGEST);
        match slug.rfind('-') {
            Some(hyphen) if hyphen >= SHORTEST_CUT => slug.truncate(hyphen),
            _ => slug.truncate(slug.trim_end_matches('-').len()),
        }
    }
    if slug.is_empty() { "goal".to_owned() } else { slug }
}

/// The id of a new goal: the title's slug, numbered when it is taken or looks like an id of the old random shape.
pub(super) fn mint(title: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let slug = slug(title);
    if !is_taken(&slug) && !has_random_shape(&slug) {
        return slug;
    }
    let mut number = 2_u64;
    loop {
        let numbered = format!("{slug}-{number}");
        if !is_taken(&numbered) && !has_random_shape(&numbered) {
            return numbered;
        }
        number += 1;
    }
}

/// `goal-<letters and digits>-<8 hex digits>`: how ids were made before they were made from titles.
pub(super) fn has_random_shape(id: &str) -> bool {
    let Some((middle, end)) = id.strip_prefix("goal-").and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    let is_base36 = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    !middle.is_empty() && middle.bytes().all(is_base36) && end.len() == 8 && end.bytes().all(is_hex)
}
