//! Responses to answers, by profile: a program needs no parser of its own. The manual is `quire_profiles.h`.
//!
//! ```
//! use quire::profiles::{Profile, Response};
//! use quire::{Cache, Place};
//!
//! # fn main() -> Result<(), quire::Error> {
//! # let path = std::env::temp_dir().join(format!("quire-profiles-{}.quire", std::process::id()));
//! let cache = Cache::open(&path)?;
//! let github = Profile::open("github")?;
//! let feed = cache.feed_with("issues", &github.feed_options()?)?;
//!
//! let request = feed.plan(None, &Place::head())?; // what to ask
//! let body = br#"[{"id": 12, "updated_at": "2024-01-02T03:04:05Z"}]"#; // what the server said
//! let headers = [("Link", "<https://api.github.com/repos/a/b/issues?page=2>; rel=\"next\"")];
//! let response = Response { body, status: 200, headers: &headers, ..Response::default() };
//! let parsed = github.parse(&response)?;
//! let outcome = feed.ingest(None, request.ticket(), &parsed.answer())?;
//! assert_eq!(outcome.added().len(), 1);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(()) }
//! ```
use crate::bytes::{slice, to_c, view};
use crate::error::numbers;
use crate::{sys, Answer, Error, FeedOptions, Link, Sizes, Status};
use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::time::Duration;

numbers! {
    /// What the request asked for, as far as its address or the response tells (`QUIRE_ASKED_...`).
    Asked {
        Unknown = QUIRE_ASKED_UNKNOWN, Head = QUIRE_ASKED_HEAD, Newer = QUIRE_ASKED_NEWER,
        Below = QUIRE_ASKED_BELOW, Above = QUIRE_ASKED_ABOVE, Around = QUIRE_ASKED_AROUND,
    }
}

fn check(code: sys::quire_status) -> Result<(), Error> {
    if code == sys::QUIRE_OK {
        return Ok(());
    }
    let mut last = sys::quire_error::EMPTY;
    // SAFETY: as in `Error::last`; this library has an error of its own.
    unsafe { sys::quire_profiles_last_error(&mut last) };
    let message = if last.message.is_null() {
        String::new()
    } else {
        // SAFETY: NUL-terminated, and valid until the next failure on this thread.
        unsafe { CStr::from_ptr(last.message) }.to_string_lossy().into_owned()
    };
    Err(Error { status: Status::from(code), os_error: last.os_error, message })
}

/// What is to be read from other places than the profile says. Empty texts change nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfileOptions<'a> {
    /// The path of the array of items, from the document.
    pub items: &'a str,
    /// The path of the id, from the item.
    pub id: &'a str,
    /// The path of the sort key, from the item.
    pub key: &'a str,
    /// The largest response, in bytes; 0 is 16 MiB.
    pub maximum_size: u64,
}

/// What a server sent. Borrows everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Response<'a> {
    /// The bytes of the document, or a recorded exchange.
    pub body: &'a [u8],
    /// The status of HTTP; 0 if it is not known. All but 200 to 299 are refused.
    pub status: i32,
    /// The address that was asked for; empty if it is not known.
    pub request: &'a str,
    /// The headers, such as `Link`. Without a header and a status they are not known: no end is taken from a missing
    /// `Link`.
    pub headers: &'a [(&'a str, &'a str)],
}

/// One profile, and a parser for it. Threads that share it take turns.
pub struct Profile {
    c: *mut sys::quire_profile,
}

// SAFETY: every function that takes a quire_profile is [any].
unsafe impl Send for Profile {}
// SAFETY: as above.
unsafe impl Sync for Profile {}

impl Drop for Profile {
    fn drop(&mut self) {
        // SAFETY: the handle is this one's.
        unsafe { sys::quire_profile_close(self.c) }
    }
}

/// The names of the profiles that come with the library.
pub fn names() -> Result<Vec<String>, Error> {
    let mut list = sys::quire_list::EMPTY;
    // SAFETY: the list lives until it is freed, after it was copied.
    unsafe {
        check(sys::quire_profile_names(&mut list))?;
        let items = slice(list.items, list.count);
        let names = items.iter().map(|name| String::from_utf8_lossy(view(*name)).into_owned()).collect();
        sys::quire_profile_names_free(&mut list);
        Ok(names)
    }
}

impl Profile {
    /// Opens a profile that comes with the library, by its name, or one as JSON.
    pub fn open(name_or_json: &str) -> Result<Profile, Error> {
        Profile::open_with(name_or_json, &ProfileOptions::default())
    }

    /// The same with options.
    pub fn open_with(name_or_json: &str, options: &ProfileOptions<'_>) -> Result<Profile, Error> {
        let options = sys::quire_profile_options {
            items: to_c(options.items.as_bytes()),
            id: to_c(options.id.as_bytes()),
            key: to_c(options.key.as_bytes()),
            maximum_size: options.maximum_size,
            ..sys::quire_profile_options::EMPTY
        };
        let mut profile = null_mut();
        // SAFETY: the arguments live until the call returns; so does every argument in this file.
        check(unsafe { sys::quire_profile_open(to_c(name_or_json.as_bytes()), &options, &mut profile) })?;
        Ok(Profile { c: profile })
    }

    /// The options for a feed of this API.
    pub fn feed_options(&self) -> Result<FeedOptions, Error> {
        let mut options = sys::quire_feed_options::EMPTY;
        // SAFETY: `options` knows its size.
        check(unsafe { sys::quire_profile_get_feed_options(self.c, &mut options) })?;
        Ok(FeedOptions {
            order: options.order.into(),
            paging: options.paging.into(),
            first_page: options.first_page,
            sizes: Sizes::new(options.sizes, options.rows_per_page),
            ..FeedOptions::default()
        })
    }

    /// Parses a response. `Status::BadResponse` if it is not what the profile describes; the sentence names the place.
    pub fn parse(&self, response: &Response<'_>) -> Result<Parsed, Error> {
        let field = |&(name, value): &(&str, &str)| sys::quire_field {
            name: to_c(str::as_bytes(name)),
            value: to_c(str::as_bytes(value)),
        };
        let headers: Vec<_> = response.headers.iter().map(field).collect();
        let given = sys::quire_response {
            status: response.status,
            body: to_c(response.body),
            request: to_c(response.request.as_bytes()),
            headers: if headers.is_empty() { null() } else { headers.as_ptr() },
            header_count: headers.len(),
            ..sys::quire_response::EMPTY
        };
        let mut parsed = Parsed { c: sys::quire_parsed::EMPTY };
        // SAFETY: `parsed` knows its size.
        check(unsafe { sys::quire_parse(self.c, &given, &mut parsed.c) })?;
        Ok(parsed)
    }
}

/// A parsed response. It owns what it shows.
pub struct Parsed {
    c: sys::quire_parsed,
}

// SAFETY: memory of its own, which is only read.
unsafe impl Send for Parsed {}

impl Drop for Parsed {
    fn drop(&mut self) {
        // SAFETY: an empty one owns nothing.
        unsafe { sys::quire_parsed_free(&mut self.c) }
    }
}

impl Parsed {
    fn number(&self, value: u64, flag: u32) -> Option<u64> {
        (self.c.flags & flag != 0).then_some(value)
    }

    /// For [`Feed::ingest`](crate::Feed::ingest) and its kin.
    pub fn answer(&self) -> Answer<'_> {
        // SAFETY: `parse` filled it, and it lives as long as `self`.
        unsafe { Answer::from_c(&*self.c.answer) }
    }

    /// Number of its posts.
    pub fn len(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.c.answer).count }
    }

    /// True if it has no posts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the request asked for.
    pub fn asked(&self) -> Asked {
        self.c.asked.into()
    }

    /// The post that the request named.
    pub fn asked_id(&self) -> &[u8] {
        // SAFETY: it lives as long as `self`.
        unsafe { view(self.c.asked_id) }
    }

    /// The link that led to this response.
    pub fn own(&self) -> Link<'_> {
        // SAFETY: as above.
        unsafe { Link::new(self.c.own) }
    }

    /// True if the end that a page without posts reports is not certain: perhaps the post is gone that the link of
    /// the request names. Call [`Feed::drop_link`](crate::Feed::drop_link); if the link is asked for again after that,
    /// and its page is empty again, it is the end.
    pub fn is_end_doubtful(&self) -> bool {
        self.c.flags & sys::QUIRE_PARSED_END_IS_DOUBTFUL != 0
    }

    /// The number of this page, as the server counts.
    pub fn page(&self) -> Option<u64> {
        self.number(self.c.page, sys::QUIRE_PARSED_HAS_PAGE)
    }

    /// The number of pages, as the server says.
    pub fn pages(&self) -> Option<u64> {
        self.number(self.c.pages, sys::QUIRE_PARSED_HAS_PAGES)
    }

    /// The number of posts, as the server says.
    pub fn total(&self) -> Option<u64> {
        self.number(self.c.total, sys::QUIRE_PARSED_HAS_TOTAL)
    }

    /// How long the server asks to wait before the next request.
    pub fn backoff(&self) -> Option<Duration> {
        self.number(self.c.backoff_ms, sys::QUIRE_PARSED_HAS_BACKOFF).map(Duration::from_millis)
    }

    /// How many requests the server still permits.
    pub fn quota(&self) -> Option<u64> {
        self.number(self.c.quota, sys::QUIRE_PARSED_HAS_QUOTA)
    }

    /// In how much time it permits new ones.
    pub fn quota_renewal(&self) -> Option<Duration> {
        self.number(self.c.quota_renewal_ms, sys::QUIRE_PARSED_HAS_QUOTA_RENEWAL).map(Duration::from_millis)
    }
}
