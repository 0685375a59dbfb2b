//! Feeds and crawls: everything that writes into a feed.
use crate::batch::{self, Batch};
use crate::bytes::{to_c, IdArray};
use crate::{sys, Alias, Answer, Error, FeedOptions, Outcome, Place, PrunePolicy, Pruned, Request};
use std::ptr::{null, null_mut};

/// One server list in a cache. May be used from any thread, by readers and writers alike, and keeps the
/// file open. Where a function takes a batch, `None` is a commit of its own.
pub struct Feed {
    c: *mut sys::quire_feed,
}

// SAFETY: every function that takes a quire_feed is [any] as far as the feed is concerned.
unsafe impl Send for Feed {}
// SAFETY: as above.
unsafe impl Sync for Feed {}

impl Feed {
    /// # Safety
    /// Takes over an owned handle.
    pub(crate) unsafe fn new(c: *mut sys::quire_feed) -> Self {
        Feed { c }
    }

    pub(crate) fn c(&self) -> *mut sys::quire_feed {
        self.c
    }

    /// The request for a place, or why none is possible.
    pub fn plan(&self, batch: Option<&Batch>, place: &Place<'_>) -> Result<Request, Error> {
        let mut request = Request::EMPTY;
        // SAFETY: the arguments live until the call returns; so does every argument in this file.
        Error::check(unsafe { sys::quire_plan(self.c, batch::c(batch), &place.c(), &mut request.c) })?;
        Ok(request)
    }

    /// Call this if the request failed, or if its answer is no longer wanted.
    pub fn cancel(&self, batch: Option<&Batch>, ticket: u64) -> Result<(), Error> {
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_cancel(self.c, batch::c(batch), ticket) })
    }

    /// Call this if the server refuses the link of the request for good: its cursor has expired, or names a post
    /// that is gone. The link is forgotten, all posts stay, and the next plan of the place begins further up. The
    /// verdict is that of `quire_drop_link`.
    pub fn drop_link(&self, batch: Option<&Batch>, ticket: u64) -> Result<Outcome, Error> {
        let mut outcome = Outcome::EMPTY;
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_drop_link(self.c, batch::c(batch), ticket, &mut outcome.c) })?;
        Ok(outcome)
    }

    /// Judges the answer and takes it in: the whole page or nothing. A verdict against it is no error.
    pub fn ingest(&self, batch: Option<&Batch>, ticket: u64, answer: &Answer<'_>) -> Result<Outcome, Error> {
        let mut outcome = Outcome::EMPTY;
        // SAFETY: see `plan`.
        Error::check(unsafe {
            sys::quire_ingest(self.c, batch::c(batch), ticket, &answer.c(), &mut outcome.c)
        })?;
        Ok(outcome)
    }

    /// Takes in posts that the server says are on top now, unasked. `number` is that of the message, `follows` the
    /// post directly below the last one. A gap opens below them unless nothing can have been missed.
    pub fn push(
        &self, batch: Option<&Batch>, answer: &Answer<'_>, number: Option<u64>, follows: Option<&[u8]>,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome::EMPTY;
        let follows = to_c(follows.unwrap_or_default());
        let number = number.as_ref().map_or(null(), |number| number as *const _);
        // SAFETY: see `plan`.
        Error::check(unsafe {
            sys::quire_push(self.c, batch::c(batch), &answer.c(), number, follows, &mut outcome.c)
        })?;
        Ok(outcome)
    }

    /// From now on the server pushes every new post, in messages after this number. Refresh after this call.
    pub fn begin_live(&self, batch: Option<&Batch>, after: Option<u64>) -> Result<(), Error> {
        let after = after.as_ref().map_or(null(), |after| after as *const _);
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_begin_live(self.c, batch::c(batch), after) })
    }

    /// The server no longer pushes new posts: the connection has ended.
    pub fn end_live(&self, batch: Option<&Batch>) -> Result<(), Error> {
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_end_live(self.c, batch::c(batch)) })
    }

    /// A crawl whose first page has this number and is a refresh.
    pub fn crawl_from_head(&self, page: u64) -> Result<Crawl, Error> {
        self.begin_crawl(sys::QUIRE_CRAWL_HEAD, page)
    }

    /// A crawl that goes on below the last post.
    pub fn crawl_from_tail(&self) -> Result<Crawl, Error> {
        self.begin_crawl(sys::QUIRE_CRAWL_TAIL, 0)
    }

    /// A crawl that goes on below the post above a gap.
    pub fn crawl_from_gap(&self, gap: u64) -> Result<Crawl, Error> {
        self.begin_crawl(sys::QUIRE_CRAWL_GAP, gap)
    }

    fn begin_crawl(&self, kind: i32, start: u64) -> Result<Crawl, Error> {
        let mut crawl = null_mut();
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_crawl_begin(self.c, kind, start, &mut crawl) })?;
        Ok(Crawl { c: crawl })
    }

    /// Which of these posts the feed holds, in the order asked.
    pub fn contains<T: AsRef<[u8]>>(&self, ids: &[T]) -> Result<Vec<bool>, Error> {
        let mut flags = vec![0u8; ids.len()];
        // SAFETY: there is room for one byte per id.
        Error::check(unsafe { sys::quire_contains(self.c, IdArray::new(ids).c(), flags.as_mut_ptr()) })?;
        Ok(flags.into_iter().map(|flag| flag != 0).collect())
    }

    /// Removes a post that is gone on the server: the neighbours close up.
    pub fn delete(&self, batch: Option<&Batch>, id: impl AsRef<[u8]>) -> Result<(), Error> {
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_delete(self.c, batch::c(batch), to_c(id.as_ref())) })
    }

    /// Forgets posts to save space: a gap opens in their place. Returns how many left.
    pub fn evict<T: AsRef<[u8]>>(&self, batch: Option<&Batch>, ids: &[T]) -> Result<u64, Error> {
        let (ids, mut count) = (IdArray::new(ids), 0);
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_evict(self.c, batch::c(batch), ids.c(), &mut count) })?;
        Ok(count)
    }

    /// Evicts the page with this index, 0 is the topmost; always a commit of its own.
    pub fn evict_page(&self, index: u64) -> Result<u64, Error> {
        let mut count = 0;
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_evict_page(self.c, index, &mut count) })?;
        Ok(count)
    }

    /// A pinned post is never evicted or removed by an answer. False: the feed lacks the post.
    pub fn pin(&self, batch: Option<&Batch>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        // SAFETY: see `plan`.
        let code = unsafe { sys::quire_pin(self.c, batch::c(batch), to_c(id.as_ref())) };
        Error::check_unless(sys::QUIRE_NOT_FOUND, code)
    }

    /// Unpins the post. False: the feed lacks it.
    pub fn unpin(&self, batch: Option<&Batch>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        // SAFETY: see `plan`.
        let code = unsafe { sys::quire_unpin(self.c, batch::c(batch), to_c(id.as_ref())) };
        Error::check_unless(sys::QUIRE_NOT_FOUND, code)
    }

    /// Puts an optimistic post on top. False: the feed holds it already.
    pub fn insert_local(
        &self, batch: Option<&Batch>, id: impl AsRef<[u8]>, body: impl AsRef<[u8]>,
    ) -> Result<bool, Error> {
        let (id, body, mut done) = (to_c(id.as_ref()), to_c(body.as_ref()), 0);
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_insert_local(self.c, batch::c(batch), id, body, &mut done) })?;
        Ok(done != 0)
    }

    /// Takes an optimistic post away. False: the feed has no such local post.
    pub fn remove_local(&self, batch: Option<&Batch>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        let (id, mut done) = (to_c(id.as_ref()), 0);
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_remove_local(self.c, batch::c(batch), id, &mut done) })?;
        Ok(done != 0)
    }

    /// The server has accepted an optimistic post and calls it `server`: its place, pin, body and fields stay.
    pub fn confirm_local(
        &self, batch: Option<&Batch>, id: impl AsRef<[u8]>, server: impl AsRef<[u8]>,
    ) -> Result<Alias, Error> {
        let (id, server, mut result) = (to_c(id.as_ref()), to_c(server.as_ref()), 0);
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_confirm_local(self.c, batch::c(batch), id, server, &mut result) })?;
        Ok(result.into())
    }

    /// Remembers a value about the feed under a name, such as an ETag; `None` forgets it. The engine gives
    /// these no meaning, and `reset` keeps them.
    pub fn set_attribute(
        &self, batch: Option<&Batch>, name: &str, value: Option<&[u8]>,
    ) -> Result<(), Error> {
        let value = value.map(to_c);
        let value = value.as_ref().map_or(null(), |value| value as *const _);
        // SAFETY: see `plan`.
        Error::check(unsafe {
            sys::quire_set_attribute(self.c, batch::c(batch), to_c(name.as_bytes()), value)
        })
    }

    /// Forgets everything in the feed; every outstanding ticket becomes stale.
    pub fn reset(&self, batch: Option<&Batch>) -> Result<(), Error> {
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_reset(self.c, batch::c(batch)) })
    }

    /// Removes the feed from the cache; posts that other feeds of its collection hold stay there.
    pub fn remove(&self, batch: Option<&Batch>) -> Result<(), Error> {
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_feed_drop(self.c, batch::c(batch)) })
    }

    /// Gives the feed another name. No feed may have it already.
    pub fn rename(&self, batch: Option<&Batch>, name: &str) -> Result<(), Error> {
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_feed_rename(self.c, batch::c(batch), to_c(name.as_bytes())) })
    }

    /// Gives a feed without posts other options. The feed begins anew; `self` then refers to a dropped feed.
    pub fn set_options(&self, options: &FeedOptions) -> Result<Feed, Error> {
        let sticky = IdArray::new(&options.sticky);
        let mut feed = null_mut();
        // SAFETY: see `plan`; the handle is owned from here on.
        unsafe {
            Error::check(sys::quire_feed_set_options(self.c, &options.c(&sticky), &mut feed))?;
            Ok(Feed::new(feed))
        }
    }

    /// Tells which posts are on the screen of this process: the budget takes no page with one of them. They replace
    /// those named before.
    pub fn set_visible<T: AsRef<[u8]>>(&self, ids: &[T]) -> Result<(), Error> {
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_set_visible(self.c, IdArray::new(ids).c()) })
    }

    /// Forgets pages until the policy is met or its budget is spent.
    pub fn prune(&self, batch: Option<&Batch>, policy: &PrunePolicy<'_>) -> Result<Pruned, Error> {
        let visible = IdArray::new(&policy.visible);
        let mut result = sys::quire_prune_result::EMPTY;
        // SAFETY: see `plan`.
        Error::check(unsafe { sys::quire_prune(self.c, batch::c(batch), &policy.c(&visible), &mut result) })?;
        Ok(Pruned { is_done: result.is_done != 0, pages: result.pages, posts: result.posts })
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { sys::quire_feed_close(self.c) }
    }
}

/// A crawl: pages fetched before, without tickets. One thread at a time may use it, so `ingest` needs
/// `&mut`. It may move to another thread.
pub struct Crawl {
    c: *mut sys::quire_crawl,
}

// SAFETY: quire_crawl_ingest() is [one]: one thread at a time, any; quire_crawl_end() is [any].
unsafe impl Send for Crawl {}

impl Crawl {
    /// Takes in the page with this number, or with `None` the one after the page before.
    pub fn ingest(
        &mut self, batch: Option<&Batch>, page: Option<u64>, answer: &Answer<'_>,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome::EMPTY;
        let page = page.unwrap_or(sys::QUIRE_PAGE_FOLLOWING);
        // SAFETY: the arguments live until the call returns.
        Error::check(unsafe {
            sys::quire_crawl_ingest(self.c, batch::c(batch), page, &answer.c(), &mut outcome.c)
        })?;
        Ok(outcome)
    }
}

impl Drop for Crawl {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { sys::quire_crawl_end(self.c) }
    }
}
