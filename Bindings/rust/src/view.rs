//! Views: a part of a feed that the cache keeps.
use crate::bytes::{to_c, view};
use crate::rows::{Position, PostRow, Row};
use crate::{sys, window, Error, Feed, Snapshot};
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{from_ref, null, null_mut};

/// How the posts of a view are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewOrder {
    /// As in the feed, whose gaps are rows of the view.
    #[default]
    Feed,
    /// By section, key and id. A missing post may belong anywhere.
    Keys,
}

/// Where a view shows a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewEntry {
    /// The section that counts it: up to 48 bytes; the others are dropped.
    pub section: Vec<u8>,
    /// The place in a view ordered by keys: up to 96 bytes; the others do not count.
    pub key: Vec<u8>,
}

/// What a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewInfo {
    /// How its posts are ordered.
    pub order: ViewOrder,
    /// Of its function.
    pub version: u64,
    /// Number of its posts.
    pub posts: u64,
    /// It shows what its function says of each post of the feed.
    pub is_current: bool,
    /// No post is missing in the feed either, as far as the server has said what there is.
    pub is_complete: bool,
}

/// A section of a view. Borrows from the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewSection<'s> {
    /// What the function said.
    pub name: &'s [u8],
    /// Number of its posts.
    pub posts: u64,
    /// Number of posts in the sections before it; of a post, of those above it.
    pub rank: u64,
}

type Choose = dyn Fn(PostRow<'_>) -> Option<ViewEntry> + Send + Sync;

/// The posts of a feed that a function chooses, kept in the cache: `Docs/views.md`. It goes on being kept when
/// this is dropped, until the process closes the cache.
pub struct View {
    c: *mut sys::quire_view,
}

// SAFETY: a handle, which says nothing but a name; what reads it is guarded by the snapshot.
unsafe impl Send for View {}
// SAFETY: see above.
unsafe impl Sync for View {}

impl Feed {
    /// Opens a view, and makes it if there is none. Another function needs another version.
    ///
    /// The function gets id, key, flags and body of a post. It runs inside commits and checks, on any thread,
    /// must depend on nothing but the post, and must not use the cache. If it panics, the post is not shown.
    pub fn view(
        &self, name: &str, order: ViewOrder, version: u64,
        choose: impl Fn(PostRow<'_>) -> Option<ViewEntry> + Send + Sync + 'static,
    ) -> Result<View, Error> {
        let choose: Box<Box<Choose>> = Box::new(Box::new(choose));
        let options = sys::quire_view_options {
            order: match order {
                ViewOrder::Feed => sys::QUIRE_VIEW_FEED,
                ViewOrder::Keys => sys::QUIRE_VIEW_KEYS,
            },
            version,
            release: Some(release),
            ..sys::quire_view_options::EMPTY
        };
        let (name, context, mut c) = (to_c(name.as_bytes()), Box::into_raw(choose), null_mut());
        // SAFETY: the arguments live until the call returns; the context is released once, by `release`.
        Error::check(unsafe {
            sys::quire_view_open(self.c(), name, &options, call, context.cast(), &mut c)
        })?;
        Ok(View { c })
    }

    /// Opens a view for reading, even if another process keeps it; `None` if the feed has none of this name.
    pub fn find_view(&self, name: &str) -> Result<Option<View>, Error> {
        let mut c = null_mut();
        // SAFETY: the arguments live until the call returns; so does every argument in this file.
        let code = unsafe { sys::quire_view_find(self.c(), to_c(name.as_bytes()), &mut c) };
        Ok(Error::check_unless(sys::QUIRE_NOT_FOUND, code)?.then(|| View { c }))
    }

    /// Removes a view. False if the feed has none of this name.
    pub fn remove_view(&self, name: &str) -> Result<bool, Error> {
        let mut done = 0;
        // SAFETY: see `find_view`.
        Error::check(unsafe { sys::quire_view_remove(self.c(), to_c(name.as_bytes()), &mut done) })?;
        Ok(done != 0)
    }
}

thread_local! {
    /// What the library borrows until this thread asks again.
    static LENT: RefCell<ViewEntry> = RefCell::default();
}

/// # Safety
/// `context` must be that of `Feed::view`, `post` a post, `out` an entry.
unsafe extern "C" fn call(
    context: *mut c_void, post: *const sys::quire_row, out: *mut sys::quire_view_entry,
) -> i32 {
    let choose = &*context.cast::<Box<Choose>>();
    let Row::Post(post) = Row::new(*post) else { return 0 };
    let Ok(Some(entry)) = catch_unwind(AssertUnwindSafe(|| choose(post))) else { return 0 };
    LENT.with_borrow_mut(|lent| {
        *lent = entry;
        (*out).section = to_c(&lent.section);
        (*out).key = to_c(&lent.key);
    });
    1
}

/// # Safety
/// `context` must be that of `Feed::view`, and have no other user.
unsafe extern "C" fn release(context: *mut c_void) {
    drop(Box::from_raw(context.cast::<Box<Choose>>()));
}

impl View {
    /// What the view shows.
    pub fn info(&self, snapshot: &Snapshot<'_>) -> Result<ViewInfo, Error> {
        let mut c = sys::quire_view_info::EMPTY;
        // SAFETY: see `find_view`.
        Error::check(unsafe { sys::quire_view_get_info(snapshot.c(), self.c, &mut c) })?;
        Ok(ViewInfo {
            order: if c.order == sys::QUIRE_VIEW_KEYS { ViewOrder::Keys } else { ViewOrder::Feed },
            version: c.version,
            posts: c.posts,
            is_current: c.is_current != 0,
            is_complete: c.is_complete != 0,
        })
    }

    /// Up to `limit` rows: from the top, or below one that this snapshot has read of the view.
    pub fn rows<'s>(
        &self, snapshot: &'s Snapshot<'_>, after: Option<Position>, limit: usize,
    ) -> Result<Vec<Row<'s>>, Error> {
        let after = after.map(Position::c);
        let after = after.as_ref().map_or(null(), from_ref);
        window::read(limit, |rows, count| {
            // SAFETY: there is room for `limit` rows.
            unsafe { sys::quire_view_read_after(snapshot.c(), self.c, after, rows, limit, count) }
        })
    }

    /// Up to `limit` rows from the post on that has this many posts of the view above it.
    pub fn rows_from_rank<'s>(
        &self, snapshot: &'s Snapshot<'_>, rank: u64, limit: usize,
    ) -> Result<Vec<Row<'s>>, Error> {
        window::read(limit, |rows, count| {
            // SAFETY: there is room for `limit` rows.
            unsafe { sys::quire_view_read_from_rank(snapshot.c(), self.c, rank, rows, limit, count) }
        })
    }

    /// The section of a post, and its rank in the view, if the view shows it.
    pub fn place<'s>(
        &self, snapshot: &'s Snapshot<'_>, id: impl AsRef<[u8]>,
    ) -> Result<Option<ViewSection<'s>>, Error> {
        // SAFETY: zero is a value of numbers and nullable pointers; what they point to lives as long as the
        // snapshot, which stays borrowed.
        unsafe {
            let mut c: sys::quire_view_section = std::mem::zeroed();
            let code = sys::quire_view_find_post(snapshot.c(), self.c, to_c(id.as_ref()), &mut c);
            Ok(Error::check_unless(sys::QUIRE_NOT_FOUND, code)?.then(|| section(c)))
        }
    }

    /// Up to `limit` sections by their bytes, without the first `skip`.
    pub fn sections<'s>(
        &self, snapshot: &'s Snapshot<'_>, skip: u64, limit: usize,
    ) -> Result<Vec<ViewSection<'s>>, Error> {
        let (mut sections, mut count) = (Vec::with_capacity(limit), 0);
        // SAFETY: there is room for `limit` sections, of which the C API writes `count`; see `place`.
        unsafe {
            Error::check(sys::quire_view_sections(
                snapshot.c(),
                self.c,
                skip,
                sections.as_mut_ptr(),
                limit,
                &mut count,
            ))?;
            sections.set_len(count.min(limit));
            Ok(sections.into_iter().map(|c| section(c)).collect())
        }
    }
}

/// # Safety
/// The name must live and not change for `'s`.
unsafe fn section<'s>(c: sys::quire_view_section) -> ViewSection<'s> {
    ViewSection { name: view(c.name), posts: c.posts, rank: c.rank }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { sys::quire_view_close(self.c) }
    }
}
