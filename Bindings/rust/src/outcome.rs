//! The results of planning and writing.
use crate::bytes::{view, Ids, Link};
use crate::error::{numbers, static_name};
use crate::{sys, Sizes};

numbers! {
    /// Why no request is possible at a place (`QUIRE_REFUSAL_...`).
    Refusal {
        Empty = QUIRE_REFUSAL_EMPTY, End = QUIRE_REFUSAL_END, Closed = QUIRE_REFUSAL_CLOSED,
        NoLink = QUIRE_REFUSAL_NO_LINK, NoSuchGap = QUIRE_REFUSAL_NO_SUCH_GAP,
        FillFirst = QUIRE_REFUSAL_FILL_FIRST, Unsupported = QUIRE_REFUSAL_UNSUPPORTED,
        NoSuchJoin = QUIRE_REFUSAL_NO_SUCH_JOIN,
    }
}

numbers! {
    /// The next step after an answer that changed no posts, or if no request is possible (`QUIRE_HELP_...`).
    Help {
        Retry = QUIRE_HELP_RETRY, PlanAgain = QUIRE_HELP_PLAN_AGAIN, Refresh = QUIRE_HELP_REFRESH,
        FillFirst = QUIRE_HELP_FILL_FIRST, Reset = QUIRE_HELP_RESET,
        CheckOptions = QUIRE_HELP_CHECK_OPTIONS, LookAgain = QUIRE_HELP_LOOK_AGAIN,
    }
}

impl Help {
    fn new(number: i32) -> Option<Self> {
        (number != 0).then(|| number.into())
    }

    /// The name, such as "plan-again".
    pub fn name(self) -> &'static str {
        // SAFETY: takes any number.
        static_name(unsafe { sys::quire_help_name(self.into()) })
    }
}

impl Refusal {
    /// The name, such as "no-link".
    pub fn name(self) -> &'static str {
        // SAFETY: takes any number.
        static_name(unsafe { sys::quire_refusal_name(self.into()) })
    }
}

numbers! {
    /// The verdict on an answer (`QUIRE_VERDICT_...`).
    Verdict {
        Ok = QUIRE_VERDICT_OK, Joined = QUIRE_VERDICT_JOINED, Gap = QUIRE_VERDICT_GAP,
        ConfirmEnd = QUIRE_VERDICT_CONFIRM_END, Drift = QUIRE_VERDICT_DRIFT,
        Replan = QUIRE_VERDICT_REPLAN, Error = QUIRE_VERDICT_ERROR, Stale = QUIRE_VERDICT_STALE,
        Contradiction = QUIRE_VERDICT_CONTRADICTION, Discontinuity = QUIRE_VERDICT_DISCONTINUITY,
        NoProgress = QUIRE_VERDICT_NO_PROGRESS, Empty = QUIRE_VERDICT_EMPTY,
        EmptyConfirm = QUIRE_VERDICT_EMPTY_CONFIRM, Island = QUIRE_VERDICT_ISLAND,
    }
}

impl Verdict {
    /// The name, such as "no-progress".
    pub fn name(self) -> &'static str {
        // SAFETY: takes any number.
        static_name(unsafe { sys::quire_verdict_name(self.into()) })
    }
}

numbers! {
    /// The result of joining two ids of one post (`QUIRE_ALIAS_...`).
    Alias {
        United = QUIRE_ALIAS_UNITED, Noted = QUIRE_ALIAS_NOTED, Same = QUIRE_ALIAS_SAME,
        Missing = QUIRE_ALIAS_MISSING,
    }
}

numbers! {
    /// The result of an update (`QUIRE_UPDATE_...`).
    Update {
        Changed = QUIRE_UPDATE_CHANGED, Same = QUIRE_UPDATE_SAME, Stale = QUIRE_UPDATE_STALE,
        Missing = QUIRE_UPDATE_MISSING,
    }
}

/// The request to send to the server.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug)]
pub enum Ask<'a> {
    /// No request is possible. This is not an error.
    Nothing(Refusal),
    /// Follow this link. Send the number of posts if the server takes one.
    Link { link: Link<'a>, limit: u64 },
    /// `limit` rows from row `position` on; 0 is the first. If `limit` is 0, send no size.
    Position { position: u64, limit: u64 },
    /// The page with this number, if a page has `limit` rows. If `limit` is 0, send no size.
    Page { number: u64, limit: u64 },
    /// A page around this post.
    Around { target: &'a [u8], limit: u64 },
    /// The list of all ids.
    Snapshot,
    /// The bodies of these posts.
    Bodies(Ids<'a>),
    /// The changes since the answer that brought this token.
    Delta { since: &'a [u8] },
    /// A kind that this version does not know.
    Other(i32),
}

/// A planned request, and the ticket for its answer.
pub struct Request {
    pub(crate) c: sys::quire_request,
}

// SAFETY: quire_request_free() is [one]: one thread at a time, but any thread. The struct owns its
// memory and has no other tie to a thread.
unsafe impl Send for Request {}

impl Request {
    pub(crate) const EMPTY: Request = Request { c: sys::quire_request::EMPTY };

    /// The request, or why none is possible.
    pub fn ask(&self) -> Ask<'_> {
        let (position, limit) = (self.c.position, self.c.limit);
        // SAFETY: the contents of a request live until it is freed, and `self` frees it last.
        unsafe {
            match self.c.kind {
                sys::QUIRE_REQUEST_NONE => Ask::Nothing(self.c.refusal.into()),
                sys::QUIRE_REQUEST_LINK => Ask::Link { link: Link::new(self.c.link), limit },
                sys::QUIRE_REQUEST_POSITION => Ask::Position { position, limit },
                sys::QUIRE_REQUEST_PAGE => Ask::Page { number: position, limit },
                sys::QUIRE_REQUEST_AROUND => Ask::Around { target: view(self.c.link.text), limit },
                sys::QUIRE_REQUEST_SNAPSHOT => Ask::Snapshot,
                sys::QUIRE_REQUEST_BODIES => Ask::Bodies(Ids::new(self.c.ids)),
                sys::QUIRE_REQUEST_DELTA => Ask::Delta { since: view(self.c.link.text) },
                other => Ask::Other(other),
            }
        }
    }

    /// The ticket with which the answer must be ingested. It outlives this value, and the process.
    pub fn ticket(&self) -> u64 {
        self.c.ticket
    }

    /// The next step after the refusal.
    pub fn help(&self) -> Option<Help> {
        Help::new(self.c.help)
    }

    /// The answer starts above the post at the border, not directly beyond it.
    pub fn is_overlapping(&self) -> bool {
        self.c.is_overlapping != 0
    }

    /// Bounded requests stop at this post. The end that such an answer claims is the end of the range.
    pub fn until(&self) -> Option<&[u8]> {
        // SAFETY: as in `ask`.
        Some(unsafe { view(self.c.until) }).filter(|id| !id.is_empty())
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // SAFETY: owned, and freed once.
        unsafe { sys::quire_request_free(&mut self.c) }
    }
}

/// The result of an ingest.
pub struct Outcome {
    pub(crate) c: sys::quire_outcome,
}

// SAFETY: as for Request.
unsafe impl Send for Outcome {}

macro_rules! lists {
    ($($(#[$note:meta])* $name:ident),* $(,)?) => { $(
        $(#[$note])*
        pub fn $name(&self) -> Ids<'_> {
            // SAFETY: the contents of an outcome live until it is freed, and `self` frees it last.
            unsafe { Ids::new(self.c.$name) }
        }
    )* };
}

impl Outcome {
    pub(crate) const EMPTY: Outcome = Outcome { c: sys::quire_outcome::EMPTY };

    /// The verdict on the answer.
    pub fn verdict(&self) -> Verdict {
        self.c.verdict.into()
    }

    /// The answer left the cache exactly as it was.
    pub fn is_unchanged(&self) -> bool {
        self.c.is_unchanged != 0
    }

    /// The next step, if the answer changed no posts.
    pub fn help(&self) -> Option<Help> {
        Help::new(self.c.help)
    }

    /// The feed's sizes, if this answer disproved them. From then on they are learned.
    pub fn disproved_sizes(&self) -> Option<Sizes> {
        Some(Sizes::new(self.c.disproved_sizes, self.c.disproved_rows))
            .filter(|sizes| *sizes != Sizes::Unknown)
    }

    /// Number of the page stored.
    pub fn page(&self) -> Option<u64> {
        Some(self.c.page).filter(|page| *page != 0)
    }

    /// Posts that the page had twice.
    pub fn duplicates_in_page(&self) -> u64 {
        self.c.duplicates_in_page
    }

    /// Rows without an id.
    pub fn opaque_rows(&self) -> u64 {
        self.c.opaque_rows
    }

    /// Gaps that the answer closed.
    pub fn gaps_closed(&self) -> u64 {
        self.c.gaps_closed
    }

    /// Gaps that the answer opened.
    pub fn gaps_opened(&self) -> u64 {
        self.c.gaps_opened
    }

    /// Posts, known before in any feed, whose stored body this answer replaced.
    pub fn updated(&self) -> u64 {
        self.c.updated
    }

    /// `Verdict::Stale`: "used", "other-feed", "reset", "edge-changed", "feed-changed",
    /// "sizes-changed", "repeated", "no-such-gap"; else empty.
    pub fn reason(&self) -> &str {
        // SAFETY: as for the lists.
        std::str::from_utf8(unsafe { view(self.c.reason) }).unwrap_or("not UTF-8")
    }

    lists! {
        /// Posts the feed did not have, in the order of the page.
        added,
        /// Posts of the page that the feed had already.
        duplicates,
        /// Posts that left their old place.
        moved,
        /// Posts that left the feed.
        removed,
        /// Posts that stay although the answer's range lacks them.
        kept,
        /// Ranked feeds: posts pushed below the page.
        displaced,
        /// Posts of the page that were not placed.
        ignored,
        /// Sticky posts that the page showed.
        sticky,
        /// Known posts in an order that the feed's order class forbids: evidence that the server does not keep it.
        disorder,
        /// Received posts that are neither cached afterwards nor in another of these lists.
        unplaced,
    }
}

impl Drop for Outcome {
    fn drop(&mut self) {
        // SAFETY: owned, and freed once.
        unsafe { sys::quire_outcome_free(&mut self.c) }
    }
}
