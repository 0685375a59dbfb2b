//! A walk through the crate: a feed fills, a gap opens and closes, posts are read both ways.
//!
//!     cargo run --example walkthrough /tmp/walk.quire
//!
//! Prints the feed after each step; fails if it is not what the comments say.
use quire::{Answer, Ask, Cache, Error, Feed, Id, Link, Place, Post, Row};
use std::path::Path;

/// Asks at a place and lets a server answer with one-letter posts.
fn page(feed: &Feed, place: Place<'_>, letters: &str, next: &str) -> Result<(), Error> {
    let request = feed.plan(None, &place)?;
    if let Ask::Nothing(refusal) = request.ask() {
        panic!("refused: {}", refusal.name());
    }
    let posts: Vec<_> = letters.chars().map(|id| (id.to_string(), format!("body of {id}"))).collect();
    let answer = Answer::new(posts.iter().map(|(id, body)| Post::new(id, body))).next(Link::token(next));
    let outcome = feed.ingest(None, request.ticket(), &answer)?;
    println!("{:10} {} new", outcome.verdict().name(), outcome.added().len());
    Ok(())
}

/// Prints the feed as one line, such as "a b c ~ x y", and compares it. Returns the first gap's number.
fn show(cache: &Cache, feed: &Feed, expected: &str) -> Result<Option<u64>, Error> {
    let snapshot = cache.snapshot()?;
    let (mut words, mut first) = (Vec::new(), None);
    for row in snapshot.rows(feed) {
        match row? {
            Row::Post(post) => words.push(post.id.to_string()),
            Row::Gap(gap) => {
                words.push("~".into());
                first = first.or(Some(gap.gap));
            }
        }
    }
    println!("           {}", words.join(" "));
    assert_eq!(words.join(" "), expected);
    Ok(first)
}

fn walk(path: &Path) -> Result<(), Error> {
    let cache = Cache::open(path)?;
    let feed = cache.feed("timeline")?;

    page(&feed, Place::head(), "xyz", "page-2")?; // the first page
    show(&cache, &feed, "x y z")?;

    page(&feed, Place::head(), "abc", "page-2'")?; // much later: posts may be missing in between
    let gap = show(&cache, &feed, "a b c ~ x y z")?.expect("a gap");

    page(&feed, Place::gap(gap), "dex", "page-3")?; // ask below the gap until it closes
    show(&cache, &feed, "a b c d e x y z")?;
    assert_eq!(feed.contains(&["d", "q"])?, [true, false]);

    feed.evict(None, &["d"])?; // saves space, leaves a gap
    show(&cache, &feed, "a b c ~ e x y z")?;
    feed.delete(None, "b")?; // gone on the server: the neighbours close up
    show(&cache, &feed, "a c ~ e x y z")?;

    let archive = cache.feed("archive")?;
    let mut crawl = archive.crawl_from_head(1)?;
    cache.batch(|batch| -> Result<(), Error> {
        // Three pages of an old crawl in one commit.
        for number in 1..=3 {
            let ids = [100 - number * 2, 99 - number * 2].map(|id| id.to_string());
            crawl.ingest(Some(batch), None, &Answer::new(ids.iter().map(|id| Post::new(id, ""))))?;
        }
        Ok(())
    })?;
    show(&cache, &archive, "98 97 96 95 94 93")?;

    let snapshot = cache.snapshot()?;
    let upwards = snapshot.rows_upwards(&archive).collect::<Result<Vec<_>, _>>()?;
    assert_eq!(upwards[0].post().map(|post| post.id), Some(Id::Number(93)));
    let found = snapshot.find(&feed, "e")?.and_then(Row::post).expect("e is cached");
    assert_eq!(found.body, b"body of e");

    let findings = cache.check(0)?;
    println!("{} findings", findings.len());
    assert!(findings.is_empty());
    Ok(())
}

fn main() -> Result<(), Error> {
    let path = std::env::args_os().nth(1).expect("usage: walkthrough FILE");
    walk(Path::new(&path))
}

#[test]
fn walkthrough() {
    let directory = std::env::temp_dir().join(format!("quire-walk-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    walk(&directory.join("walk.quire")).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}
