//! Windows: the rows that a screen holds.
use crate::bytes::{slice, to_c, view, IdArray};
use crate::rows::Row;
use crate::{sys, Error, Feed, Snapshot};
use std::ptr::null_mut;

/// Where a window opens.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// The first row: the window follows the head until [`Window::look`] names a row.
    Head,
    /// A post.
    Post(&'a [u8]),
    /// The first of these posts that the feed holds, else the head: what [`Window::nearest`] gave once.
    Nearest(&'a [Vec<u8>]),
    /// The first post whose key is this one or lower, else the last row: a list that opens at a date.
    Key(i64),
    /// The row with this many rows above it, else the last row.
    Rank(u64),
}

/// What a window holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowInfo {
    /// The window has no anchor and begins with the first row of the feed.
    pub is_following_head: bool,
    /// The commit that the rows show.
    pub generation: u64,
    /// Number of rows of the feed.
    pub row_count: u64,
    /// Number of rows above the window.
    pub rank: u64,
    /// Number of rows in it.
    pub count: u64,
    /// The index of the anchor among the rows of the window; 0 while it follows the head.
    pub anchor: u64,
}

/// What changed in the rows of a window, as lists want it. The indices of each list ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Remove these rows of the list, from the last to the first.
    pub removed: Vec<u64>,
    /// Insert these rows of the window, from the first to the last.
    pub inserted: Vec<u64>,
    /// Draw these rows of the window anew.
    pub updated: Vec<u64>,
}

/// Some consecutive rows of a feed. It opens anywhere and keeps its place while rows come and go elsewhere.
///
/// The anchor is the row that the reader looks at: it stays the anchor however many rows come above it. If it
/// leaves, or the server moves it, the nearest row of the window that stayed where it was takes its part, first
/// one below. A window keeps no snapshot open. It may move to another thread; one thread at a time may use it.
///
/// ```
/// use quire::{Cache, Feed, Start, Window};
///
/// fn screen(cache: &Cache, feed: &Feed) -> Result<(), quire::Error> {
///     let mut window = Window::open(&cache.snapshot()?, feed, Start::Rank(500_000), 20, 20)?.unwrap();
///     // ... after a commit:
///     let snapshot = cache.snapshot()?;
///     let difference = window.update(&snapshot)?; // what to change in a list
///     let rows = window.rows(&snapshot, 0, usize::MAX)?;
///     # let _ = (difference, rows);
///     Ok(())
/// }
/// ```
pub struct Window {
    c: *mut sys::quire_window,
}

// SAFETY: the functions are [one]: one thread at a time, any; so it is Send and not Sync.
unsafe impl Send for Window {}

impl Window {
    /// Opens a window over the rows that the snapshot sees, with at most as many rows above and below the one that
    /// the reader looks at. `None` if it is to open at a post that the feed does not hold.
    pub fn open(
        snapshot: &Snapshot<'_>, feed: &Feed, start: Start<'_>, above: u32, below: u32,
    ) -> Result<Option<Self>, Error> {
        let mut c = sys::quire_window_start { above, below, ..sys::quire_window_start::EMPTY };
        let post;
        let ids = match start {
            Start::Post(id) => {
                post = [to_c(id)];
                sys::quire_ids { items: post.as_ptr(), count: 1 }
            }
            _ => c.ids,
        };
        let nearest = IdArray::new(if let Start::Nearest(ids) = start { ids } else { &[] });
        (c.kind, c.ids) = match start {
            Start::Head => (sys::QUIRE_START_HEAD, ids),
            Start::Post(_) => (sys::QUIRE_START_POST, ids),
            Start::Nearest(_) => (sys::QUIRE_START_NEAREST, nearest.c()),
            Start::Key(key) => {
                c.key = key;
                (sys::QUIRE_START_KEY, ids)
            }
            Start::Rank(rank) => {
                c.rank = rank;
                (sys::QUIRE_START_RANK, ids)
            }
        };
        let mut window = null_mut();
        // SAFETY: the arguments live until the call returns; so does every argument in this file.
        let code = unsafe { sys::quire_window_open(snapshot.c(), feed.c(), &c, &mut window) };
        Ok(Error::check_unless(sys::QUIRE_NOT_FOUND, code)?.then_some(Window { c: window }))
    }

    /// What it holds.
    pub fn info(&self) -> Result<WindowInfo, Error> {
        let mut c = sys::quire_window_info::EMPTY;
        // SAFETY: see `open`.
        Error::check(unsafe { sys::quire_window_get_info(self.c, &mut c) })?;
        Ok(WindowInfo {
            is_following_head: c.is_following_head != 0,
            generation: c.generation,
            row_count: c.row_count,
            rank: c.rank,
            count: c.count,
            anchor: c.anchor,
        })
    }

    /// The reader looks at the row of the window with this index; with `None` at no row, and the window follows the
    /// head. The next [`update`](Self::update) reads the rows around it.
    pub fn look(&mut self, index: Option<u64>, above: u32, below: u32) -> Result<(), Error> {
        // SAFETY: see `open`.
        Error::check(unsafe { sys::quire_window_look(self.c, index.unwrap_or(u64::MAX), above, below) })
    }

    /// Follows the feed to the commit that the snapshot sees. After a failure the window is as before.
    pub fn update(&mut self, snapshot: &Snapshot<'_>) -> Result<Difference, Error> {
        let mut c = sys::quire_difference::EMPTY;
        // SAFETY: see `open`; the lists live as long as the snapshot, and are copied before.
        unsafe {
            Error::check(sys::quire_window_update(self.c, snapshot.c(), &mut c))?;
            Ok(Difference {
                removed: slice(c.removed, c.removed_count).to_vec(),
                inserted: slice(c.inserted, c.inserted_count).to_vec(),
                updated: slice(c.updated, c.updated_count).to_vec(),
            })
        }
    }

    /// Rows of the window from an index on. `Status::Resync` if the snapshot sees another commit than the window
    /// shows: call [`update`](Self::update) first.
    pub fn rows<'s>(
        &self, snapshot: &'s Snapshot<'_>, index: u64, limit: usize,
    ) -> Result<Vec<Row<'s>>, Error> {
        let rest = self.info()?.count.saturating_sub(index);
        let capacity = limit.min(usize::try_from(rest).unwrap_or(usize::MAX));
        let mut rows = Vec::with_capacity(capacity);
        let mut count = 0;
        // SAFETY: there is room for `capacity` rows, of which the call fills `count`; what they point to lives as
        // long as the snapshot, which is borrowed for 's.
        unsafe {
            let items = rows.as_mut_ptr();
            Error::check(sys::quire_window_read(self.c, snapshot.c(), index, items, capacity, &mut count))?;
            rows.set_len(count.min(capacity));
            Ok(rows.into_iter().map(|row| Row::new(row)).collect())
        }
    }

    /// The ids of its posts, nearest to the anchor first: stored, they are a place to open at
    /// ([`Start::Nearest`]), even if the anchor has left by then.
    pub fn nearest(&self) -> Result<Vec<Vec<u8>>, Error> {
        let mut list = sys::quire_list::EMPTY;
        // SAFETY: the list lives until it is freed, and is copied before.
        unsafe {
            Error::check(sys::quire_window_nearest(self.c, &mut list))?;
            let ids = slice(list.items, list.count).iter().map(|id| view(*id).to_vec()).collect();
            sys::quire_list_free(&mut list);
            Ok(ids)
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { sys::quire_window_close(self.c) }
    }
}
