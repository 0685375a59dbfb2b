//! The cache: one file.
use crate::batch::{self, Batch};
use crate::bytes::{slice, to_c, view, IdArray};
use crate::files::{collect, tell_search, Search};
use crate::{sys, Alias, CacheOptions, Error, Feed, FeedOptions, Snapshot, Status, Update};
use std::ffi::CString;
use std::ops::ControlFlow;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::time::Duration;

/// An open cache. Any number of threads may use it at once.
pub struct Cache {
    c: *mut sys::quire_cache,
}

// SAFETY: every function that takes a quire_cache is [any].
unsafe impl Send for Cache {}
// SAFETY: as above.
unsafe impl Sync for Cache {}

/// Totals of a cache and of its file; see `quire_statistics`.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    pub feeds: u64,
    pub posts: u64,
    pub pages: u64,
    pub gaps: u64,
    pub body_bytes: u64,
    pub dead_body_bytes: u64,
    pub generation: u64,
    pub used_bytes: u64,
    pub free_bytes: u64,
    pub snapshots: u64,
    pub oldest_snapshot_age: u64,
    pub oldest_snapshot_process: i64,
    pub pinned_bytes: u64,
}

/// What budgets have taken from a cache in the life of its file; see `quire_evictions`.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evictions {
    pub pages: u64,
    pub posts: u64,
    pub body_bytes: u64,
    pub posts_by_age: u64,
    pub posts_by_feed: u64,
    pub posts_by_collection: u64,
    pub posts_by_cache: u64,
    pub posts_by_file: u64,
    pub hits: u64,
    pub misses: u64,
}

/// How much [`Cache::check_with`] tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckLevel {
    /// Every record and every invariant.
    Full,
    /// Only the records of the cache and of its feeds; see `QUIRE_CHECK_QUICK`.
    Quick,
}

/// One thing that [`Cache::check`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of damage, such as "checksum".
    pub name: &'static str,
    /// Where: a feed, a post, a table.
    pub location: String,
    /// What is wrong there.
    pub message: String,
}

pub(crate) fn c_path(path: &Path) -> Result<CString, Error> {
    let text = path.to_str().ok_or_else(|| Error::new(Status::BadArgument, "the path is not UTF-8"))?;
    CString::new(text).map_err(|_| Error::new(Status::BadArgument, "the path holds a NUL byte"))
}

impl Cache {
    /// Opens the cache at a path, creating it if there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Cache, Error> {
        Cache::open_with(path, &CacheOptions::default())
    }

    /// The same with options.
    pub fn open_with(path: impl AsRef<Path>, options: &CacheOptions) -> Result<Cache, Error> {
        let path = c_path(path.as_ref())?;
        let mut cache = null_mut();
        // SAFETY: the arguments live until the call returns; so does every argument in this file.
        Error::check(unsafe {
            match &options.budget {
                Some(budget) => {
                    sys::quire_open_with_budget(path.as_ptr(), &options.c(), &budget.c(), &mut cache)
                }
                None => sys::quire_open(path.as_ptr(), &options.c(), &mut cache),
            }
        })?;
        Ok(Cache { c: cache })
    }

    pub(crate) fn c(&self) -> *mut sys::quire_cache {
        self.c
    }

    /// The feed with this name. It is created with the defaults if there is none.
    pub fn feed(&self, name: &str) -> Result<Feed, Error> {
        self.open_feed(name, null())
    }

    /// The feed with this name. `Status::OptionsDiffer` if it exists and was created with others.
    pub fn feed_with(&self, name: &str, options: &FeedOptions) -> Result<Feed, Error> {
        let sticky = IdArray::new(&options.sticky);
        self.open_feed(name, &options.c(&sticky))
    }

    fn open_feed(&self, name: &str, options: *const sys::quire_feed_options) -> Result<Feed, Error> {
        let mut feed = null_mut();
        // SAFETY: see `open_with`; the handle is owned from here on.
        unsafe {
            Error::check(sys::quire_feed_open(self.c, to_c(name.as_bytes()), options, &mut feed))?;
            Ok(Feed::new(feed))
        }
    }

    /// The feed with this name if it exists.
    pub fn find_feed(&self, name: &str) -> Result<Option<Feed>, Error> {
        let mut feed = null_mut();
        // SAFETY: see `open_with`; the handle is owned from here on.
        unsafe {
            let code = sys::quire_feed_find(self.c, to_c(name.as_bytes()), &mut feed);
            let is_there = Error::check_unless(sys::QUIRE_NOT_FOUND, code)?;
            Ok(is_there.then(|| Feed::new(feed)))
        }
    }

    /// The names of all feeds, in order of their bytes.
    pub fn feed_names(&self) -> Result<Vec<String>, Error> {
        let mut list = sys::quire_list::EMPTY;
        // SAFETY: the list lives until it is freed, and is copied before.
        unsafe {
            Error::check(sys::quire_feed_names(self.c, &mut list))?;
            let names = slice(list.items, list.count)
                .iter()
                .map(|name| String::from_utf8_lossy(view(*name)).into_owned())
                .collect();
            sys::quire_list_free(&mut list);
            Ok(names)
        }
    }

    /// The state after the last commit. It borrows the cache:
    ///
    /// ```compile_fail,E0505
    /// # fn f(cache: quire::Cache) -> Result<(), quire::Error> {
    /// let snapshot = cache.snapshot()?;
    /// drop(cache);
    /// snapshot.generation()?;
    /// # Ok(()) }
    /// ```
    pub fn snapshot(&self) -> Result<Snapshot<'_>, Error> {
        Snapshot::begin(self)
    }

    /// Replaces the body of a post of a collection ("" is the default) in every feed that shows it, unless
    /// the stored one has a larger version or is of more detail. `None` is the detail of a complete body.
    pub fn update_body(
        &self, batch: Option<&Batch>, collection: &str, id: impl AsRef<[u8]>, body: impl AsRef<[u8]>,
        version: Option<i64>, detail: Option<u8>,
    ) -> Result<Update, Error> {
        let detail = detail.map_or(sys::QUIRE_DETAIL_FULL as u32, u32::from);
        let collection = to_c(collection.as_bytes());
        let (id, body, mut result) = (to_c(id.as_ref()), to_c(body.as_ref()), 0);
        let version = version.as_ref().map_or(null(), |version| version as *const i64);
        // SAFETY: see `open_with`.
        Error::check(unsafe {
            sys::quire_update_body(
                self.c,
                batch::c(batch),
                collection,
                id,
                body,
                version,
                detail,
                &mut result,
            )
        })?;
        Ok(result.into())
    }

    /// Sets named values of a post of a collection. A value is not overwritten by one with a smaller version.
    pub fn update_fields<V: AsRef<[u8]>>(
        &self, batch: Option<&Batch>, collection: &str, id: impl AsRef<[u8]>, fields: &[(&str, V)],
        version: i64,
    ) -> Result<Update, Error> {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| sys::quire_field {
                name: to_c(name.as_bytes()),
                value: to_c(value.as_ref()),
            })
            .collect();
        let (id, mut result) = (to_c(id.as_ref()), 0);
        // SAFETY: see `open_with`.
        Error::check(unsafe {
            sys::quire_update_fields(
                self.c,
                batch::c(batch),
                to_c(collection.as_bytes()),
                id,
                fields.as_ptr(),
                fields.len(),
                version,
                &mut result,
            )
        })?;
        Ok(result.into())
    }

    /// `alias` is another id of the post `id` of a collection. If both are cached, they become one post, called
    /// `id`.
    pub fn add_alias(
        &self, batch: Option<&Batch>, collection: &str, alias: impl AsRef<[u8]>, id: impl AsRef<[u8]>,
    ) -> Result<Alias, Error> {
        let (alias, id, mut result) = (to_c(alias.as_ref()), to_c(id.as_ref()), 0);
        let collection = to_c(collection.as_bytes());
        // SAFETY: see `open_with`.
        Error::check(unsafe {
            sys::quire_add_alias(self.c, batch::c(batch), collection, alias, id, &mut result)
        })?;
        Ok(result.into())
    }

    /// Number of commits made so far, by all processes.
    pub fn generation(&self) -> Result<u64, Error> {
        let mut generation = 0;
        // SAFETY: see `open_with`.
        Error::check(unsafe { sys::quire_generation(self.c, &mut generation) })?;
        Ok(generation)
    }

    /// Waits until all processes together have made more than `since` commits, or until the time is over.
    /// Returns the number of commits. After a timeout it is not larger than `since`.
    pub fn wait(&self, since: u64, timeout: Duration) -> Result<u64, Error> {
        let milliseconds = timeout.as_millis().try_into().unwrap_or(u32::MAX);
        let mut now = 0;
        // SAFETY: see `open_with`.
        let code = unsafe { sys::quire_wait(self.c, since, milliseconds, &mut now) };
        Error::check_unless(sys::QUIRE_TIMEOUT, code)?;
        Ok(now)
    }

    /// Totals of the cache and of its file.
    pub fn stats(&self) -> Result<Statistics, Error> {
        let mut c = sys::quire_statistics::EMPTY;
        // SAFETY: see `open_with`.
        Error::check(unsafe { sys::quire_stats(self.c, &mut c) })?;
        Ok(Statistics {
            feeds: c.feeds,
            posts: c.posts,
            pages: c.pages,
            gaps: c.gaps,
            body_bytes: c.body_bytes,
            dead_body_bytes: c.dead_body_bytes,
            generation: c.generation,
            used_bytes: c.used_bytes,
            free_bytes: c.free_bytes,
            snapshots: c.snapshots,
            oldest_snapshot_age: c.oldest_snapshot_age,
            oldest_snapshot_process: c.oldest_snapshot_process,
            pinned_bytes: c.pinned_bytes,
        })
    }

    /// What the budget has taken, and whether it was missed.
    pub fn evictions(&self) -> Result<Evictions, Error> {
        let mut c = sys::quire_evictions::EMPTY;
        // SAFETY: see `open_with`.
        Error::check(unsafe { sys::quire_get_evictions(self.c, &mut c) })?;
        Ok(Evictions {
            pages: c.pages,
            posts: c.posts,
            body_bytes: c.body_bytes,
            posts_by_age: c.posts_by_age,
            posts_by_feed: c.posts_by_feed,
            posts_by_collection: c.posts_by_collection,
            posts_by_cache: c.posts_by_cache,
            posts_by_file: c.posts_by_file,
            hits: c.hits,
            misses: c.misses,
        })
    }

    /// Tests every record and every invariant. The cache is sound if the result is empty. Stops after
    /// `limit` findings (0 is 100).
    pub fn check(&self, limit: usize) -> Result<Vec<Finding>, Error> {
        let findings = self.check_with(CheckLevel::Full, limit, &mut |_| ControlFlow::Continue(()))?;
        findings.ok_or_else(|| Error::new(Status::BadArgument, "the search was stopped"))
    }

    /// The same at a level. `progress` receives numbers from 0 to 1 and must not write to the cache. The result
    /// is `None` if `progress` ended the check.
    pub fn check_with(
        &self, level: CheckLevel, limit: usize, progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Finding>>, Error> {
        let flags = if level == CheckLevel::Quick { sys::QUIRE_CHECK_QUICK } else { 0 };
        let mut search = Search::new(progress);
        let context: *mut Search = &mut search;
        let mut count = 0;
        // SAFETY: the callbacks are called before this returns, on this thread, with this context.
        let status = unsafe {
            let (found, tell) = (Some(collect as _), Some(tell_search as _));
            sys::quire_check(self.c, flags, limit, found, tell, context.cast(), &mut count)
        };
        search.finish(status)
    }

    /// Writes a compact copy. No file may exist at the path.
    pub fn copy_to(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = c_path(path.as_ref())?;
        // SAFETY: see `open_with`.
        Error::check(unsafe { sys::quire_copy(self.c, path.as_ptr()) })
    }

    /// Moves bodies together until `budget` bytes were moved (0: 1 MiB). Returns the number of bytes that became
    /// free; 0 if nothing is left to do.
    pub fn reclaim(&self, budget: usize) -> Result<u64, Error> {
        let mut freed = 0;
        // SAFETY: see `open_with`.
        Error::check(unsafe { sys::quire_reclaim(self.c, budget, &mut freed) })?;
        Ok(freed)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { sys::quire_close(self.c) }
    }
}
