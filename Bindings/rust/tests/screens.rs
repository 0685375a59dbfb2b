//! What a screen needs: windows that keep their place, several feeds as one list, and a budget.
use quire::{
    Answer, Budget, Cache, CacheOptions, Error, Feed, FeedOptions, Limits, Link, Merge, MergedKind, Order,
    Place, Post, Row, Start, Status, Window,
};

#[path = "support/scratch.rs"]
mod scratch;
use scratch::{fill, status, Scratch};

/// Posts whose ids are their keys, in this order, as a page at the head.
fn page(feed: &Feed, keys: impl IntoIterator<Item = i64>, next: Link<'_>) -> Result<(), Error> {
    let posts: Vec<_> = keys.into_iter().map(|key| (key, key.to_string())).collect();
    let posts = posts.iter().map(|(key, id)| Post { key: Some(*key), ..Post::new(id, "") });
    let request = feed.plan(None, &Place::head())?;
    feed.ingest(None, request.ticket(), &Answer::new(posts).next(next)).map(drop)
}

fn ids(rows: &[Row<'_>]) -> String {
    let names = rows.iter().map(|row| row.post().map_or("~".into(), |post| post.id.to_string()));
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_window_keeps_its_place() -> Result<(), Error> {
    let scratch = Scratch::new("window");
    let cache = Cache::open(scratch.path())?;
    let options = FeedOptions { order: Order::Stable, ..FeedOptions::default() };
    let feed = cache.feed_with("f", &options)?;
    page(&feed, (1..=9).rev(), Link::token("next"))?;
    let mut window = Window::open(&cache.snapshot()?, &feed, Start::Post(b"5"), 1, 1)?.unwrap();
    {
        let snapshot = cache.snapshot()?;
        assert_eq!(ids(&window.rows(&snapshot, 0, usize::MAX)?), "6 5 4");
        assert_eq!(ids(&window.rows(&snapshot, 2, 9)?), "4");
        assert_eq!(window.rows(&snapshot, 3, 9)?.len(), 0);
        assert_eq!(window.nearest()?, [b"5", b"4", b"6"]);
        assert_eq!(window.update(&snapshot)?, Default::default());
    }

    page(&feed, [20, 19], Link::token("next"))?;
    let snapshot = cache.snapshot()?;
    assert_eq!(status(window.rows(&snapshot, 0, 9)), Status::Resync);
    assert_eq!(window.update(&snapshot)?, Default::default());
    let info = window.info()?;
    assert_eq!((info.rank, info.anchor, info.count, info.row_count), (6, 1, 3, 12));

    window.look(Some(0), 3, 0)?;
    let moved = window.update(&snapshot)?;
    assert_eq!((moved.removed, moved.inserted), (vec![1, 2], vec![0, 1, 2]));
    assert_eq!(ids(&window.rows(&snapshot, 0, 9)?), "9 8 7 6");
    window.look(None, 0, 1)?;
    window.update(&snapshot)?;
    assert!(window.info()?.is_following_head);
    assert_eq!(ids(&window.rows(&snapshot, 0, 9)?), "20 19");

    assert!(Window::open(&snapshot, &feed, Start::Post(b"absent"), 0, 0)?.is_none());
    let nearest = ["absent", "3"].map(|id| id.as_bytes().to_vec());
    let starts =
        [(Start::Rank(2), "~"), (Start::Key(8), "8"), (Start::Nearest(&nearest), "3"), (Start::Head, "20")];
    for (start, expected) in starts {
        let window = Window::open(&snapshot, &feed, start, 0, 0)?.unwrap();
        assert_eq!(ids(&window.rows(&snapshot, 0, 1)?), expected, "{start:?}");
    }
    Ok(())
}

#[test]
fn several_feeds_are_one_list() -> Result<(), Error> {
    let scratch = Scratch::new("merge");
    let cache = Cache::open(scratch.path())?;
    let options = FeedOptions { order: Order::Stable, ..FeedOptions::default() };
    let (upper, lower) = (cache.feed_with("upper", &options)?, cache.feed_with("lower", &options)?);
    page(&upper, [30, 28, 26], Link::token("next"))?;
    page(&lower, [29, 27, 20], Link::End)?;
    let snapshot = cache.snapshot()?;
    let mut merge = Merge::begin(&snapshot, &[&upper, &lower], None)?;
    let rows = merge.read()?;
    let posts: Vec<_> = rows.iter().filter_map(|row| Some((row.source, row.post()?.key?))).collect();
    assert_eq!(posts, [(0, 30), (1, 29), (0, 28), (1, 27), (0, 26)]);
    let MergedKind::Tail(border) = rows[5].kind else { panic!("{:?}", rows[5]) };
    assert_eq!((rows.len(), rows[5].source, border.link), (6, 0, Link::token("next")));
    assert_eq!(merge.read()?[0].post().unwrap().key, Some(20));
    assert!(merge.read()?.is_empty());
    let rest = Merge::begin(&snapshot, &[&upper, &lower], Some(27))?.read()?;
    assert_eq!(rest[0].post().unwrap().key, Some(27));
    assert_eq!(status(Merge::begin(&snapshot, &[&upper, &upper], None)), Status::BadArgument);
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
