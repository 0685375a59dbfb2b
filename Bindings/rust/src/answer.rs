//! What goes in: places to ask at, and what the server answered.
use crate::bytes::{to_c, Link};
use crate::sys;
use std::marker::PhantomData;

/// Where a page is asked for.
#[derive(Clone)]
pub struct Place<'a> {
    c: sys::quire_place,
    posts: Vec<sys::quire_bytes>,
    _texts: PhantomData<&'a [u8]>,
}

// SAFETY: numbers, and pointers that are shared slices borrowed for 'a.
unsafe impl Send for Place<'_> {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Place<'_> {}

impl<'a> Place<'a> {
    fn new(kind: i32, gap: u64, target: &'a [u8]) -> Self {
        let c = sys::quire_place { kind, gap, target: to_c(target), ..sys::quire_place::EMPTY };
        Place { c, posts: Vec::new(), _texts: PhantomData }
    }

    pub(crate) fn c(&self) -> sys::quire_place {
        let posts = sys::quire_ids { items: self.posts.as_ptr(), count: self.posts.len() };
        sys::quire_place { posts, ..self.c }
    }

    /// The first page: a refresh.
    pub fn head() -> Self {
        Place::new(sys::QUIRE_PLACE_HEAD, 0, b"")
    }

    /// Below the last post.
    pub fn tail() -> Self {
        Place::new(sys::QUIRE_PLACE_TAIL, 0, b"")
    }

    /// Below the post above a gap.
    pub fn gap(number: u64) -> Self {
        Place::new(sys::QUIRE_PLACE_GAP, number, b"")
    }

    /// Above the post below a gap.
    pub fn above_gap(number: u64) -> Self {
        Place::new(sys::QUIRE_PLACE_ABOVE_GAP, number, b"")
    }

    /// Above the first post of a feed whose head is open.
    pub fn open_head() -> Self {
        Place::new(sys::QUIRE_PLACE_OPEN_HEAD, 0, b"")
    }

    /// Around a post, wherever it is.
    pub fn around(target: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Place::new(sys::QUIRE_PLACE_AROUND, 0, target.as_ref())
    }

    /// Those of these posts whose bodies are missing, not full, or outdated, wherever they stand.
    pub fn bodies<T: AsRef<[u8]>>(posts: &'a [T]) -> Self {
        let posts = posts.iter().map(|id| to_c(id.as_ref())).collect();
        Place { posts, ..Place::new(sys::QUIRE_PLACE_BODIES, 0, b"") }
    }

    /// Feeds paged by number: the page with this number, wherever it belongs.
    pub fn page(number: u64) -> Self {
        let mut page = Place::new(sys::QUIRE_PLACE_PAGE, 0, b"");
        page.c.page = number;
        page
    }

    /// The join above this post, if only the numbering claims it: asks for the page above it again.
    pub fn join(below: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Place::new(sys::QUIRE_PLACE_JOIN, 0, below.as_ref())
    }

    /// What has changed since the newest token that an answer brought.
    pub fn delta() -> Self {
        Place::new(sys::QUIRE_PLACE_DELTA, 0, b"")
    }

    /// How many posts to ask for; 0 is the feed's page size.
    pub fn limit(mut self, count: u32) -> Self {
        self.c.limit = count;
        self
    }

    /// Stop at the far side of the gap, or at the first cached post.
    pub fn bounded(mut self, is_bounded: bool) -> Self {
        self.c.is_bounded = is_bounded.into();
        self
    }

    /// For `head()`: the link to the first page, if the server gave one.
    pub fn link(mut self, link: Link<'a>) -> Self {
        self.c.link = link.c();
        self
    }
}

/// One post of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Post<'a> {
    /// Any bytes, 1 to 65,536 of them.
    pub id: &'a [u8],
    /// Any bytes, copied as they are; may be empty.
    pub body: &'a [u8],
    /// The server's sort key, larger is nearer to the head.
    pub key: Option<i64>,
    /// Which state of the post this is, larger is newer.
    pub version: Option<i64>,
    /// How much of the post the body holds; `None` is all. It never gives way to one of less detail.
    pub detail: Option<u8>,
}

impl<'a> Post<'a> {
    /// A post without key and version.
    pub fn new(id: &'a (impl AsRef<[u8]> + ?Sized), body: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Post { id: id.as_ref(), body: body.as_ref(), key: None, version: None, detail: None }
    }

    fn c(&self) -> sys::quire_post {
        let has_key = if self.key.is_some() { sys::QUIRE_POST_HAS_KEY } else { 0 };
        let has_version = if self.version.is_some() { sys::QUIRE_POST_HAS_VERSION } else { 0 };
        let has_detail = if self.detail.is_some() { sys::QUIRE_POST_HAS_DETAIL } else { 0 };
        sys::quire_post {
            id: to_c(self.id),
            body: to_c(self.body),
            key: self.key.unwrap_or(0),
            version: self.version.unwrap_or(0),
            flags: has_key | has_version | has_detail,
            detail: self.detail.map_or(0, u32::from),
        }
    }
}

/// What a server answered to one request, parsed but not yet judged. Borrows everything.
#[derive(Clone)]
pub struct Answer<'a> {
    c: sys::quire_answer,
    posts: Vec<sys::quire_post>,
    deleted: Vec<sys::quire_bytes>,
    _texts: PhantomData<&'a [u8]>,
}

// SAFETY: numbers, and pointers that are shared slices borrowed for 'a.
unsafe impl Send for Answer<'_> {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Answer<'_> {}

impl Default for Answer<'_> {
    fn default() -> Self {
        let post_size = std::mem::size_of::<sys::quire_post>() as u32;
        let c = sys::quire_answer { post_size, ..sys::quire_answer::EMPTY };
        Answer { c, posts: Vec::new(), deleted: Vec::new(), _texts: PhantomData }
    }
}

impl<'a> Answer<'a> {
    /// The posts, in the server's order.
    pub fn new(posts: impl IntoIterator<Item = Post<'a>>) -> Self {
        let posts = posts.into_iter().map(|post| post.c()).collect();
        Answer { posts, ..Answer::default() }
    }

    /// Rows without an id.
    pub fn opaque_rows(mut self, count: u64) -> Self {
        self.c.opaque_rows = count;
        self
    }

    /// What continues below the last post; `Link::End` only if the server said so.
    pub fn next(mut self, link: Link<'a>) -> Self {
        self.c.next = link.c();
        self
    }

    /// What continues above the first post.
    pub fn previous(mut self, link: Link<'a>) -> Self {
        self.c.previous = link.c();
        self
    }

    /// The number of rows of the whole list, if the server says it.
    pub fn total(mut self, rows: u64) -> Self {
        (self.c.has_total, self.c.total) = (1, rows);
        self
    }

    /// A later request with this token asks what has changed since this answer.
    pub fn since(mut self, token: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.c.since = to_c(token.as_ref());
        self
    }

    /// The answer to a delta: posts that are gone on the server.
    pub fn deleted<T: AsRef<[u8]>>(mut self, posts: &'a [T]) -> Self {
        self.deleted = posts.iter().map(|id| to_c(id.as_ref())).collect();
        self
    }

    /// When it was received, in milliseconds since 1970.
    pub fn fetched_at(mut self, time: i64) -> Self {
        self.c.fetched_at = time;
        self
    }

    /// # Safety
    /// What it points to must live and not change for `'a`.
    #[cfg(feature = "profiles")]
    pub(crate) unsafe fn from_c(c: &sys::quire_answer) -> Self {
        // A newer library knows more of it, and its posts lie further apart: the copy has what this crate knows.
        let first: *const u8 = c.posts.cast();
        let posts =
            (0..c.count).map(|i| *first.add(i * c.post_size as usize).cast::<sys::quire_post>()).collect();
        let deleted = crate::bytes::slice(c.deleted.items, c.deleted.count).to_vec();
        let mut c = *c;
        c.struct_size = std::mem::size_of::<sys::quire_answer>() as u32;
        c.post_size = std::mem::size_of::<sys::quire_post>() as u32;
        Answer { c, posts, deleted, _texts: PhantomData }
    }

    /// Valid while `self` is borrowed.
    pub(crate) fn c(&self) -> sys::quire_answer {
        let deleted = sys::quire_ids { items: self.deleted.as_ptr(), count: self.deleted.len() };
        sys::quire_answer { posts: self.posts.as_ptr(), count: self.posts.len(), deleted, ..self.c }
    }
}

#[cfg(all(test, feature = "profiles"))]
mod tests {
    use super::*;

    /// An answer as a newer library makes it: it is larger, and so are its posts. The copy is one of this crate.
    #[test]
    fn answers_of_a_newer_library() {
        #[repr(C)]
        struct Newer {
            known: sys::quire_post,
            more: u64,
        }
        let posts = ["first", "second"].map(|id| Newer { known: Post::new(id, "").c(), more: 7 });
        let mut c = Answer::default().c();
        c.struct_size += 64;
        c.post_size = std::mem::size_of::<Newer>() as u32;
        (c.posts, c.count) = (&posts[0].known, 2);
        // SAFETY: `posts` lives as long as the copy.
        let copy = unsafe { Answer::from_c(&c) };
        let made = copy.c();
        assert_eq!(made.struct_size as usize, std::mem::size_of::<sys::quire_answer>());
        assert_eq!(made.post_size as usize, std::mem::size_of::<sys::quire_post>());
        assert_eq!((copy.posts.len(), copy.posts[0].id.size, copy.posts[1].id.size), (2, 5, 6));
    }
}
