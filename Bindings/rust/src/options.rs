//! What a cache and a feed are opened with, and what to prune.
use crate::bytes::{to_c, IdArray, Order, Paging};
use crate::sys;

/// How to open a cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheOptions {
    /// True: a commit is on disk when the call returns. False: a power failure may lose the last commits; a
    /// commit costs half as much.
    pub is_durable: bool,
    /// Address space reserved for the file; 0 is 64 GiB.
    pub map_size: u64,
    /// How long a write waits for other writers, in milliseconds; 0 is 30,000, `u32::MAX` is for ever.
    pub write_timeout_ms: u32,
    /// Number of later commits after which a snapshot expires; 0 is 100,000, `u32::MAX` is no limit.
    pub maximum_snapshot_age: u32,
    /// Test the whole file first, as [`Cache::verify`](crate::Cache::verify) does. Use it for a file that you
    /// did not write.
    pub verifies_on_open: bool,
    /// Open a cache that exists for reading only, without the right to write. `QUIRE_READ_ONLY` in `quire.h` says
    /// what is seen of another process's writes.
    pub is_read_only: bool,
    /// How large the cache may become; it is not in the file.
    pub budget: Option<Budget>,
}

/// The limits of a cache, a collection or a feed. 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Posts.
    pub posts: u64,
    /// Bytes of bodies.
    pub body_bytes: u64,
    /// Milliseconds between the fetch of a page and that of the newest answer of a commit.
    pub age_ms: u64,
}

impl Limits {
    fn c(self) -> sys::quire_limits {
        sys::quire_limits { posts: self.posts, body_bytes: self.body_bytes, age_ms: self.age_ms }
    }
}

/// How large a cache may become. Each commit takes away what is over it: pages of the least recently used feeds, never
/// a pinned, visible or local post, nor what the commit brought. What leaves becomes a gap that can be fetched again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of the file that records occupy, without free space. 0 is no limit.
    pub file_bytes: u64,
    /// Of the whole cache.
    pub cache: Limits,
    /// Of each collection.
    pub collection: Limits,
    /// Of each feed.
    pub feed: Limits,
}

impl Budget {
    pub(crate) fn c(&self) -> sys::quire_budget {
        sys::quire_budget {
            file_bytes: self.file_bytes,
            cache: self.cache.c(),
            collection: self.collection.c(),
            feed: self.feed.c(),
            ..sys::quire_budget::EMPTY
        }
    }
}

impl Default for CacheOptions {
    fn default() -> Self {
        CacheOptions {
            is_durable: true,
            map_size: 0,
            write_timeout_ms: 0,
            maximum_snapshot_age: 0,
            verifies_on_open: false,
            is_read_only: false,
            budget: None,
        }
    }
}

impl CacheOptions {
    pub(crate) fn c(&self) -> sys::quire_cache_options {
        let durability =
            if self.is_durable { sys::QUIRE_DURABILITY_FULL } else { sys::QUIRE_DURABILITY_RELAXED };
        sys::quire_cache_options {
            durability,
            map_size: self.map_size,
            write_timeout_ms: self.write_timeout_ms,
            maximum_snapshot_age: self.maximum_snapshot_age,
            flags: flags(&[
                (self.verifies_on_open, sys::QUIRE_VERIFY_ON_OPEN),
                (self.is_read_only, sys::QUIRE_READ_ONLY),
            ]),
            ..sys::quire_cache_options::EMPTY
        }
    }
}

/// Who chooses how many rows a page has, in feeds paged by offset or number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sizes {
    /// Not known: the same size is asked for again and again, and what comes back is learned.
    #[default]
    Unknown,
    /// The server grants any size up to the limit that is asked for.
    Free,
    /// The server fixes the size, whatever is asked for: the rows of a page.
    Fixed(u32),
}

impl Sizes {
    pub(crate) fn new(kind: i32, rows: u32) -> Self {
        match kind {
            sys::QUIRE_SIZES_FREE => Sizes::Free,
            sys::QUIRE_SIZES_FIXED => Sizes::Fixed(rows),
            _ => Sizes::Unknown,
        }
    }

    fn c(self) -> (i32, u32) {
        match self {
            Sizes::Unknown => (sys::QUIRE_SIZES_UNKNOWN, 0),
            Sizes::Free => (sys::QUIRE_SIZES_FREE, 0),
            Sizes::Fixed(rows) => (sys::QUIRE_SIZES_FIXED, rows),
        }
    }
}

/// What a feed is, fixed when it is first opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedOptions {
    /// What the server promises about order.
    pub order: Order,
    /// How the server hands out its pages.
    pub paging: Paging,
    /// One reported end is enough to remove what is cached below it.
    pub trusts_end: bool,
    /// Crawls: open a gap where only the numbering claims contiguity.
    pub is_strict: bool,
    /// How many posts a request asks for unless it says otherwise.
    pub page_size: u32,
    /// Ranked feeds: how many neighbours prove that a page joins what is cached.
    pub minimum_run: u32,
    /// The number of the first page in feeds paged by number.
    pub first_page: u32,
    /// Posts that the server shows out of order.
    pub sticky: Vec<Vec<u8>>,
    /// The collection that its posts belong to: shared within it, never across.
    pub collection: String,
    /// Who chooses the size of a page.
    pub sizes: Sizes,
}

impl Default for FeedOptions {
    fn default() -> Self {
        FeedOptions {
            order: Order::Keyless,
            paging: Paging::Cursor,
            trusts_end: false,
            is_strict: false,
            page_size: 20,
            minimum_run: 2,
            first_page: 1,
            sticky: Vec::new(),
            collection: String::new(),
            sizes: Sizes::Unknown,
        }
    }
}

impl FeedOptions {
    pub(crate) fn c(&self, sticky: &IdArray<'_>) -> sys::quire_feed_options {
        let (sizes, rows_per_page) = self.sizes.c();
        sys::quire_feed_options {
            order: self.order.into(),
            paging: self.paging.into(),
            flags: flags(&[
                (self.trusts_end, sys::QUIRE_FEED_TRUSTS_END),
                (self.is_strict, sys::QUIRE_FEED_STRICT),
            ]),
            page_size: self.page_size,
            minimum_run: self.minimum_run,
            first_page: self.first_page,
            sticky: sticky.c(),
            collection: to_c(self.collection.as_bytes()),
            sizes,
            rows_per_page,
            ..sys::quire_feed_options::EMPTY
        }
    }
}

/// What to forget; an absent limit does not apply.
#[derive(Clone, Debug, Default)]
pub struct PrunePolicy<'a> {
    /// Forget every segment but the top one, unless one of its posts is pinned or visible.
    pub out_of_sequence: bool,
    /// Forget pages received more than this many milliseconds before `now`.
    pub maximum_age: Option<i64>,
    /// The caller's clock, in milliseconds since 1970.
    pub now: i64,
    /// The largest number of posts to keep.
    pub maximum_posts: Option<u64>,
    /// The largest number of pages to keep.
    pub maximum_pages: Option<u64>,
    /// The largest number of bytes of bodies to keep.
    pub maximum_bytes: Option<u64>,
    /// Posts on the screen: their pages stay.
    pub visible: Vec<&'a [u8]>,
    /// Stop after this many posts; 0 is 10,000.
    pub budget: u64,
    /// Say what would be done, without doing it. Not in a batch.
    pub dry_run: bool,
}

impl PrunePolicy<'_> {
    pub(crate) fn c(&self, visible: &IdArray<'_>) -> sys::quire_prune_policy {
        sys::quire_prune_policy {
            flags: flags(&[
                (self.out_of_sequence, sys::QUIRE_PRUNE_OUT_OF_SEQUENCE),
                (self.maximum_age.is_some(), sys::QUIRE_PRUNE_BY_AGE),
                (self.maximum_posts.is_some(), sys::QUIRE_PRUNE_BY_POSTS),
                (self.maximum_pages.is_some(), sys::QUIRE_PRUNE_BY_PAGES),
                (self.maximum_bytes.is_some(), sys::QUIRE_PRUNE_BY_BYTES),
                (self.dry_run, sys::QUIRE_PRUNE_DRY_RUN),
            ]),
            maximum_age: self.maximum_age.unwrap_or(0),
            now: self.now,
            maximum_posts: self.maximum_posts.unwrap_or(0),
            maximum_pages: self.maximum_pages.unwrap_or(0),
            maximum_bytes: self.maximum_bytes.unwrap_or(0),
            visible: visible.c(),
            budget: self.budget,
            ..sys::quire_prune_policy::EMPTY
        }
    }
}

/// What a prune did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// The policy is met, or nothing more may leave. False: call again.
    pub is_done: bool,
    /// Pages whose posts left.
    pub pages: u64,
    /// Posts that left.
    pub posts: u64,
}

fn flags(all: &[(bool, u32)]) -> u32 {
    all.iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag)
}
