//! Windows: the rows that a screen holds; and several feeds as one list.
use crate::bytes::{slice, Border, IdArray, Ids};
use crate::rows::Row;
use crate::{sys, Error, Feed, Snapshot};
use std::ptr::{from_ref, null, null_mut};

/// Where a window opens.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// The first row: the window follows the head until [`Window::look`] names a row.
    Head,
    /// This post; `Status::NotFound` if the feed lacks it.
    Post(&'a [u8]),
    /// The first of these that the feed holds, else the head: what [`Window::nearest`] gave once.
    Nearest(&'a [Vec<u8>]),
    /// The first post whose key is this one or lower, else the last row: a date.
    Key(i64),
    /// The row of this rank, else the last row.
    Rank(u64),
}

/// What a window holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowInfo {
    /// It has no anchor and begins with the first row of the feed.
    pub is_following_head: bool,
    /// The commit that the rows show.
    pub generation: u64,
    /// Number of rows of the feed.
    pub row_count: u64,
    /// Number of rows above the window.
    pub rank: u64,
    /// Number of rows in it.
    pub count: u64,
    /// The index of the anchor among them.
    pub anchor: u64,
}

/// What changed in the rows of a window, as lists want it. The indices ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Remove these rows of the list, from the last to the first.
    pub removed: Vec<usize>,
    /// Insert these rows of the window, from the first to the last.
    pub inserted: Vec<usize>,
    /// Draw these rows of the window anew.
    pub updated: Vec<usize>,
}

/// Some consecutive rows of a feed around the one that the reader looks at, the anchor. It opens anywhere
/// ([`Snapshot::window`]) and keeps its place while rows come and go elsewhere. It keeps no snapshot open.
pub struct Window {
    c: *mut sys::quire_window,
}

// SAFETY: the functions are [one]: one thread at a time, any.
unsafe impl Send for Window {}

impl Snapshot<'_> {
    /// A window over the rows that the snapshot sees: the row that it opens at, and rows above and below it.
    pub fn window(&self, feed: &Feed, start: Start<'_>, above: u32, below: u32) -> Result<Window, Error> {
        let post;
        let ids = match start {
            Start::Post(id) => {
                post = [id];
                IdArray::new(&post)
            }
            Start::Nearest(ids) => IdArray::new(ids),
            _ => IdArray::new::<&[u8]>(&[]),
        };
        let mut c = sys::quire_window_start { ids: ids.c(), above, below, ..sys::quire_window_start::EMPTY };
        match start {
            Start::Head => c.kind = sys::QUIRE_START_HEAD,
            Start::Post(_) => c.kind = sys::QUIRE_START_POST,
            Start::Nearest(_) => c.kind = sys::QUIRE_START_NEAREST,
            Start::Key(key) => (c.kind, c.key) = (sys::QUIRE_START_KEY, key),
            Start::Rank(rank) => (c.kind, c.rank) = (sys::QUIRE_START_RANK, rank),
        }
        let mut window = null_mut();
        // SAFETY: the arguments live until the call returns; so does every argument in this file.
        Error::check(unsafe { sys::quire_window_open(self.c(), feed.c(), &c, &mut window) })?;
        Ok(Window { c: window })
    }
}

impl Window {
    /// What the window holds.
    pub fn info(&self) -> Result<WindowInfo, Error> {
        let mut c = sys::quire_window_info::EMPTY;
        // SAFETY: see `Snapshot::window`.
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

    /// The reader looks at the row with this index; `None` follows the head. [`update`](Self::update) reads the
    /// rows.
    pub fn look(&mut self, index: Option<u64>, above: u32, below: u32) -> Result<(), Error> {
        // SAFETY: see `Snapshot::window`.
        Error::check(unsafe { sys::quire_window_look(self.c, index.unwrap_or(u64::MAX), above, below) })
    }

    /// Follows the feed to the commit that the snapshot sees.
    pub fn update(&mut self, snapshot: &Snapshot<'_>) -> Result<Difference, Error> {
        let mut c = sys::quire_difference::EMPTY;
        // SAFETY: see `Snapshot::window`; the lists live as long as the snapshot, and are copied.
        unsafe {
            Error::check(sys::quire_window_update(self.c, snapshot.c(), &mut c))?;
            let copy = |list, count| slice(list, count).iter().map(|at: &u64| *at as usize).collect();
            Ok(Difference {
                removed: copy(c.removed, c.removed_count),
                inserted: copy(c.inserted, c.inserted_count),
                updated: copy(c.updated, c.updated_count),
            })
        }
    }

    /// The rows from an index on. `Status::Resync` if the snapshot sees another commit than the window shows.
    pub fn rows<'s>(&self, snapshot: &'s Snapshot<'_>, index: u64) -> Result<Vec<Row<'s>>, Error> {
        let (window, capacity) = (self.c, self.info()?.count as usize);
        read(capacity, |rows, count| {
            // SAFETY: there is room for `capacity` rows.
            unsafe { sys::quire_window_read(window, snapshot.c(), index, rows, capacity, count) }
        })
    }

    /// The ids of its posts, nearest to the anchor first: stored, they are a place to open at
    /// ([`Start::Nearest`]).
    pub fn nearest(&self) -> Result<Vec<Vec<u8>>, Error> {
        let mut list = sys::quire_list::EMPTY;
        // SAFETY: see `Snapshot::window`; the ids are copied before the list is freed.
        unsafe {
            Error::check(sys::quire_window_nearest(self.c, &mut list))?;
            let ids = Ids::new(sys::quire_ids { items: list.items, count: list.count });
            let copies = ids.iter().map(<[u8]>::to_vec).collect();
            sys::quire_list_free(&mut list);
            Ok(copies)
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { sys::quire_window_close(self.c) }
    }
}

/// Reads up to `capacity` rows. What they point to lives as long as the snapshot that is borrowed for `'s`.
pub(crate) fn read<'s>(
    capacity: usize, fill: impl FnOnce(*mut sys::quire_row, &mut usize) -> sys::quire_status,
) -> Result<Vec<Row<'s>>, Error> {
    let (mut rows, mut count) = (Vec::with_capacity(capacity), 0);
    Error::check(fill(rows.as_mut_ptr(), &mut count))?;
    // SAFETY: the C API wrote `count` rows, at most `capacity`, for which there is room.
    unsafe {
        rows.set_len(count.min(capacity));
        Ok(rows.into_iter().map(|row| Row::new(row)).collect())
    }
}

/// A row of several feeds read as one list.
#[derive(Clone, Copy, Debug)]
pub enum MergedRow<'s> {
    /// A post of the feed with this index.
    Post(crate::PostRow<'s>, usize),
    /// That feed has a gap here, so all that follows is preliminary.
    Gap(crate::GapRow<'s>, usize),
    /// Posts may come on top of that feed.
    Head(Border<'s>, usize),
    /// That feed goes on below.
    Tail(Border<'s>, usize),
}

/// Several feeds as one list, highest key first: [`Snapshot::merge`].
pub struct Merge<'s> {
    c: *mut sys::quire_merge,
    _snapshot: &'s Snapshot<'s>,
}

impl Snapshot<'_> {
    /// Begins a list of several feeds, at the top or at a key. None twice, all ordered by keys.
    pub fn merge(&self, feeds: &[&Feed], key: Option<i64>) -> Result<Merge<'_>, Error> {
        let handles: Vec<_> = feeds.iter().map(|feed| feed.c()).collect();
        let key = key.as_ref().map_or(null(), from_ref);
        let mut merge = null_mut();
        // SAFETY: see `window`.
        Error::check(unsafe {
            sys::quire_merge_begin(self.c(), handles.as_ptr(), handles.len(), key, &mut merge)
        })?;
        Ok(Merge { c: merge, _snapshot: self })
    }
}

impl<'s> Merge<'s> {
    /// Up to `limit` rows. It stops behind a frontier, which is any row but a post; the next call goes on
    /// below. None at the end.
    pub fn read(&mut self, limit: usize) -> Result<Vec<MergedRow<'s>>, Error> {
        let (mut rows, mut sources, mut count) = (Vec::with_capacity(limit), vec![0u32; limit], 0);
        // SAFETY: there is room for `limit` rows, of which the C API writes `count`; what they point to lives as
        // long as the snapshot, which is borrowed for 's.
        unsafe {
            Error::check(sys::quire_merge_read(
                self.c,
                rows.as_mut_ptr(),
                sources.as_mut_ptr(),
                limit,
                &mut count,
            ))?;
            rows.set_len(count.min(limit));
            let merged = rows.into_iter().zip(sources).map(|(row, source): (sys::quire_row, u32)| {
                let source = source as usize;
                match row.kind {
                    sys::QUIRE_ROW_HEAD => MergedRow::Head(Border::new(row.up), source),
                    sys::QUIRE_ROW_TAIL => MergedRow::Tail(Border::new(row.down), source),
                    _ => match Row::new(row) {
                        Row::Post(post) => MergedRow::Post(post, source),
                        Row::Gap(gap) => MergedRow::Gap(gap, source),
                    },
                }
            });
            Ok(merged.collect())
        }
    }
}

impl Drop for Merge<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { sys::quire_merge_end(self.c) }
    }
}
