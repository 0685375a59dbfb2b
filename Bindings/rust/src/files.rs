//! Work on a cache that no process has open.
use crate::bytes::{slice, view};
use crate::cache::c_path;
use crate::error::static_name;
use crate::{sys, Cache, Error, Finding, Status};
use std::any::Any;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::Path;

/// What a repair found, kept and lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// Nothing was wrong, and nothing was done.
    pub is_sound: bool,
    /// Records that could not be read.
    pub damaged_records: u64,
    /// What is left of each feed.
    pub feeds: Vec<RepairedFeed>,
    /// Where the damaged file is now, if anything was changed.
    pub kept_file: Option<String>,
}

/// What a repair left of one feed; see `quire_repaired_feed`.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedFeed {
    pub name: String,
    pub posts: u64,
    pub lost_posts: u64,
    pub lost_bodies: u64,
    pub gaps: u64,
    pub new_gaps: u64,
    pub is_lost: bool,
}

impl RepairReport {
    /// # Safety
    /// `c` must have been filled by `quire_repair` and not freed.
    unsafe fn from_c(c: &sys::quire_repair_report) -> RepairReport {
        let text = |bytes| String::from_utf8_lossy(view(bytes)).into_owned();
        let feeds = slice(c.feeds, c.count).iter().map(|feed| RepairedFeed {
            name: text(feed.name),
            posts: feed.posts,
            lost_posts: feed.lost_posts,
            lost_bodies: feed.lost_bodies,
            gaps: feed.gaps,
            new_gaps: feed.new_gaps,
            is_lost: feed.is_lost != 0,
        });
        RepairReport {
            is_sound: c.is_sound != 0,
            damaged_records: c.damaged_records,
            feeds: feeds.collect(),
            kept_file: if c.kept_file.size == 0 { None } else { Some(text(c.kept_file)) },
        }
    }
}

/// The progress callback of an operation, and what became of it.
struct Teller<'a> {
    progress: &'a mut dyn FnMut(f64) -> ControlFlow<()>,
    is_stopped: bool,
    panic: Option<Box<dyn Any + Send>>,
}

impl<'a> Teller<'a> {
    fn new(progress: &'a mut dyn FnMut(f64) -> ControlFlow<()>) -> Self {
        Teller { progress, is_stopped: false, panic: None }
    }

    /// True if it was stopped.
    fn finish(self, status: i32) -> Result<bool, Error> {
        if let Some(panic) = self.panic {
            resume_unwind(panic);
        }
        if self.is_stopped {
            return Ok(true);
        }
        Error::check(status)?;
        Ok(false)
    }
}

/// # Safety
/// `context` must be a `Teller` with no other user.
unsafe extern "C" fn tell(context: *mut c_void, done: f64) -> i32 {
    let teller = &mut *context.cast::<Teller>();
    match catch_unwind(AssertUnwindSafe(|| (teller.progress)(done))) {
        Ok(ControlFlow::Continue(())) => return 0,
        Ok(ControlFlow::Break(())) => {}
        Err(panic) => teller.panic = Some(panic),
    }
    teller.is_stopped = true;
    1
}

/// The callbacks of a search for damage, and its findings so far.
pub(crate) struct Search<'a> {
    teller: Teller<'a>,
    findings: Vec<Finding>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(progress: &'a mut dyn FnMut(f64) -> ControlFlow<()>) -> Self {
        Search { teller: Teller::new(progress), findings: Vec::new() }
    }

    /// `None` if the callback ended the search.
    pub(crate) fn finish(self, status: i32) -> Result<Option<Vec<Finding>>, Error> {
        Ok(if self.teller.finish(status)? { None } else { Some(self.findings) })
    }
}

/// # Safety
/// `context` must be a `Search` with no other user.
pub(crate) unsafe extern "C" fn tell_search(context: *mut c_void, done: f64) -> i32 {
    let teller: *mut Teller = &mut (*context.cast::<Search>()).teller;
    tell(teller.cast(), done)
}

/// # Safety
/// `context` must be a `Search` with no other user, and `finding` valid. Allocates, which may abort but
/// not unwind.
pub(crate) unsafe extern "C" fn collect(context: *mut c_void, finding: *const sys::quire_finding) {
    let (search, finding) = (&mut *context.cast::<Search>(), &*finding);
    search.findings.push(Finding {
        name: static_name(sys::quire_finding_name(finding.code)),
        location: String::from_utf8_lossy(view(finding.location)).into_owned(),
        message: String::from_utf8_lossy(view(finding.message)).into_owned(),
    });
}

impl Cache {
    /// Tests a file that no program uses, without trust in any byte of it. The file is safe to open if the
    /// result is empty. Stops after `limit` findings (0 is 100).
    pub fn verify(path: impl AsRef<Path>, limit: usize) -> Result<Vec<Finding>, Error> {
        let findings = Cache::verify_with(path, limit, &mut |_| ControlFlow::Continue(()))?;
        findings.ok_or_else(|| Error::new(Status::BadArgument, "the search was stopped"))
    }

    /// The same. `progress` receives numbers from 0 to 1. The result is `None` if `progress` ended the work.
    pub fn verify_with(
        path: impl AsRef<Path>, limit: usize, progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Finding>>, Error> {
        let path = c_path(path.as_ref())?;
        let mut search = Search::new(progress);
        let context: *mut Search = &mut search;
        let mut count = 0;
        // SAFETY: the callbacks are called before this returns, on this thread, with this context.
        let status = unsafe {
            let (found, tell) = (Some(collect as _), Some(tell_search as _));
            sys::quire_verify(path.as_ptr(), limit, found, tell, context.cast(), &mut count)
        };
        search.finish(status)
    }

    /// Repairs a damaged file, and keeps the damaged one beside it; see `quire_repair`.
    pub fn repair(path: impl AsRef<Path>, dry_run: bool) -> Result<RepairReport, Error> {
        let report = Cache::repair_with(path, dry_run, &mut |_| ControlFlow::Continue(()))?;
        report.ok_or_else(|| Error::new(Status::BadArgument, "the repair was stopped"))
    }

    /// The same. `progress` receives numbers from 0 to 1. If it ends the work, the result is `None` and nothing
    /// has changed.
    pub fn repair_with(
        path: impl AsRef<Path>, dry_run: bool, progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<RepairReport>, Error> {
        let path = c_path(path.as_ref())?;
        let flags = if dry_run { sys::QUIRE_REPAIR_DRY_RUN } else { 0 };
        // SAFETY: a struct of numbers and pointers may be zero.
        let mut c: sys::quire_repair_report = unsafe { std::mem::zeroed() };
        c.struct_size = std::mem::size_of::<sys::quire_repair_report>() as u32;
        let mut teller = Teller::new(progress);
        let context: *mut Teller = &mut teller;
        // SAFETY: the callback is called before this returns, on this thread, with this context.
        let status = unsafe { sys::quire_repair(path.as_ptr(), flags, Some(tell), context.cast(), &mut c) };
        if teller.finish(status)? {
            return Ok(None);
        }
        // SAFETY: the report's texts and feeds live until it is freed.
        let report = unsafe { RepairReport::from_c(&c) };
        // SAFETY: filled by `quire_repair`, and freed once.
        unsafe { sys::quire_repair_report_free(&mut c) };
        Ok(Some(report))
    }

    /// Rewrites the cache without free space and deleted bodies. No process may have it open. Returns the
    /// number of bytes by which the file became smaller.
    pub fn compact(path: impl AsRef<Path>) -> Result<u64, Error> {
        let freed = Cache::compact_with(path, &mut |_| ControlFlow::Continue(()))?;
        freed.ok_or_else(|| Error::new(Status::BadArgument, "the compaction was stopped"))
    }

    /// The same; `progress` is as for [`Cache::repair_with`].
    pub fn compact_with(
        path: impl AsRef<Path>, progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<u64>, Error> {
        let path = c_path(path.as_ref())?;
        let mut freed = 0;
        let mut teller = Teller::new(progress);
        let context: *mut Teller = &mut teller;
        // SAFETY: as for `repair_with`.
        let status = unsafe { sys::quire_compact(path.as_ptr(), Some(tell), context.cast(), &mut freed) };
        Ok(if teller.finish(status)? { None } else { Some(freed) })
    }
}
