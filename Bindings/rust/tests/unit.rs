//! What the crate adds to the C API: ownership, iterators, errors, batches as closures.
use quire::{
    Answer, Ask, Cache, CacheOptions, ChangeKind, Doubt, Error, Feed, FeedOptions, Help, Id, Link, Order,
    Paging, Place, Post, Refusal, Row, RowName, Sizes, Status, Update, Verdict,
};
use std::time::Duration;

#[path = "support/scratch.rs"]
mod scratch;
use scratch::{fill, status, Scratch};

#[test]
fn rows_by_the_screenful() -> Result<(), Error> {
    let scratch = Scratch::new("rows");
    let cache = Cache::open(scratch.path())?;
    for count in [0, 1, 63, 64, 65, 128, 200] {
        let feed = cache.feed(&format!("feed {count}"))?;
        if count > 0 {
            fill(&feed, None, count, 8)?;
        }
        let snapshot = cache.snapshot()?;
        // Rows may be kept: they borrow from the snapshot alone, not from the feed.
        let rows = {
            let again = cache.feed(&format!("feed {count}"))?;
            snapshot.rows(&again).collect::<Result<Vec<_>, _>>()?
        };
        assert_eq!(rows.len(), count);
        for (i, row) in rows.iter().enumerate() {
            let post = row.post().unwrap();
            assert_eq!(post.id, Id::Number(i as u64));
            assert_eq!((post.page, post.key), (Some(1), None));
        }
        assert_eq!(snapshot.rows_upwards(&feed).count(), count);
        assert_eq!(snapshot.page(&feed, 1).count(), count);
        assert_eq!(snapshot.info(&feed)?.posts, count as u64);
        if let Some(last) = rows.last() {
            assert_eq!(snapshot.rows_after(&feed, rows[0].position()).count(), count - 1);
            assert_eq!(snapshot.rows_before(&feed, last.position()).count(), count - 1);
        }
    }
    assert_eq!(cache.feed_names()?.len(), 7);
    Ok(())
}

#[test]
fn ranks_are_those_of_a_walk() -> Result<(), Error> {
    let scratch = Scratch::new("ranks");
    let cache = Cache::open(scratch.path())?;
    let options = FeedOptions { order: Order::Stable, ..FeedOptions::default() };
    let (feed, keyless) = (cache.feed_with("f", &options)?, cache.feed("keyless")?);
    for keys in [1..=100, 201..=300] {
        let request = feed.plan(None, &Place::head())?;
        let posts: Vec<_> = keys.rev().map(|key: i64| (key, key.to_string())).collect();
        let posts = posts.iter().map(|(key, id)| Post { key: Some(*key), ..Post::new(id, "") });
        feed.ingest(None, request.ticket(), &Answer::new(posts).next(Link::token("next")))?;
    }
    let snapshot = cache.snapshot()?;
    let rows = snapshot.rows(&feed).collect::<Result<Vec<_>, _>>()?;
    assert!(rows.len() == 201 && rows[100].post().is_none());
    assert_eq!(snapshot.row_count(&feed)?, 201);
    for (rank, row) in rows.iter().enumerate() {
        assert_eq!(snapshot.rank_of_row(&feed, row.position())?, rank as u64);
        let below = snapshot.rows_from_rank(&feed, rank as u64).collect::<Result<Vec<_>, _>>()?;
        assert!(below.iter().map(Row::position).eq(rows[rank..].iter().map(Row::position)));
        if let Row::Post(post) = row {
            assert_eq!(snapshot.rank_of_post(&feed, post.id.bytes())?, Some(rank as u64));
            assert_eq!(snapshot.rank_of_key(&feed, post.key.unwrap())?, rank as u64);
        }
    }
    assert_eq!((snapshot.rank_of_key(&feed, 150)?, snapshot.rank_of_key(&feed, 0)?), (101, 201));
    for rank in [201, u64::MAX] {
        assert_eq!(snapshot.rows_from_rank(&feed, rank).count(), 0);
    }
    assert_eq!(snapshot.rank_of_post(&feed, "absent")?, None);
    assert_eq!(snapshot.rank_of_key(&keyless, 1).unwrap_err().status, Status::BadArgument);
    Ok(())
}

#[test]
fn errors_and_values() -> Result<(), Error> {
    let scratch = Scratch::new("errors");
    assert_ne!(status(Cache::open("/does/not/exist/x")), Status::Ok);
    assert_eq!(status(Cache::open("a\0b")), Status::BadArgument);
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    let error = cache.feed("").err().expect("a feed has a name");
    assert_eq!(error.status, Status::BadArgument);
    assert!(!error.to_string().is_empty());
    let ranked = FeedOptions { order: Order::Ranked, ..FeedOptions::default() };
    assert_eq!(status(cache.feed_with("f", &ranked)), Status::OptionsDiffer);
    assert_eq!(status(feed.evict_page(7)), Status::NotFound);

    assert!(cache.find_feed("g")?.is_none() && cache.find_feed("f")?.is_some());
    assert!(!feed.pin(None, "x")? && !feed.unpin(None, "x")? && !feed.remove_local(None, "x")?);
    assert!(feed.insert_local(None, "x", "body")? && !feed.insert_local(None, "x", "body")?);
    assert!(feed.pin(None, "x")? && feed.unpin(None, "x")?);
    let snapshot = cache.snapshot()?;
    assert!(snapshot.find(&feed, "y")?.is_none() && snapshot.post("", "y")?.is_none());
    assert_eq!(cache.update_fields(None, "", "x", &[("likes", "1")], 1)?, Update::Changed);
    assert_eq!(cache.update_body(None, "", "y", "b", None, None)?, Update::Missing);
    let fields = cache.snapshot()?.post("", "x")?.unwrap().fields.len();
    assert_eq!(fields, 1);

    let theirs = FeedOptions { collection: "other".into(), ..FeedOptions::default() };
    let other = cache.feed_with("other", &theirs)?;
    assert!(other.insert_local(None, "x", "theirs")?);
    assert_eq!(cache.snapshot()?.post("other", "x")?.unwrap().body, b"theirs");
    assert_eq!(cache.snapshot()?.post("", "x")?.unwrap().body, b"body");
    other.rename(None, "third")?;
    other.reset(None)?;
    other.set_options(&FeedOptions::default())?.remove(None)?;
    assert!(cache.find_feed("other")?.is_none() && cache.find_feed("third")?.is_none());

    let empty = cache.feed("empty")?.plan(None, &Place::gap(9))?;
    assert!(matches!(empty.ask(), Ask::Nothing(Refusal::NoSuchGap | Refusal::Empty)));
    Ok(())
}

#[test]
fn attributes() -> Result<(), Error> {
    let scratch = Scratch::new("attributes");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    feed.set_attribute(None, "etag", Some(b"v\0\x01"))?;
    feed.set_attribute(None, "empty", Some(b""))?;
    feed.reset(None)?;
    let snapshot = cache.snapshot()?;
    feed.set_attribute(None, "etag", None)?;
    assert_eq!(snapshot.attribute(&feed, "etag")?, Some(&b"v\0\x01"[..]));
    assert_eq!(snapshot.attribute(&feed, "empty")?, Some(&b""[..]));
    assert_eq!(cache.snapshot()?.attribute(&feed, "etag")?, None);
    assert_eq!(status(feed.set_attribute(None, "", Some(b"x"))), Status::BadArgument);
    Ok(())
}

#[test]
fn requests_and_outcomes_own_their_texts() -> Result<(), Error> {
    let scratch = Scratch::new("outcomes");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    fill(&feed, None, 3, 8)?;
    let request = feed.plan(None, &Place::tail())?;
    let outcome = std::thread::scope(|scope| {
        let answer = Answer::new([Post::new("2", "again"), Post::new("7", "new")]).next(Link::End);
        let feed = &feed;
        scope.spawn(move || feed.ingest(None, request.ticket(), &answer)).join().unwrap()
    })?;
    drop(feed);
    drop(cache);
    assert_eq!(outcome.added().iter().collect::<Vec<_>>(), [b"7"]);
    assert_eq!(outcome.duplicates().len(), 1);
    assert_eq!((outcome.verdict(), outcome.verdict().name()), (Verdict::Ok, "ok"));
    Ok(())
}

#[test]
fn batches() -> Result<(), Error> {
    let scratch = Scratch::new("batches");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    let before = cache.generation()?;
    let left = cache.batch(|batch| -> Result<u64, Error> {
        fill(&feed, Some(batch), 10, 8)?;
        feed.evict(Some(batch), &["3"])
    })?;
    assert_eq!((left, cache.generation()?), (1, before + 1));

    #[derive(Debug, PartialEq)]
    struct Trouble(&'static str);
    impl From<Error> for Trouble {
        fn from(_: Error) -> Self {
            Trouble("quire")
        }
    }
    let undone = cache.batch(|batch| -> Result<(), Trouble> {
        feed.reset(Some(batch))?;
        Err(Trouble("mine"))
    });
    assert_eq!(undone, Err(Trouble("mine")));
    assert_eq!(feed.contains(&["0", "3"])?, [true, false]);

    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cache.batch(|batch| -> Result<(), Error> {
            feed.reset(Some(batch))?;
            panic!("a panic undoes the batch")
        })
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"a panic undoes the batch"));
    assert!(feed.contains(&["0"])?[0]);

    // A write beside its own batch, and what becomes of a batch whose failure is ignored.
    let deadlock = cache.batch(|_| feed.reset(None));
    assert_eq!(status(deadlock), Status::WouldDeadlock);
    let nested = cache.batch(|_| cache.batch(|_| Ok::<(), Error>(())));
    assert_eq!(status(nested), Status::WouldDeadlock);
    Ok(())
}

#[test]
fn a_batch_that_outgrows_the_file_runs_again() -> Result<(), Error> {
    let scratch = Scratch::new("growth");
    let options = CacheOptions { is_durable: false, map_size: 1 << 20, ..CacheOptions::default() };
    let cache = Cache::open_with(scratch.path(), &options)?;
    let feed = cache.feed("f")?;
    let mut calls = 0;
    cache.batch(|batch| {
        calls += 1;
        fill(&feed, Some(batch), 64, 1 << 16)
    })?;
    assert!(calls > 1);
    assert_eq!(cache.snapshot()?.info(&feed)?.posts, 64);
    assert_eq!(cache.check(0)?, []);
    Ok(())
}

#[test]
fn crawls() -> Result<(), Error> {
    let scratch = Scratch::new("crawls");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    let mut crawl = feed.crawl_from_head(1)?;
    cache.batch(|batch| -> Result<(), Error> {
        for page in 0..70 {
            let id = (1000 - page).to_string();
            crawl.ingest(Some(batch), None, &Answer::new([Post::new(&id, "")]))?;
        }
        Ok(())
    })?;
    std::thread::scope(|scope| {
        scope
            .spawn(|| crawl.ingest(None, Some(72), &Answer::new([Post::new("7", "")])).map(drop))
            .join()
            .unwrap()
    })?;
    let snapshot = cache.snapshot()?;
    let pages = snapshot.pages(&feed, 0).collect::<Result<Vec<_>, _>>()?;
    assert_eq!((pages.len(), pages[70].index), (71, 70));
    assert_eq!(snapshot.pages(&feed, 70).count(), 1);
    assert!(matches!(snapshot.gaps(&feed).next(), Some(Ok(Row::Gap(_)))));
    Ok(())
}

#[test]
fn changes_and_waiting() -> Result<(), Error> {
    let scratch = Scratch::new("changes");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    fill(&feed, None, 2, 8)?;
    let seen = cache.snapshot()?.generation()?;
    assert_eq!(cache.wait(seen, Duration::from_millis(1))?, seen);
    let now = std::thread::scope(|scope| {
        scope.spawn(|| feed.delete(None, "0"));
        cache.wait(seen, Duration::from_secs(10))
    })?;
    assert!(now > seen);
    let snapshot = cache.snapshot()?;
    let changes: Vec<_> = snapshot.changes_since(seen)?.unwrap().collect();
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].kind, changes[0].row), (ChangeKind::Removed, RowName::Post(b"0")));
    assert_eq!(changes[0].feed, snapshot.info(&feed)?.number);
    assert_eq!(cache.stats()?.posts, 1);
    Ok(())
}

#[test]
fn a_snapshot_sees_no_later_write_and_may_move() -> Result<(), Error> {
    let scratch = Scratch::new("snapshot");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    fill(&feed, None, 3, 8)?;
    let snapshot = cache.snapshot()?;
    feed.reset(None)?;
    let feed = &feed;
    let body = std::thread::scope(|scope| {
        scope
            .spawn(move || -> Result<Vec<u8>, Error> {
                Ok(snapshot.find(feed, "1")?.and_then(Row::post).unwrap().body.to_vec())
            })
            .join()
            .unwrap()
    })?;
    assert_eq!(body, b"1........");
    Ok(())
}

#[test]
fn bodies_by_id() -> Result<(), Error> {
    let scratch = Scratch::new("bodies");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed_with("f", &FeedOptions { paging: Paging::Ids, ..FeedOptions::default() })?;
    let refused = feed.plan(None, &Place::bodies(&["a"]))?;
    assert!(matches!(refused.ask(), Ask::Nothing(Refusal::Empty)));
    let list = feed.plan(None, &Place::head())?;
    feed.ingest(None, list.ticket(), &Answer::new(["a", "b", "c", "d"].map(|id| Post::new(id, ""))))?;
    let wanted = ["d", "x", "b", "d"].map(String::from);
    let request = feed.plan(None, &Place::bodies(&wanted).clone())?;
    let Ask::Bodies(ids) = request.ask() else { panic!("not bodies") };
    assert_eq!(ids.iter().collect::<Vec<_>>(), [b"d", b"b"]);
    feed.ingest(None, request.ticket(), &Answer::new([Post::new("b", "B"), Post::new("d", "D")]))?;
    let refused = feed.plan(None, &Place::bodies(&wanted))?;
    assert!(matches!(refused.ask(), Ask::Nothing(Refusal::End)));
    Ok(())
}

#[test]
fn detail() -> Result<(), Error> {
    let scratch = Scratch::new("detail");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    let versions = [(1, None), (2, Some(64)), (2, None)];
    for (version, detail) in versions {
        let post = Post { version: Some(version), detail, ..Post::new("a", "A") };
        feed.ingest(None, feed.plan(None, &Place::head())?.ticket(), &Answer::new([post]))?;
        let snapshot = cache.snapshot()?;
        let row = snapshot.find(&feed, "a")?.unwrap();
        assert_eq!(
            (row.post().unwrap().is_outdated, row.post().unwrap().is_partial),
            (detail.is_some(), false)
        );
    }
    let post = Post { detail: Some(64), ..Post::new("b", "B") };
    feed.ingest(None, feed.plan(None, &Place::head())?.ticket(), &Answer::new([post]))?;
    assert!(cache.snapshot()?.find(&feed, "b")?.unwrap().post().unwrap().is_partial);
    Ok(())
}

#[test]
fn sizes_joins_and_pushes() -> Result<(), Error> {
    let scratch = Scratch::new("sizes");
    let cache = Cache::open(scratch.path())?;
    let options = FeedOptions { paging: Paging::Page, sizes: Sizes::Fixed(2), ..FeedOptions::default() };
    let feed = cache.feed_with("f", &options)?;
    let request = feed.plan(None, &Place::head().limit(50))?;
    assert!(matches!(request.ask(), Ask::Page { number: 1, limit: 0 }));
    let page = Answer::new(["b", "a"].map(|id| Post::new(id, ""))).total(2);
    feed.ingest(None, request.ticket(), &page)?;
    let refused = feed.plan(None, &Place::join("a"))?;
    assert!(matches!(refused.ask(), Ask::Nothing(Refusal::NoSuchJoin)));
    assert_eq!(refused.help(), Some(Help::LookAgain));

    let message = |id| Answer::new([Post::new(id, "")]);
    feed.begin_live(None, Some(7))?;
    let repeated = feed.push(None, &message("c"), Some(7), None)?;
    assert_eq!((repeated.reason(), repeated.help()), ("repeated", Some(Help::PlanAgain)));
    assert_eq!(feed.push(None, &message("d"), Some(9), None)?.gaps_opened(), 1);
    assert_eq!(feed.push(None, &message("e"), None, Some(b"d"))?.gaps_opened(), 0);
    feed.end_live(None)?;
    let snapshot = cache.snapshot()?;
    let info = snapshot.info(&feed)?;
    assert_eq!((&info.options, info.sizes, info.rows_per_page), (&options, Sizes::Fixed(2), Some(2)));
    assert_eq!(info.tail.link, Link::End, "the total was reached");
    for row in snapshot.gaps(&feed) {
        assert!(matches!(row?, Row::Gap(gap) if gap.why == Doubt::Missed && gap.since > 0));
    }
    Ok(())
}

#[test]
fn types_are_shared_as_the_thread_tags_allow() {
    fn any<T: Send + Sync>() {}
    fn one<T: Send>() {}
    any::<Cache>();
    any::<Feed>();
    any::<Answer<'_>>();
    any::<Row<'_>>();
    one::<quire::Snapshot<'_>>();
    one::<quire::Crawl>();
    one::<quire::Outcome>();
    one::<quire::Request>();
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
