//! Rows, pages and changes, and the iterators that fetch a screenful per call.
use crate::bytes::{view, Border, Link};
use crate::error::{numbers, static_name};
use crate::{sys, Error, Feed, Snapshot};
use std::ptr::null;

/// How many rows or pages one call of the C API fetches.
pub const SCREENFUL: usize = 64;

/// Where a row stands in one snapshot. It means nothing in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position([u64; 2]);

impl Position {
    pub(crate) fn c(self) -> sys::quire_position {
        sys::quire_position { opaque: self.0 }
    }
}

numbers! {
    /// Why posts may be missing, or why nothing proves that one follows the other (`QUIRE_DOUBT_...`).
    Doubt {
        Unfetched = QUIRE_DOUBT_UNFETCHED, Evicted = QUIRE_DOUBT_EVICTED,
        EndInDoubt = QUIRE_DOUBT_END_IN_DOUBT, Jump = QUIRE_DOUBT_JUMP,
        MissingPage = QUIRE_DOUBT_MISSING_PAGE, Contradiction = QUIRE_DOUBT_CONTRADICTION,
        Drift = QUIRE_DOUBT_DRIFT, Numbering = QUIRE_DOUBT_NUMBERING, Disorder = QUIRE_DOUBT_DISORDER,
        Unplaced = QUIRE_DOUBT_UNPLACED, Missed = QUIRE_DOUBT_MISSED, Damage = QUIRE_DOUBT_DAMAGE,
    }
}

impl Doubt {
    /// The name, such as "missing-page".
    pub fn name(self) -> &'static str {
        // SAFETY: takes any number.
        static_name(unsafe { sys::quire_doubt_name(self.into()) })
    }
}

/// A row of a feed. Borrows from the snapshot.
#[derive(Clone, Copy, Debug)]
pub enum Row<'s> {
    /// A post.
    Post(PostRow<'s>),
    /// Posts may be missing here.
    Gap(GapRow<'s>),
}

/// A post in its place.
#[derive(Clone, Copy, Debug)]
pub struct PostRow<'s> {
    /// Where it stands.
    pub position: Position,
    /// The id.
    pub id: &'s [u8],
    /// The body as received, in the memory-mapped file.
    pub body: &'s [u8],
    /// The server's sort key.
    pub key: Option<i64>,
    /// Number of the page that last delivered it.
    pub page: Option<u64>,
    /// Not part of the server's sequence: a local post, a sticky one, a pinned one that left.
    pub is_detached: bool,
    /// Never evicted or removed by an answer.
    pub is_pinned: bool,
    /// Its place is known, its body is missing.
    pub is_placeholder: bool,
    /// A newer version was seen, but only with less detail: ask for its body (`Place::bodies`).
    pub is_outdated: bool,
    /// The body is not all of the post; `PostInfo::detail` says how much it is.
    pub is_partial: bool,
    /// Nothing proves that it follows the post above; `why` says what speaks against it.
    pub is_unverified: bool,
    /// The page above such a join was asked for again and ended there as before; see `Place::join`.
    pub is_checked: bool,
    /// Why nothing proves that it follows the post above.
    pub why: Option<Doubt>,
}

/// A gap in its place.
#[derive(Clone, Copy, Debug)]
pub struct GapRow<'s> {
    /// Where it stands.
    pub position: Position,
    /// Its number within the feed, never used again after it has closed.
    pub gap: u64,
    /// What continues below the post above.
    pub down: Border<'s>,
    /// What continues above the post below.
    pub up: Border<'s>,
    /// How many posts of the server's sequence the segment above has.
    pub posts_above: u64,
    /// Why it exists.
    pub why: Doubt,
    /// The clock of the change that opened it, larger is later.
    pub since: u64,
}

impl<'s> Row<'s> {
    /// # Safety
    /// What the row points to must live and not change for `'s`.
    pub(crate) unsafe fn new(c: sys::quire_row) -> Self {
        let position = Position(c.position.opaque);
        let has = |flag| c.flags & flag != 0;
        if c.kind == sys::QUIRE_ROW_GAP {
            let (down, up) = (Border::new(c.down), Border::new(c.up));
            let (why, since) = (c.why.into(), c.since);
            let posts_above = c.posts_above;
            return Row::Gap(GapRow { position, gap: c.gap, down, up, posts_above, why, since });
        }
        Row::Post(PostRow {
            position,
            id: view(c.id),
            body: view(c.body),
            key: has(sys::QUIRE_ROW_HAS_KEY).then_some(c.key),
            page: has(sys::QUIRE_ROW_HAS_PAGE).then_some(c.page),
            is_detached: has(sys::QUIRE_ROW_DETACHED),
            is_pinned: has(sys::QUIRE_ROW_PINNED),
            is_placeholder: has(sys::QUIRE_ROW_PLACEHOLDER),
            is_outdated: has(sys::QUIRE_ROW_OUTDATED),
            is_partial: has(sys::QUIRE_ROW_PARTIAL),
            is_unverified: has(sys::QUIRE_ROW_UNVERIFIED),
            is_checked: has(sys::QUIRE_ROW_CHECKED),
            why: has(sys::QUIRE_ROW_UNVERIFIED).then(|| c.why.into()),
        })
    }

    /// Where it stands.
    pub fn position(&self) -> Position {
        match self {
            Row::Post(post) => post.position,
            Row::Gap(gap) => gap.position,
        }
    }

    /// The post, if it is one.
    pub fn post(self) -> Option<PostRow<'s>> {
        if let Row::Post(post) = self {
            Some(post)
        } else {
            None
        }
    }
}

/// A page as stored: one accepted response. Borrows from the snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Page<'s> {
    /// Its number; counts up, never reused.
    pub number: u64,
    /// Its rank among the pages of the feed in this snapshot, 0 is the topmost.
    pub index: u64,
    /// The link that was requested.
    pub own: Link<'s>,
    /// The link that came with it downwards.
    pub next: Link<'s>,
    /// The link that came with it upwards.
    pub previous: Link<'s>,
    /// Posts received.
    pub received: u64,
    /// Posts that were new.
    pub added: u64,
    /// Posts that were known already.
    pub duplicates: u64,
    /// Posts repeated within the page.
    pub duplicates_in_page: u64,
    /// Posts it still has.
    pub posts: u64,
    /// When it was received, in milliseconds since 1970.
    pub fetched_at: i64,
    /// All of its posts were new.
    pub is_full: bool,
}

impl Page<'_> {
    /// # Safety
    /// What the page points to must live and not change for the lifetime.
    unsafe fn new(c: sys::quire_page) -> Self {
        Page {
            number: c.number,
            index: c.index,
            own: Link::new(c.own),
            next: Link::new(c.next),
            previous: Link::new(c.previous),
            received: c.received,
            added: c.added,
            duplicates: c.duplicates,
            duplicates_in_page: c.duplicates_in_page,
            posts: c.posts,
            fetched_at: c.fetched_at,
            is_full: c.is_full != 0,
        }
    }
}

/// What was fetched last, and how much of it was handed out.
struct Screen<C> {
    items: Vec<C>,
    at: usize,
    /// How many items the screens before had.
    done: usize,
    is_last: bool,
}

impl<C: Copy> Screen<C> {
    fn new() -> Self {
        Screen { items: Vec::new(), at: 0, done: 0, is_last: false }
    }

    /// The next item; `fetch` gets how many items came before and the last of them, and fills up to SCREENFUL.
    fn next(
        &mut self, fetch: impl FnOnce(usize, Option<&C>, *mut C, &mut usize) -> sys::quire_status,
    ) -> Option<Result<C, Error>> {
        if self.at == self.items.len() && !self.is_last {
            let last = self.items.last().copied();
            self.done += self.items.len();
            (self.items, self.at) = (Vec::with_capacity(SCREENFUL), 0);
            let mut count = 0;
            let code = fetch(self.done, last.as_ref(), self.items.as_mut_ptr(), &mut count);
            self.is_last = code != sys::QUIRE_OK || count < SCREENFUL;
            if let Err(error) = Error::check(code) {
                return Some(Err(error));
            }
            // SAFETY: the C API wrote `count` items, at most SCREENFUL, for which there is room.
            unsafe { self.items.set_len(count.min(SCREENFUL)) }
        }
        let item = *self.items.get(self.at)?;
        self.at += 1;
        Some(Ok(item))
    }
}

pub(crate) enum Direction {
    Down,
    Up,
    Gaps,
    FromRank(u64),
    Page(u64),
}

/// Rows of a feed, a screenful per call. Ends after the first error.
pub struct Rows<'s, 'f> {
    snapshot: &'s Snapshot<'s>,
    feed: &'f Feed,
    direction: Direction,
    start: Option<Position>,
    screen: Screen<sys::quire_row>,
}

impl<'s, 'f> Rows<'s, 'f> {
    pub(crate) fn new(
        snapshot: &'s Snapshot<'s>, feed: &'f Feed, direction: Direction, start: Option<Position>,
    ) -> Self {
        Rows { snapshot, feed, direction, start, screen: Screen::new() }
    }
}

impl<'s> Iterator for Rows<'s, '_> {
    type Item = Result<Row<'s>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (snapshot, feed) = (self.snapshot.c(), self.feed.c());
        let (start, direction) = (self.start, &self.direction);
        let row = self.screen.next(|done, last, rows, count| {
            let start = start.map(Position::c);
            let from = last.map(|row| row.position).or(start);
            let from = from.as_ref().map_or(null(), std::ptr::from_ref);
            // SAFETY: there is room for SCREENFUL rows.
            unsafe {
                match direction {
                    Direction::FromRank(rank) if from.is_null() => {
                        sys::quire_read_from_rank(snapshot, feed, *rank, rows, SCREENFUL, count)
                    }
                    Direction::Down | Direction::FromRank(_) => {
                        sys::quire_read_after(snapshot, feed, from, rows, SCREENFUL, count)
                    }
                    Direction::Up => sys::quire_read_before(snapshot, feed, from, rows, SCREENFUL, count),
                    Direction::Gaps => sys::quire_read_gaps(snapshot, feed, from, rows, SCREENFUL, count),
                    Direction::Page(number) => {
                        sys::quire_read_page(snapshot, feed, *number, done, rows, SCREENFUL, count)
                    }
                }
            }
        })?;
        // SAFETY: what a row points to lives as long as the snapshot, which is borrowed for 's.
        Some(row.map(|row| unsafe { Row::new(row) }))
    }
}

impl std::iter::FusedIterator for Rows<'_, '_> {}

/// Pages of a feed, a screenful per call. Ends after the first error.
pub struct Pages<'s, 'f> {
    snapshot: &'s Snapshot<'s>,
    feed: &'f Feed,
    index: u64,
    screen: Screen<sys::quire_page>,
}

impl<'s, 'f> Pages<'s, 'f> {
    pub(crate) fn new(snapshot: &'s Snapshot<'s>, feed: &'f Feed, index: u64) -> Self {
        Pages { snapshot, feed, index, screen: Screen::new() }
    }
}

impl<'s> Iterator for Pages<'s, '_> {
    type Item = Result<Page<'s>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (snapshot, feed, index) = (self.snapshot.c(), self.feed.c(), self.index);
        let page = self.screen.next(|done, _, pages, count| {
            let index = index.saturating_add(done as u64);
            // SAFETY: there is room for SCREENFUL pages.
            unsafe { sys::quire_read_pages(snapshot, feed, index, pages, SCREENFUL, count) }
        })?;
        // SAFETY: as for rows.
        Some(page.map(|page| unsafe { Page::new(page) }))
    }
}

impl std::iter::FusedIterator for Pages<'_, '_> {}

numbers! {
    /// What happened to a row (`QUIRE_CHANGE_...`).
    ChangeKind {
        Inserted = QUIRE_CHANGE_INSERTED, Removed = QUIRE_CHANGE_REMOVED,
        Updated = QUIRE_CHANGE_UPDATED, Reset = QUIRE_CHANGE_RESET,
    }
}

/// A row by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowName<'s> {
    /// The row of a reset, or the top of the feed.
    None,
    /// A post by its id.
    Post(&'s [u8]),
    /// A gap by its number.
    Gap(u64),
}

/// One difference between two states of a feed. Applied in order, they lead from one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'s> {
    /// The commit.
    pub generation: u64,
    /// The feed, by [`FeedInfo::number`](crate::FeedInfo::number).
    pub feed: u32,
    /// What happened.
    pub kind: ChangeKind,
    /// The row it happened to.
    pub row: RowName<'s>,
    /// Inserted: the row directly above.
    pub below: RowName<'s>,
}

/// Changes in a row, oldest first. Borrows from the snapshot.
#[derive(Clone)]
pub struct Changes<'s> {
    items: std::slice::Iter<'s, sys::quire_change>,
}

impl<'s> Changes<'s> {
    /// # Safety
    /// What the changes point to must live and not change for `'s`.
    pub(crate) unsafe fn new(items: &'s [sys::quire_change]) -> Self {
        Changes { items: items.iter() }
    }
}

impl<'s> Iterator for Changes<'s> {
    type Item = Change<'s>;

    fn next(&mut self) -> Option<Change<'s>> {
        let name = |kind, id, gap| match kind {
            // SAFETY: `new` promised it.
            sys::QUIRE_ROW_POST => RowName::Post(unsafe { view(id) }),
            sys::QUIRE_ROW_GAP => RowName::Gap(gap),
            _ => RowName::None,
        };
        self.items.next().map(|c| Change {
            generation: c.generation,
            feed: c.feed,
            kind: c.kind.into(),
            row: name(c.row_kind, c.id, c.gap),
            below: name(c.below_kind, c.below_id, c.below_gap),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl ExactSizeIterator for Changes<'_> {}
