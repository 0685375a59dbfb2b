//! Many writes in one commit.
use crate::error::Error;
use crate::{sys, Cache};
use std::any::Any;
use std::ffi::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// A commit in the making. Only the closure of [`Cache::batch`] gets one. It belongs to one thread, so it is
/// neither `Send` nor `Sync`.
///
/// ```compile_fail,E0277
/// # fn f(batch: &quire::Batch, feed: &quire::Feed) {
/// std::thread::scope(|scope| { scope.spawn(|| feed.reset(Some(batch))); });
/// # }
/// ```
pub struct Batch {
    c: *mut sys::quire_batch,
}

/// The batch as the C API takes it; `None` is a commit of its own.
pub(crate) fn c(batch: Option<&Batch>) -> *mut sys::quire_batch {
    batch.map_or(std::ptr::null_mut(), |batch| batch.c)
}

struct State<F, T, E> {
    write: F,
    result: Option<Result<T, E>>,
    panic: Option<Box<dyn Any + Send>>,
}

impl Cache {
    /// Runs the closure inside a write transaction; only one process at a time has one. Commits if the closure
    /// returns `Ok`. Undoes all of it if the closure returns `Err` or panics. Keep batches to 16 to 64 pages.
    ///
    /// The closure may be called a second time: then the first call was undone, because the file had to grow or
    /// another writer that shared its commit failed. Writes may return `Status::Again` before that; pass it on
    /// with `?`. Do not wait in the closure for the writes of another thread.
    pub fn batch<T, E, F>(&self, write: F) -> Result<T, E>
    where
        E: From<Error>,
        F: FnMut(&Batch) -> Result<T, E>,
    {
        let mut state = State { write, result: None, panic: None };
        let context: *mut State<F, T, E> = &mut state;
        // SAFETY: the callback is called before this returns, on this thread, with this context.
        let code = unsafe { sys::quire_batch_run(self.c(), call::<T, E, F>, context.cast()) };
        if let Some(panic) = state.panic {
            resume_unwind(panic);
        }
        match state.result {
            Some(Err(error)) => Err(error),
            Some(Ok(value)) if code == sys::QUIRE_OK => Ok(value),
            _ => Err(Error::last(code).into()),
        }
    }
}

/// # Safety
/// `context` must be a `State<F, T, E>` with no other user.
unsafe extern "C" fn call<T, E, F>(context: *mut c_void, batch: *mut sys::quire_batch) -> sys::quire_status
where
    F: FnMut(&Batch) -> Result<T, E>,
{
    let state = &mut *context.cast::<State<F, T, E>>();
    let batch = Batch { c: batch };
    // AssertUnwindSafe: the panic goes on as soon as the C code has been left.
    let result = catch_unwind(AssertUnwindSafe(|| (state.write)(&batch)));
    // Anything but QUIRE_OK undoes the batch; the caller gets its own error, not this number.
    let code = if matches!(result, Ok(Ok(_))) { sys::QUIRE_OK } else { sys::QUIRE_BAD_ARGUMENT };
    (state.result, state.panic) = match result {
        Ok(result) => (Some(result), None),
        Err(panic) => (None, Some(panic)),
    };
    code
}
