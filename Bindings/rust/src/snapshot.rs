//! Reading: one consistent state of the whole cache.
use crate::bytes::{slice, to_c, view, Border, Ids};
use crate::rows::{Changes, Direction, Pages, Position, Row, Rows};
use crate::{sys, Cache, Error, Feed, FeedOptions, Sizes};
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

/// One consistent state of the whole cache, whatever others write meanwhile. Do not keep one open for
/// long: what it sees cannot be reused by writers.
///
/// What is read from it points into the memory-mapped file and cannot outlive it:
///
/// ```compile_fail,E0505
/// # fn f(cache: &quire::Cache, feed: &quire::Feed) -> Result<(), quire::Error> {
/// let snapshot = cache.snapshot()?;
/// let post = snapshot.find(feed, "17")?.unwrap();
/// drop(snapshot);
/// println!("{:?}", post.position()); // the row borrows the snapshot
/// # Ok(()) }
/// ```
///
/// ```compile_fail,E0597
/// # fn f(cache: &quire::Cache, feed: &quire::Feed) -> Result<(), quire::Error> {
/// let mut bodies: Vec<&[u8]> = Vec::new();
/// {
///     let snapshot = cache.snapshot()?;
///     for row in snapshot.rows(feed) {
///         if let quire::Row::Post(post) = row? { bodies.push(post.body) }
///     }
/// } // copy the bodies, or keep the snapshot
/// println!("{}", bodies.len());
/// # Ok(()) }
/// ```
///
/// It may move to another thread, but one thread at a time may use it:
///
/// ```
/// fn is_send<T: Send>() {}
/// is_send::<quire::Snapshot<'static>>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_sync<T: Sync>() {}
/// is_sync::<quire::Snapshot<'static>>();
/// ```
pub struct Snapshot<'cache> {
    c: *mut sys::quire_snapshot,
    _cache: PhantomData<&'cache Cache>,
}

// SAFETY: the functions are [one]: one thread at a time, any; so it is Send and not Sync.
unsafe impl Send for Snapshot<'_> {}

/// What a feed is and holds. Borrows from the snapshot.
#[derive(Clone, Debug)]
pub struct FeedInfo<'s> {
    /// The number by which a change names the feed.
    pub number: u32,
    /// UTF-8, as it was opened with.
    pub name: &'s [u8],
    /// What the feed was created with.
    pub options: FeedOptions,
    /// Posts of the server's sequence.
    pub posts: u64,
    /// Posts outside of it.
    pub detached: u64,
    /// Posts whose place is known and whose body is missing.
    pub placeholders: u64,
    /// Pages stored.
    pub pages: u64,
    /// Gaps known.
    pub gaps: u64,
    /// Joins that only the server's numbering claims.
    pub unverified_joins: u64,
    /// Bytes of the bodies it shows.
    pub body_bytes: u64,
    /// `Link::End` if nothing lies above the first post, else what continues there.
    pub head: Border<'s>,
    /// What continues below the last post.
    pub tail: Border<'s>,
    /// No gap is known.
    pub is_in_sequence: bool,
    /// The server did not say that the feed ends here: that was concluded from what it answered.
    pub is_end_assumed: bool,
    /// Answers that showed known posts in another order than the feed's class allows.
    pub answers_against_order: u64,
    /// The policy that holds: that of the options, or `Unknown` once an answer has disproved it.
    pub sizes: Sizes,
    /// Rows of a server's page as far as that is known: stated, or learned.
    pub rows_per_page: Option<u32>,
}

/// What is stored about a post, however many feeds hold it. Borrows from the snapshot.
#[derive(Clone, Debug)]
pub struct PostInfo<'s> {
    /// Which state of the post this is.
    pub version: Option<i64>,
    /// Number of feeds that hold it.
    pub feeds: u64,
    /// The body as received.
    pub body: &'s [u8],
    /// How much of the post its body holds; 255 is all.
    pub detail: u8,
    /// A newer version was seen, but only with less detail.
    pub is_outdated: bool,
    /// Values that were updated one by one, by name.
    pub fields: Vec<(&'s [u8], &'s [u8])>,
}

impl<'cache> Snapshot<'cache> {
    pub(crate) fn begin(cache: &'cache Cache) -> Result<Self, Error> {
        let mut snapshot = null_mut();
        // SAFETY: the arguments live until the call returns; so does every argument in this file.
        Error::check(unsafe { sys::quire_snapshot_begin(cache.c(), &mut snapshot) })?;
        Ok(Snapshot { c: snapshot, _cache: PhantomData })
    }

    pub(crate) fn c(&self) -> *mut sys::quire_snapshot {
        self.c
    }

    /// Number of commits that the snapshot sees.
    pub fn generation(&self) -> Result<u64, Error> {
        let mut generation = 0;
        // SAFETY: see `begin`.
        Error::check(unsafe { sys::quire_snapshot_generation(self.c, &mut generation) })?;
        Ok(generation)
    }

    /// What a feed is and holds, from its counters.
    pub fn info(&self, feed: &Feed) -> Result<FeedInfo<'_>, Error> {
        let mut c = sys::quire_feed_info::EMPTY;
        // SAFETY: see `begin`; the texts live as long as the snapshot, which stays borrowed.
        unsafe {
            Error::check(sys::quire_feed_get_info(self.c, feed.c(), &mut c))?;
            Ok(FeedInfo {
                number: c.number,
                name: view(c.name),
                options: FeedOptions {
                    order: c.order.into(),
                    paging: c.paging.into(),
                    trusts_end: c.flags & sys::QUIRE_FEED_TRUSTS_END != 0,
                    is_strict: c.flags & sys::QUIRE_FEED_STRICT != 0,
                    page_size: c.page_size,
                    minimum_run: c.minimum_run,
                    first_page: c.first_page,
                    sticky: Ids::new(c.sticky).iter().map(<[u8]>::to_vec).collect(),
                    collection: String::from_utf8_lossy(view(c.collection)).into_owned(),
                    sizes: Sizes::new(c.sizes, c.rows_per_page),
                },
                posts: c.posts,
                detached: c.detached,
                placeholders: c.placeholders,
                pages: c.pages,
                gaps: c.gaps,
                unverified_joins: c.unverified_joins,
                body_bytes: c.body_bytes,
                head: Border::new(c.head),
                tail: Border::new(c.tail),
                is_in_sequence: c.is_in_sequence != 0,
                is_end_assumed: c.is_end_assumed != 0,
                answers_against_order: c.answers_against_order,
                sizes: Sizes::new(c.sizes_now, c.rows_known),
                rows_per_page: Some(c.rows_known).filter(|rows| *rows != 0),
            })
        }
    }

    /// The rows of a feed, top first.
    pub fn rows<'f>(&self, feed: &'f Feed) -> Rows<'_, 'f> {
        Rows::new(self, feed, Direction::Down, None)
    }

    /// The rows below a position, the nearest first.
    pub fn rows_after<'f>(&self, feed: &'f Feed, after: Position) -> Rows<'_, 'f> {
        Rows::new(self, feed, Direction::Down, Some(after))
    }

    /// The rows of a feed, bottom first.
    pub fn rows_upwards<'f>(&self, feed: &'f Feed) -> Rows<'_, 'f> {
        Rows::new(self, feed, Direction::Up, None)
    }

    /// The rows above a position, the nearest first.
    pub fn rows_before<'f>(&self, feed: &'f Feed, before: Position) -> Rows<'_, 'f> {
        Rows::new(self, feed, Direction::Up, Some(before))
    }

    /// The gaps of a feed, topmost first.
    pub fn gaps<'f>(&self, feed: &'f Feed) -> Rows<'_, 'f> {
        Rows::new(self, feed, Direction::Gaps, None)
    }

    /// The rows from the one with this rank on. The rank of a row is the number of rows above it, gaps
    /// included: its index in a list of them all. The page index of the cache finds it in a time that hardly
    /// grows with the feed.
    pub fn rows_from_rank<'f>(&self, feed: &'f Feed, rank: u64) -> Rows<'_, 'f> {
        Rows::new(self, feed, Direction::FromRank(rank), None)
    }

    /// Number of rows of a feed, posts and gaps.
    pub fn row_count(&self, feed: &Feed) -> Result<u64, Error> {
        let mut count = 0;
        // SAFETY: see `begin`.
        Error::check(unsafe { sys::quire_row_count(self.c, feed.c(), &mut count) })?;
        Ok(count)
    }

    /// The rank of a row of this snapshot.
    pub fn rank_of_row(&self, feed: &Feed, position: Position) -> Result<u64, Error> {
        let (position, mut rank) = (position.c(), 0);
        // SAFETY: see `begin`.
        Error::check(unsafe { sys::quire_rank_of_row(self.c, feed.c(), &position, &mut rank) })?;
        Ok(rank)
    }

    /// The rank of a post, if the feed holds it.
    pub fn rank_of_post(&self, feed: &Feed, id: impl AsRef<[u8]>) -> Result<Option<u64>, Error> {
        let mut rank = 0;
        // SAFETY: see `begin`.
        let code = unsafe { sys::quire_rank_of_post(self.c, feed.c(), to_c(id.as_ref()), &mut rank) };
        Ok(Error::check_unless(sys::QUIRE_NOT_FOUND, code)?.then_some(rank))
    }

    /// The rank of the first post whose key is this one or lower. Use it to open a list at a date. It
    /// is [`row_count`](Self::row_count) if all keys are larger. [`Status::BadArgument`](crate::Status::BadArgument)
    /// if the feed's order is not that of keys.
    pub fn rank_of_key(&self, feed: &Feed, key: i64) -> Result<u64, Error> {
        let mut rank = 0;
        // SAFETY: see `begin`.
        Error::check(unsafe { sys::quire_rank_of_key(self.c, feed.c(), key, &mut rank) })?;
        Ok(rank)
    }

    /// The posts that page `number` still has. A page that does not exist has none.
    pub fn page<'f>(&self, feed: &'f Feed, number: u64) -> Rows<'_, 'f> {
        Rows::new(self, feed, Direction::Page(number), None)
    }

    /// The pages of a feed, from an index on; 0 is the topmost.
    pub fn pages<'f>(&self, feed: &'f Feed, index: u64) -> Pages<'_, 'f> {
        Pages::new(self, feed, index)
    }

    /// The post in its place, if the feed holds it.
    pub fn find(&self, feed: &Feed, id: impl AsRef<[u8]>) -> Result<Option<Row<'_>>, Error> {
        // SAFETY: zero is a value of a quire_row: numbers and nullable pointers.
        let mut row: sys::quire_row = unsafe { std::mem::zeroed() };
        // SAFETY: see `info`.
        unsafe {
            let code = sys::quire_find(self.c, feed.c(), to_c(id.as_ref()), &mut row);
            let is_there = Error::check_unless(sys::QUIRE_NOT_FOUND, code)?;
            Ok(is_there.then(|| Row::new(row)))
        }
    }

    /// What is stored about a post of a collection ("" is the default), if any of its feeds holds it.
    pub fn post(&self, collection: &str, id: impl AsRef<[u8]>) -> Result<Option<PostInfo<'_>>, Error> {
        let (mut c, collection) = (sys::quire_post_info::EMPTY, to_c(collection.as_bytes()));
        // SAFETY: see `info`.
        unsafe {
            let code = sys::quire_post_get_info(self.c, collection, to_c(id.as_ref()), &mut c);
            let is_there = Error::check_unless(sys::QUIRE_NOT_FOUND, code)?;
            Ok(is_there.then(|| PostInfo {
                version: (c.has_version != 0).then_some(c.version),
                feeds: c.feeds,
                detail: c.detail as u8,
                is_outdated: c.is_outdated != 0,
                body: view(c.body),
                fields: slice(c.fields, c.field_count)
                    .iter()
                    .map(|field| (view(field.name), view(field.value)))
                    .collect(),
            }))
        }
    }

    /// What [`Feed::set_attribute`] remembered.
    pub fn attribute(&self, feed: &Feed, name: &str) -> Result<Option<&[u8]>, Error> {
        let mut value = to_c(b"");
        // SAFETY: see `info`.
        unsafe {
            let code = sys::quire_get_attribute(self.c, feed.c(), to_c(name.as_bytes()), &mut value);
            let is_there = Error::check_unless(sys::QUIRE_NOT_FOUND, code)?;
            Ok(is_there.then(|| view(value)))
        }
    }

    /// What each commit after `since` changed, oldest first. `None` if the log does not reach back that
    /// far: read the feeds anew.
    pub fn changes_since(&self, since: u64) -> Result<Option<Changes<'_>>, Error> {
        let (mut changes, mut count) = (null(), 0);
        // SAFETY: see `info`; the array lives as long as the snapshot, too.
        unsafe {
            let code = sys::quire_changes_since(self.c, since, &mut changes, &mut count);
            let is_there = Error::check_unless(sys::QUIRE_RESYNC, code)?;
            Ok(is_there.then(|| Changes::new(slice(changes, count))))
        }
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { sys::quire_snapshot_end(self.c) }
    }
}
