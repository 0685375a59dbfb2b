//! The raw declarations have the layout and the numbers that a C compiler gives to quire.h.
//! tests/layout/layout.txt is what layout.c prints; test.sh prints it anew.
#![cfg(target_pointer_width = "64")]

#[path = "layout/table.rs"]
#[rustfmt::skip] // written by generate-sys
mod table;

fn expected() -> Vec<(String, i64)> {
    let text = match std::env::var("QUIRE_LAYOUT") {
        Ok(path) => std::fs::read_to_string(path).unwrap(),
        Err(_) => include_str!("layout/layout.txt").to_owned(),
    };
    text.lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, number)| (name.to_owned(), number.parse().unwrap()))
        .collect()
}

#[test]
fn sizes_and_offsets() {
    let expected: Vec<_> = expected().into_iter().filter(|(name, _)| name.starts_with('q')).collect();
    assert_eq!(expected.len(), table::TABLE.len());
    for ((name, number), (mine, value)) in expected.iter().zip(table::TABLE) {
        assert_eq!((name.as_str(), *number), (*mine, *value as i64));
    }
}

#[test]
fn numbers() {
    let expected: Vec<_> = expected().into_iter().filter(|(name, _)| name.starts_with('Q')).collect();
    assert_eq!(expected.len(), quire::sys::ALL.len());
    for ((name, number), mine) in expected.iter().zip(quire::sys::ALL) {
        assert_eq!((name.as_str(), *number), *mine);
    }
}

#[test]
fn versions_agree() {
    // SAFETY: takes nothing.
    let running = u64::from(unsafe { quire::sys::quire_version_number() });
    assert!(running >= quire::sys::QUIRE_VERSION_NUMBER);
    assert_eq!(running / 10_000, quire::sys::QUIRE_VERSION_NUMBER / 10_000);
    let text = format!("{}.{}.{}", running / 10_000, running / 100 % 100, running % 100);
    assert_eq!(quire::version(), text);
}
