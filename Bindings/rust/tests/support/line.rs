//! Lines of conformance.json as arguments: their members, the options of a feed, an answer.
use super::json::{Object, Value};
use super::picture;
use quire::{Answer, FeedOptions, Order, Paging, Post, Sizes};

/// A member of a line.
pub trait Members {
    fn text(&self, name: &str) -> &str;
    fn number(&self, name: &str) -> Option<i64>;
    fn flag(&self, name: &str) -> bool;
    fn list(&self, name: &str) -> &[String];
}

impl Members for Object {
    fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Value::Text(text)) => text,
            other => panic!("{name} is {other:?}"),
        }
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.get(name).map(|value| match value {
            Value::Number(number) => *number,
            other => panic!("{name} is {other:?}"),
        })
    }

    fn flag(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Flag(true))
    }

    fn list(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Value::List(list)) => list,
            None => &[],
            other => panic!("{name} is {other:?}"),
        }
    }
}

pub fn options(line: &Object) -> FeedOptions {
    let number = |name| line.number(name).unwrap() as u32;
    FeedOptions {
        order: match line.text("order") {
            "stable" => Order::Stable,
            "keyless" => Order::Keyless,
            "bump" => Order::Bump,
            "append-only" => Order::AppendOnly,
            "ranked" => Order::Ranked,
            other => panic!("order {other}"),
        },
        paging: match line.text("paging") {
            "cursor" => Paging::Cursor,
            "keyset" => Paging::Keyset,
            "offset" => Paging::Offset,
            "page" => Paging::Page,
            "ids" => Paging::Ids,
            "pages" => Paging::Pages,
            other => panic!("paging {other}"),
        },
        trusts_end: line.flag("trusts_end"),
        is_strict: line.flag("strict"),
        page_size: number("page_size"),
        minimum_run: number("minimum_run"),
        first_page: number("first_page"),
        sticky: line.list("sticky").iter().map(|id| id.clone().into_bytes()).collect(),
        collection: String::new(),
        sizes: match line.text("sizes") {
            "unknown" => Sizes::Unknown,
            "free" => Sizes::Free,
            _ => Sizes::Fixed(number("rows_per_page")),
        },
    }
}

/// Builds the answer of the line; it borrows, so it is used inside.
pub fn with_answer<T>(line: &Object, use_it: impl FnOnce(&Answer<'_>) -> T) -> T {
    let (ids, keys) = (line.list("posts"), line.list("keys"));
    let bodies: Vec<String> = ids.iter().map(|id| format!("{{\"id\":\"{id}\"}}")).collect();
    let posts = ids.iter().zip(&bodies).enumerate().filter(|(_, (id, _))| !id.is_empty());
    let mut answer = Answer::new(posts.map(|(i, (id, body))| {
        let key = keys.get(i).filter(|key| !key.is_empty());
        Post { key: key.map(|key| key.parse().unwrap()), ..Post::new(id, body) }
    }))
    .opaque_rows(ids.iter().filter(|id| id.is_empty()).count() as u64)
    .fetched_at(line.number("at").unwrap_or(0));
    if line.contains_key("next") {
        answer = answer.next(picture::link(line.text("next")));
    }
    if let Some(total) = line.number("total") {
        answer = answer.total(total as u64);
    }
    if line.contains_key("since") {
        answer = answer.since(line.text("since"));
    }
    answer = answer.deleted(line.list("deleted"));
    if line.contains_key("previous") {
        answer = answer.previous(picture::link(line.text("previous")));
    }
    use_it(&answer)
}
