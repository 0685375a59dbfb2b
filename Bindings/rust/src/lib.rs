//! Quire, an embedded cache for paged feeds. The manual is `quire.h`; this crate adds ownership,
//! lifetimes and iterators to it, and no behaviour of its own.
//!
//! ```
//! use quire::{Answer, Cache, Link, Place, Post, Row};
//!
//! # fn main() -> Result<(), quire::Error> {
//! # let path = std::env::temp_dir().join(format!("quire-doc-{}.quire", std::process::id()));
//! let cache = Cache::open(&path)?;
//! let feed = cache.feed("timeline")?;
//!
//! let request = feed.plan(None, &Place::head())?; // what to ask, and a ticket
//! let answer = Answer::new([Post::new("17", "hello"), Post::new("16", "world")])
//!     .next(Link::token("page=2")); // what the server said
//! let outcome = feed.ingest(None, request.ticket(), &answer)?;
//! assert_eq!(outcome.added().len(), 2);
//!
//! let snapshot = cache.snapshot()?; // read what is cached
//! for row in snapshot.rows(&feed) {
//!     match row? {
//!         Row::Post(post) => println!("{} bytes", post.body.len()),
//!         Row::Gap(gap) => println!("posts may be missing here: gap {}", gap.gap),
//!     }
//! }
//! # drop(snapshot);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(()) }
//! ```
//!
//! What is borrowed from a [`Snapshot`], a [`Request`] or an [`Outcome`] cannot outlive it; what is put
//! into an [`Answer`] must outlive that. "Not found", a timeout and a lost change log are values, not
//! errors. Types are `Send` and `Sync` as far as the thread tags in `quire.h` allow.
#![warn(missing_docs)]

mod answer;
mod batch;
mod bytes;
mod cache;
mod error;
mod feed;
mod files;
mod options;
mod outcome;
#[cfg(feature = "profiles")]
pub mod profiles;
mod rows;
mod snapshot;
#[allow(missing_docs)]
#[rustfmt::skip] // written by generate-sys
pub mod sys;
mod view;
mod window;

pub use answer::{Answer, Place, Post};
pub use batch::Batch;
pub use bytes::{Border, Id, Ids, Link, Order, Paging};
pub use cache::{Cache, CheckLevel, Evictions, Finding, Statistics};
pub use error::{Error, Status};
pub use feed::{Crawl, Feed};
pub use files::{RepairReport, RepairedFeed};
pub use options::{Budget, CacheOptions, FeedOptions, Limits, PrunePolicy, Pruned, Sizes};
pub use outcome::{Alias, Ask, Help, Outcome, Refusal, Request, Update, Verdict};
pub use rows::{
    Change, ChangeKind, Changes, Doubt, GapRow, Page, Pages, Position, PostRow, Row, RowName, Rows, SCREENFUL,
};
pub use snapshot::{FeedInfo, PostInfo, Snapshot};
pub use view::{View, ViewEntry, ViewInfo, ViewOrder, ViewSection};
pub use window::{Difference, Merge, MergedRow, Start, Window, WindowInfo};

/// The version of the library that is running, such as "0.1.0".
pub fn version() -> &'static str {
    // SAFETY: takes nothing, and its text lives for ever.
    error::static_name(unsafe { sys::quire_version_string() })
}

/// The examples in README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
