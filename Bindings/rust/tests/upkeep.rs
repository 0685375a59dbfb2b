//! Checks, limits, and work on files that no process has open.
use quire::{Cache, CacheOptions, CheckLevel, Error, Finding, PrunePolicy, Row, Status};
use std::ops::ControlFlow;

#[path = "support/scratch.rs"]
mod scratch;
use scratch::{fill, status, Scratch};

#[test]
fn upkeep() -> Result<(), Error> {
    let scratch = Scratch::new("upkeep");
    let cache = Cache::open(scratch.path())?;
    let feed = cache.feed("f")?;
    fill(&feed, None, 100, 8)?;
    let copy = scratch.0.join("copy.quire");
    cache.copy_to(&copy)?;
    assert_eq!(status(cache.copy_to(&copy)), Status::BadArgument);
    let twin = Cache::open(&copy)?;
    assert_eq!(twin.snapshot()?.info(&twin.feed("f")?)?.posts, 100);
    let mut policy = PrunePolicy { maximum_posts: Some(0), dry_run: true, ..PrunePolicy::default() };
    assert_eq!(feed.prune(None, &policy)?.posts, 100);
    policy.dry_run = false;
    assert!(feed.prune(None, &policy)?.is_done);
    assert_eq!(cache.snapshot()?.info(&feed)?.posts, 0);
    while cache.reclaim(0)? != 0 {}
    assert_eq!(cache.check(0)?, []);
    Ok(())
}

#[test]
fn a_snapshot_that_is_too_old_and_a_write_that_waits_too_long() -> Result<(), Error> {
    let scratch = Scratch::new("limits");
    let options = CacheOptions { write_timeout_ms: 10, maximum_snapshot_age: 1, ..CacheOptions::default() };
    let cache = Cache::open_with(scratch.path(), &options)?;
    let feed = cache.feed("f")?;
    fill(&feed, None, 2, 8)?;
    let old = cache.snapshot()?;
    let row = old.find(&feed, "0")?.and_then(Row::post).unwrap();
    feed.delete(None, "0")?;
    assert!(old.find(&feed, "1")?.is_some());
    feed.delete(None, "1")?;
    assert_eq!(status(old.find(&feed, "1")), Status::SnapshotExpired);
    assert_eq!(row.body, b"0........");
    assert!(cache.snapshot()?.find(&feed, "1")?.is_none());
    cache.batch(|_| {
        let other = std::thread::scope(|scope| scope.spawn(|| feed.reset(None)).join().unwrap());
        assert_eq!(status(other), Status::Busy);
        Ok(())
    })?;
    feed.reset(None)
}

/// What a search tells until its end; it can be broken off.
fn told(
    mut search: impl FnMut(&mut dyn FnMut(f64) -> ControlFlow<()>) -> Result<Option<Vec<Finding>>, Error>,
) -> Result<(), Error> {
    let mut seen = Vec::new();
    let mut hear = |done| {
        seen.push(done);
        ControlFlow::Continue(())
    };
    assert_eq!(search(&mut hear)?, Some(vec![]));
    assert!(!seen.is_empty() && seen.windows(2).all(|pair| pair[0] <= pair[1] && pair[1] <= 1.0));
    assert_eq!(search(&mut |_| ControlFlow::Break(()))?, None);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| search(&mut |_| panic!("enough"))));
    assert_eq!(*panic.unwrap_err().downcast::<&str>().unwrap(), "enough");
    Ok(())
}

#[test]
fn searches_tell_how_far_they_are() -> Result<(), Error> {
    let scratch = Scratch::new("searches");
    let options = CacheOptions { verifies_on_open: true, ..CacheOptions::default() };
    let cache = Cache::open_with(scratch.path(), &options)?;
    fill(&cache.feed("f")?, None, 100, 8)?;
    for level in [CheckLevel::Full, CheckLevel::Quick] {
        told(|progress| cache.check_with(level, 0, progress))?;
    }
    drop(cache);
    told(|progress| Cache::verify_with(scratch.path(), 0, progress))?;
    assert_eq!(Cache::open_with(scratch.path(), &options)?.check(0)?, []);
    let mut bytes = std::fs::read(scratch.path()).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(scratch.path(), &bytes).unwrap();
    assert_eq!(status(Cache::open_with(scratch.path(), &options).map(drop)), Status::Corrupt);
    assert_eq!(Cache::verify(scratch.path(), 1)?.len(), 1);
    Ok(())
}

#[test]
fn reading_only_writes_nothing() -> Result<(), Error> {
    let scratch = Scratch::new("read-only");
    let options = CacheOptions { is_read_only: true, ..CacheOptions::default() };
    assert_eq!(status(Cache::open_with(scratch.path(), &options).map(drop)), Status::Io);
    fill(&Cache::open(scratch.path())?.feed("f")?, None, 100, 8)?;
    let cache = Cache::open_with(scratch.path(), &options)?;
    let feed = cache.find_feed("f")?.unwrap();
    assert_eq!(cache.snapshot()?.rows(&feed).count(), 100);
    assert_eq!(status(feed.delete(None, "1")), Status::NoPermission);
    assert_eq!(status(Cache::open(scratch.path()).map(drop)), Status::Busy);
    drop((feed, cache));
    Cache::open(scratch.path())?.find_feed("f")?.unwrap().delete(None, "1")
}

#[test]
fn files_that_no_process_has_open() -> Result<(), Error> {
    let scratch = Scratch::new("files");
    fill(&Cache::open(scratch.path())?.feed("f")?, None, 100, 8)?;
    assert_eq!(Cache::verify(scratch.path(), 0)?, []);
    assert!(Cache::compact(scratch.path())? > 0);
    assert_eq!(Cache::compact_with(scratch.path(), &mut |_| ControlFlow::Break(()))?, None);
    let report = Cache::repair(scratch.path(), false)?;
    assert!(report.is_sound && report.kept_file.is_none());
    let mut bytes = std::fs::read(scratch.path()).unwrap();
    let cut = bytes.len() / 2;
    bytes.truncate(cut);
    std::fs::write(scratch.path(), &bytes).unwrap();
    assert_ne!(Cache::verify(scratch.path(), 0)?, []);
    assert_eq!(status(Cache::compact(scratch.path())), Status::Corrupt);
    assert_eq!(Cache::repair_with(scratch.path(), false, &mut |_| ControlFlow::Break(()))?, None);
    assert_eq!(Cache::repair(scratch.path(), true)?.kept_file, None);
    let report = Cache::repair(scratch.path(), false)?;
    assert!(!report.is_sound);
    assert_eq!(std::fs::read(report.kept_file.unwrap()).unwrap(), bytes);
    assert_eq!(Cache::verify(scratch.path(), 0)?, []);
    assert_eq!(Cache::open(scratch.path())?.check(0)?, []);
    Ok(())
}
