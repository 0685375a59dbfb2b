//! Several feeds that are read as one list.
use crate::bytes::Border;
use crate::rows::{GapRow, PostRow, Row};
use crate::{sys, Error, Feed, Snapshot, SCREENFUL};
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

/// Several feeds read as one list, the highest key first: the timeline of all accounts.
///
/// A post is never above one that precedes it in its own feed. Of equal keys, that of the feed named first comes
/// first. A post that several of the feeds hold is shown once, where its key is highest.
pub struct Merge<'s> {
    c: *mut sys::quire_merge,
    _snapshot: PhantomData<&'s Snapshot<'s>>,
}

/// A row of the list, and the index of its feed among those that are merged.
#[derive(Clone, Copy, Debug)]
pub struct MergedRow<'s> {
    /// The index of its feed.
    pub source: usize,
    /// What stands there.
    pub kind: MergedKind<'s>,
}

/// A post, or a frontier: posts of a feed may be missing there, and such a post may belong above all that follows.
#[derive(Clone, Copy, Debug)]
pub enum MergedKind<'s> {
    /// A post.
    Post(PostRow<'s>),
    /// A gap of the feed.
    Gap(GapRow<'s>),
    /// Posts may be missing above the first one of the feed; this leads there.
    Head(Border<'s>),
    /// The feed goes on below its last post; this leads there.
    Tail(Border<'s>),
}

impl<'s> MergedRow<'s> {
    /// # Safety
    /// What the row points to must live and not change for `'s`.
    unsafe fn new(c: sys::quire_row, source: u32) -> Self {
        let kind = match c.kind {
            sys::QUIRE_ROW_HEAD => MergedKind::Head(Border::new(c.up)),
            sys::QUIRE_ROW_TAIL => MergedKind::Tail(Border::new(c.down)),
            _ => match Row::new(c) {
                Row::Post(post) => MergedKind::Post(post),
                Row::Gap(gap) => MergedKind::Gap(gap),
            },
        };
        MergedRow { source: source as usize, kind }
    }

    /// The post, if it is one and no frontier.
    pub fn post(self) -> Option<PostRow<'s>> {
        match self.kind {
            MergedKind::Post(post) => Some(post),
            _ => None,
        }
    }
}

impl<'s> Merge<'s> {
    /// Begins at the top, or with the rows of this key or a lower one. The feeds must be in the order of keys, and
    /// none may be named twice.
    pub fn begin(snapshot: &'s Snapshot<'_>, feeds: &[&Feed], from_key: Option<i64>) -> Result<Self, Error> {
        let feeds: Vec<_> = feeds.iter().map(|feed| feed.c()).collect();
        let from_key = from_key.as_ref().map_or(null(), std::ptr::from_ref);
        let mut merge = null_mut();
        // SAFETY: the arguments live until the call returns.
        Error::check(unsafe {
            sys::quire_merge_begin(snapshot.c(), feeds.as_ptr().cast(), feeds.len(), from_key, &mut merge)
        })?;
        Ok(Merge { c: merge, _snapshot: PhantomData })
    }

    /// The next rows, at most [`SCREENFUL`]. They end at a frontier; the next call goes on below it, for a program
    /// that wants that. Empty at the end of the list.
    pub fn read(&mut self) -> Result<Vec<MergedRow<'s>>, Error> {
        let (mut rows, mut sources) = (Vec::with_capacity(SCREENFUL), [0; SCREENFUL]);
        let mut count = 0;
        // SAFETY: there is room for SCREENFUL rows, of which the call fills `count`; what they point to lives as
        // long as the snapshot, which is borrowed for 's.
        unsafe {
            let items = rows.as_mut_ptr();
            Error::check(sys::quire_merge_read(self.c, items, sources.as_mut_ptr(), SCREENFUL, &mut count))?;
            rows.set_len(count.min(SCREENFUL));
            Ok(rows.into_iter().zip(sources).map(|(row, source)| MergedRow::new(row, source)).collect())
        }
    }
}

impl Drop for Merge<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, and released once; the rows stay valid.
        unsafe { sys::quire_merge_end(self.c) }
    }
}
