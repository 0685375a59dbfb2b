//! Borrowed bytes, and the links that are made of them.
use crate::error::numbers;
use crate::sys;
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;

/// # Safety
/// `data` must be NULL, or point to `count` values that live and do not change for `'a`.
pub(crate) unsafe fn slice<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if data.is_null() {
        &[]
    } else {
        std::slice::from_raw_parts(data, count)
    }
}

/// # Safety
/// The bytes must live and not change for `'a`.
pub(crate) unsafe fn view<'a>(bytes: sys::quire_bytes) -> &'a [u8] {
    slice(bytes.data.cast(), bytes.size)
}

pub(crate) fn to_c(bytes: &[u8]) -> sys::quire_bytes {
    sys::quire_bytes { data: bytes.as_ptr().cast(), size: bytes.len() }
}

/// Ids as an argument; borrows them.
pub(crate) struct IdArray<'a> {
    items: Vec<sys::quire_bytes>,
    _ids: PhantomData<&'a [u8]>,
}

impl<'a> IdArray<'a> {
    pub(crate) fn new<T: AsRef<[u8]>>(ids: &'a [T]) -> Self {
        IdArray { items: ids.iter().map(|id| to_c(id.as_ref())).collect(), _ids: PhantomData }
    }

    pub(crate) fn c(&self) -> sys::quire_ids {
        sys::quire_ids { items: self.items.as_ptr(), count: self.items.len() }
    }
}

/// Ids in a row, borrowed from a request, an outcome or a snapshot.
#[derive(Clone, Copy)]
pub struct Ids<'a> {
    items: &'a [sys::quire_bytes],
}

impl<'a> Ids<'a> {
    /// # Safety
    /// The array and what it points to must live and not change for `'a`.
    pub(crate) unsafe fn new(ids: sys::quire_ids) -> Self {
        Ids { items: slice(ids.items, ids.count) }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.items.len()
    }

    /// True if there are none.
    pub fn is_empty(self) -> bool {
        self.items.is_empty()
    }

    /// One by one, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        // SAFETY: `new` promised that the bytes live for 'a.
        self.items.iter().map(|id| unsafe { view(*id) })
    }
}

impl std::fmt::Debug for Ids<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(String::from_utf8_lossy)).finish()
    }
}

numbers! {
    /// The order class of a feed: what the server promises (`QUIRE_ORDER_...`).
    Order {
        Stable = QUIRE_ORDER_STABLE, Keyless = QUIRE_ORDER_KEYLESS, Bump = QUIRE_ORDER_BUMP,
        AppendOnly = QUIRE_ORDER_APPEND_ONLY, Ranked = QUIRE_ORDER_RANKED,
    }
}

numbers! {
    /// How the server hands out its pages (`QUIRE_PAGING_...`).
    Paging {
        Cursor = QUIRE_PAGING_CURSOR, Keyset = QUIRE_PAGING_KEYSET, Offset = QUIRE_PAGING_OFFSET,
        Page = QUIRE_PAGING_PAGE, Ids = QUIRE_PAGING_IDS, Pages = QUIRE_PAGING_PAGES,
    }
}

/// What is known about continuing at an open place of a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link<'a> {
    /// Nothing is known about what lies beyond.
    #[default]
    Unknown,
    /// The server said that nothing lies beyond.
    End,
    /// The server said "end" once although posts are cached below; ask again.
    ConfirmEnd,
    /// The request for the first page.
    Head,
    /// Feeds paged by offset or number: there is more, and its position is computed.
    More,
    /// The server's own words: a URL, a cursor. UTF-8 as an argument.
    Token(&'a [u8]),
    /// Keyset feeds: what lies below this post.
    Below(&'a [u8]),
    /// Keyset feeds: what lies above this post.
    Above(&'a [u8]),
    /// A kind that this version does not know.
    Other(i32),
}

impl<'a> Link<'a> {
    /// The server's own words.
    pub fn token(text: &'a str) -> Self {
        Link::Token(text.as_bytes())
    }

    pub(crate) fn c(self) -> sys::quire_link {
        let (kind, text): (i32, &[u8]) = match self {
            Link::Unknown => (sys::QUIRE_LINK_UNKNOWN, b""),
            Link::End => (sys::QUIRE_LINK_END, b""),
            Link::ConfirmEnd => (sys::QUIRE_LINK_CONFIRM_END, b""),
            Link::Head => (sys::QUIRE_LINK_HEAD, b""),
            Link::More => (sys::QUIRE_LINK_MORE, b""),
            Link::Token(text) => (sys::QUIRE_LINK_TOKEN, text),
            Link::Below(id) => (sys::QUIRE_LINK_BELOW, id),
            Link::Above(id) => (sys::QUIRE_LINK_ABOVE, id),
            Link::Other(kind) => (kind, b""),
        };
        sys::quire_link { kind, is_overlapping: 0, text: to_c(text) }
    }

    /// # Safety
    /// The text must live and not change for `'a`.
    pub(crate) unsafe fn new(c: sys::quire_link) -> Self {
        let text = view(c.text);
        match c.kind {
            sys::QUIRE_LINK_UNKNOWN => Link::Unknown,
            sys::QUIRE_LINK_END => Link::End,
            sys::QUIRE_LINK_CONFIRM_END => Link::ConfirmEnd,
            sys::QUIRE_LINK_HEAD => Link::Head,
            sys::QUIRE_LINK_MORE => Link::More,
            sys::QUIRE_LINK_TOKEN => Link::Token(text),
            sys::QUIRE_LINK_BELOW => Link::Below(text),
            sys::QUIRE_LINK_ABOVE => Link::Above(text),
            other => Link::Other(other),
        }
    }
}

/// What is known at a border of what is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border<'a> {
    /// What continues there.
    pub link: Link<'a>,
    /// The answer to the link starts above the post at the border, not directly beyond it.
    pub is_overlapping: bool,
}

impl Border<'_> {
    /// # Safety
    /// The text must live and not change for the lifetime.
    pub(crate) unsafe fn new(c: sys::quire_link) -> Self {
        Border { link: Link::new(c), is_overlapping: c.is_overlapping != 0 }
    }
}

/// The id of a post, lent by its row. The text of a number is made only by [`Id::bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Id<'s> {
    /// The decimal text of this number, as most ids are.
    Number(u64),
    /// Any other bytes.
    Text(&'s [u8]),
}

impl<'s> Id<'s> {
    /// The bytes of the id, as functions take them.
    pub fn bytes(self) -> Cow<'s, [u8]> {
        match self {
            Id::Number(number) => Cow::Owned(number.to_string().into_bytes()),
            Id::Text(text) => Cow::Borrowed(text),
        }
    }
}

/// As text for people: bytes that are not UTF-8 become U+FFFD.
impl Display for Id<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Id::Number(number) => number.fmt(formatter),
            Id::Text(text) => String::from_utf8_lossy(text).fmt(formatter),
        }
    }
}
