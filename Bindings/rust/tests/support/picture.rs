//! What a feed looks like: the notation of conformance.json, and everything else a line can expect.
use super::json::{Object, Value};
use quire::{Border, Cache, Error, Feed, Link, PostRow, Row, Sizes, Snapshot};

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The word for a link, such as "?", "end", "<id".
pub fn word(link: Link<'_>) -> String {
    match link {
        Link::Unknown => "?".into(),
        Link::End => "end".into(),
        Link::ConfirmEnd => "confirm-end".into(),
        Link::Head => "head".into(),
        Link::More => "more".into(),
        Link::Token(token) => text(token),
        Link::Below(id) => format!("<{}", text(id)),
        Link::Above(id) => format!(">{}", text(id)),
        Link::Other(kind) => format!("kind {kind}"),
    }
}

pub fn link(word: &str) -> Link<'_> {
    match word {
        "?" => Link::Unknown,
        "end" => Link::End,
        "confirm-end" => Link::ConfirmEnd,
        "head" => Link::Head,
        "more" => Link::More,
        _ => match word.split_at(1) {
            ("<", id) => Link::Below(id.as_bytes()),
            (">", id) => Link::Above(id.as_bytes()),
            _ => Link::token(word),
        },
    }
}

fn border(border: Border<'_>) -> String {
    format!("{}{}", if border.is_overlapping { "@" } else { "" }, word(border.link))
}

/// One line such as "u1| [a +L] ~n2^u2~ [?x] |end".
pub fn show(snapshot: &Snapshot<'_>, feed: &Feed) -> Result<String, Error> {
    let info = snapshot.info(feed)?;
    let mut line = match info.head.link {
        Link::End => String::new(),
        _ => format!("{}| ", border(info.head)),
    };
    let mut segment: Vec<String> = Vec::new();
    for row in snapshot.rows(feed) {
        match row? {
            Row::Gap(gap) => {
                let up = match gap.up.link {
                    Link::Unknown => String::new(),
                    _ => format!("^{}", border(gap.up)),
                };
                line += &format!("[{}] ~{}{up}~ ", segment.join(" "), border(gap.down));
                segment.clear();
            }
            Row::Post(post) => {
                let detached = if post.is_detached { "+" } else { "" };
                let placeholder = if post.is_placeholder { "?" } else { "" };
                segment.push(format!("{detached}{placeholder}{}", post.id.to_string()));
            }
        }
    }
    Ok(format!("{line}[{}] |{}", segment.join(" "), border(info.tail)))
}

pub fn policy(sizes: Sizes) -> String {
    match sizes {
        Sizes::Unknown => "unknown".into(),
        Sizes::Free => "free".into(),
        Sizes::Fixed(rows) => format!("fixed {rows}"),
    }
}

/// What is in doubt: joins and why, those that were asked about, gaps, why and since when.
pub fn doubts(snapshot: &Snapshot<'_>, feed: &Feed, seen: &mut Object) -> Result<(), Error> {
    let rows = snapshot.rows(feed).collect::<Result<Vec<_>, _>>()?;
    let mut see = |name: &str, list: Vec<String>| drop(seen.insert(name.into(), Value::List(list)));
    let gaps = || rows.iter().filter_map(|row| if let Row::Gap(gap) = row { Some(gap) } else { None });
    see("why", gaps().map(|gap| gap.why.name().into()).collect());
    see("since", gaps().map(|gap| gap.since.to_string()).collect());
    let posts: Vec<_> = rows.iter().filter_map(|row| row.post()).filter(|post| !post.is_detached).collect();
    let joins = posts.windows(2).filter(|pair| pair[1].is_unverified);
    let name = |pair: &[PostRow<'_>]| format!("{} {}", pair[0].id, pair[1].id);
    see("unverified", joins.clone().map(name).collect());
    see("checked", joins.filter(|pair| pair[1].is_checked).map(name).collect());
    see("joins", posts.iter().filter_map(|post| Some(post.why?.name().into())).collect());
    Ok(())
}

/// Lines such as "0 own=head", for page 0 and every member.
pub fn pages(snapshot: &Snapshot<'_>, feed: &Feed) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    for page in snapshot.pages(feed, 0) {
        let page = page?;
        let posts = snapshot.page(feed, page.number).collect::<Result<Vec<_>, _>>()?;
        let ids: Vec<_> = posts.into_iter().filter_map(Row::post).map(|post| post.id.to_string()).collect();
        let members = [
            ("number", page.number.to_string()),
            ("rank", page.index.to_string()),
            ("own", word(page.own)),
            ("next", word(page.next)),
            ("prev", word(page.previous)),
            ("received", page.received.to_string()),
            ("added", page.added.to_string()),
            ("duplicates", page.duplicates.to_string()),
            ("duplicates_in_page", page.duplicates_in_page.to_string()),
            ("is_full", u8::from(page.is_full).to_string()),
            ("fetched_at", page.fetched_at.to_string()),
            ("ids", ids.join(" ")),
        ];
        lines.extend(members.map(|(name, value)| format!("{} {name}={value}", page.index)));
    }
    Ok(lines)
}

/// Lines "post count" and "post field=value" for every post of every feed.
pub fn posts(snapshot: &Snapshot<'_>, cache: &Cache, seen: &mut Object) -> Result<(), Error> {
    let (mut references, mut fields) = (Vec::new(), Vec::new());
    for name in cache.feed_names()? {
        let feed = cache.feed(&name)?;
        for row in snapshot.rows(&feed) {
            let Some(post) = row?.post() else { continue };
            let (id, info) = (post.id.to_string(), snapshot.post("", post.id.bytes())?.expect("info about a post"));
            references.push(format!("{id} {}", info.feeds));
            let named =
                info.fields.iter().map(|(name, value)| format!("{id} {}={}", text(name), text(value)));
            fields.extend(named);
        }
    }
    seen.insert("references".into(), Value::List(references));
    seen.insert("fields".into(), Value::List(fields));
    Ok(())
}

/// Reads the feed in every way there is; they must agree.
pub fn cross_check(snapshot: &Snapshot<'_>, feed: &Feed) -> Result<(), Error> {
    let name = |row: &Row<'_>| match row {
        Row::Post(post) => post.id.to_string(),
        Row::Gap(gap) => format!("~{}", gap.gap),
    };
    let names =
        |rows: quire::Rows<'_, '_>| rows.map(|row| row.map(|row| name(&row))).collect::<Result<Vec<_>, _>>();
    let down = names(snapshot.rows(feed))?;
    let mut up = names(snapshot.rows_upwards(feed))?;
    up.reverse();
    assert_eq!(down, up, "upwards");
    let gaps: Vec<_> = down.iter().filter(|name| name.starts_with('~')).cloned().collect();
    assert_eq!(gaps, names(snapshot.gaps(feed))?, "gaps");
    for (index, row) in snapshot.rows(feed).enumerate() {
        let row = row?;
        assert_eq!(names(snapshot.rows_after(feed, row.position()))?, down[index + 1..], "below a position");
        let Some(post) = row.post() else { continue };
        let found = snapshot.find(feed, post.id.bytes())?.and_then(Row::post).expect("a post is found");
        assert_eq!((found.id, found.body), (post.id, post.body), "find");
    }
    Ok(())
}
