//! What a screen needs: windows, merged lists and views, compared with the rows of their feeds; and a budget.
use quire::{
    Answer, Budget, Cache, CacheOptions, Error, Feed, FeedOptions, Limits, Link, MergedRow, Order, Place, Post,
    Row, Start, Status, ViewEntry, ViewOrder,
};

#[path = "support/scratch.rs"]
mod scratch;
use scratch::{fill, status, Scratch};

fn page(feed: &Feed, keys: impl Iterator<Item = i64>, next: Link<'_>) -> Result<(), Error> {
    let names: Vec<_> = keys.map(|key| (key.to_string(), key)).collect();
    let posts = names.iter().map(|(name, key)| Post { key: Some(*key), ..Post::new(name, name) });
    let request = feed.plan(None, &Place::head())?;
    feed.ingest(None, request.ticket(), &Answer::new(posts).next(next))?;
    Ok(())
}

fn names(rows: &[Row<'_>]) -> String {
    let names: Vec<_> = rows
        .iter()
        .map(|row| row.post().map_or("~".into(), |post| String::from_utf8_lossy(post.body).into_owned()))
        .collect();
    names.join(" ")
}

fn stable(cache: &Cache, name: &str) -> Result<Feed, Error> {
    let options = FeedOptions { order: Order::Stable, collection: name.into(), ..FeedOptions::default() };
    cache.feed_with(name, &options)
}

#[test]
fn a_window_follows_by_differences_alone() -> Result<(), Error> {
    let scratch = Scratch::new("windows");
    let cache = Cache::open(scratch.path())?;
    let feed = stable(&cache, "f")?;
    page(&feed, (1..=100).rev(), Link::End)?;
    let snapshot = cache.snapshot()?;
    let mut window = snapshot.window(&feed, Start::Key(50), 2, 3)?;
    let mut list: Vec<_> = names(&window.rows(&snapshot, 0)?).split(' ').map(str::to_string).collect();
    assert_eq!(list.join(" "), "52 51 50 49 48 47");
    let saved = window.nearest()?;
    assert_eq!(saved[0], b"50");
    drop(snapshot);
    page(&feed, (261..=300).rev(), Link::token("next"))?;
    feed.delete(None, "50")?;
    let snapshot = cache.snapshot()?;
    assert_eq!(status(window.rows(&snapshot, 0)), Status::Resync);
    let difference = window.update(&snapshot)?;
    let rows = window.rows(&snapshot, 0)?;
    for at in difference.removed.iter().rev() {
        list.remove(*at);
    }
    for at in &difference.inserted {
        list.insert(*at, names(&rows[*at..=*at]));
    }
    assert_eq!(list.join(" "), "52 51 49 48 47 46");
    assert_eq!(names(&rows), list.join(" "));
    assert_eq!(window.info()?.rank, 48 + 41);
    window.look(None, 0, 1)?;
    window.update(&snapshot)?;
    assert_eq!(names(&window.rows(&snapshot, 0)?), "300 299");
    let opened = snapshot.window(&feed, Start::Nearest(&saved), 0, 0)?;
    assert_eq!(names(&opened.rows(&snapshot, 0)?), "49");
    let opened = snapshot.window(&feed, Start::Rank(40), 1, 1)?;
    assert_eq!(names(&opened.rows(&snapshot, 0)?), "261 ~ 100");
    assert_eq!(status(snapshot.window(&feed, Start::Post(b"absent"), 1, 1)), Status::NotFound);
    assert_eq!(names(&snapshot.window(&feed, Start::Head, 1, 0)?.rows(&snapshot, 0)?), "300");
    Ok(())
}

#[test]
fn feeds_are_merged_down_to_frontiers() -> Result<(), Error> {
    let scratch = Scratch::new("merges");
    let cache = Cache::open(scratch.path())?;
    let (a, b) = (stable(&cache, "a")?, stable(&cache, "b")?);
    page(&a, (7..=9).rev(), Link::End)?;
    page(&b, 8..=8, Link::token("more"))?;
    let keyless = cache.feed("keyless")?;
    fill(&keyless, None, 2, 8)?;
    let snapshot = cache.snapshot()?;
    assert_eq!(status(snapshot.merge(&[&keyless], None)), Status::BadArgument);
    let mut merge = snapshot.merge(&[&a, &b], None)?;
    let mut list = Vec::new();
    for _ in 0..3 {
        list.extend(merge.read(10)?.iter().map(|row| match row {
            MergedRow::Post(post, source) => format!("{source}:{}", String::from_utf8_lossy(post.body)),
            MergedRow::Tail(_, source) => format!("{source}|"),
            other => format!("{other:?}"),
        }));
    }
    assert_eq!(list.join(" "), "0:9 0:8 1:8 1| 0:7");
    assert!(matches!(snapshot.merge(&[&b, &a], Some(8))?.read(1)?[0], MergedRow::Post(_, 0)));
    assert_eq!(status(snapshot.merge(&[&a, &a], None)), Status::BadArgument);
    Ok(())
}

#[test]
fn a_view_shows_the_gaps_of_its_feed() -> Result<(), Error> {
    let scratch = Scratch::new("views");
    let cache = Cache::open(scratch.path())?;
    let feed = stable(&cache, "f")?;
    page(&feed, (1..=100).rev(), Link::End)?;
    let even = |post: quire::PostRow<'_>| {
        let key = post.key.unwrap();
        assert!(key != 2, "a panic hides the post");
        let entry = ViewEntry { section: post.body[..1].to_vec(), key: post.body.to_vec() };
        (key % 2 == 0).then_some(entry)
    };
    let view = feed.view("even", ViewOrder::Feed, 1, even)?;
    drop(feed.view("keys", ViewOrder::Keys, 7, even)?);
    page(&feed, (305..=310).rev(), Link::token("next"))?;
    let snapshot = cache.snapshot()?;
    let rows = view.rows(&snapshot, None, 6)?;
    assert_eq!(names(&rows), "310 308 306 ~ 100 98");
    assert_eq!(names(&view.rows(&snapshot, Some(rows[2].position()), 2)?), "~ 100");
    assert_eq!(names(&view.rows_from_rank(&snapshot, 3, 1)?), "100");
    let info = view.info(&snapshot)?;
    assert!(info.is_current && !info.is_complete && info.posts == 3 + 49);
    let keys = feed.find_view("keys")?.unwrap();
    assert_eq!(keys.info(&snapshot)?.version, 7);
    assert_eq!(names(&keys.rows(&snapshot, None, 3)?), "10 100 12");
    let sections = keys.sections(&snapshot, 0, 99)?;
    assert_eq!((sections[1].name, sections[1].rank), (b"2".as_slice(), sections[0].posts));
    assert_eq!(view.place(&snapshot, "306")?.unwrap().rank, 2);
    assert_eq!(view.place(&snapshot, "305")?, None);
    assert!(feed.remove_view("keys")? && !feed.remove_view("keys")? && feed.find_view("keys")?.is_none());
    assert_eq!(cache.check(0)?, []);
    Ok(())
}

#[test]
fn a_budget_takes_the_feed_used_least() -> Result<(), Error> {
    let scratch = Scratch::new("budget");
    let budget = Budget { cache: Limits { posts: 150, ..Limits::default() }, ..Budget::default() };
    let options = CacheOptions { budget: Some(budget), ..CacheOptions::default() };
    let cache = Cache::open_with(scratch.path(), &options)?;
    let other = FeedOptions { collection: "other".into(), ..FeedOptions::default() };
    let (first, second) = (cache.feed("first")?, cache.feed_with("second", &other)?);
    fill(&first, None, 100, 8)?;
    first.set_visible(&["7"])?;
    fill(&second, None, 100, 8)?;
    assert_eq!(cache.evictions()?.posts, 0);
    first.set_visible::<&str>(&[])?;
    second.insert_local(None, "x", "body")?;
    assert_eq!((cache.evictions()?.posts_by_cache, cache.stats()?.posts), (100, 101));
    Ok(())
}
