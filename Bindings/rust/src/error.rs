//! Why a call failed.
use crate::sys;
use std::ffi::CStr;

/// An enum over the numbers of the C API. A number that this version does not know is `Other`.
macro_rules! numbers {
    ($(#[$note:meta])* $name:ident { $($variant:ident = $number:ident),* $(,)? }) => {
        $(#[$note])*
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($variant,)* Other(i32) }

        impl From<i32> for $name {
            fn from(number: i32) -> Self {
                match number { $(sys::$number => Self::$variant,)* other => Self::Other(other) }
            }
        }

        impl From<$name> for i32 {
            fn from(value: $name) -> i32 {
                match value { $($name::$variant => sys::$number,)* $name::Other(number) => number }
            }
        }
    };
}
pub(crate) use numbers;

numbers! {
    /// What a call returned; the comments of `QUIRE_BAD_ARGUMENT` and so on say what each means.
    Status {
        Ok = QUIRE_OK, BadArgument = QUIRE_BAD_ARGUMENT, BadHandle = QUIRE_BAD_HANDLE,
        Forked = QUIRE_FORKED, NotFound = QUIRE_NOT_FOUND, OptionsDiffer = QUIRE_OPTIONS_DIFFER,
        NotACache = QUIRE_NOT_A_CACHE, NewerFormat = QUIRE_NEWER_FORMAT, Corrupt = QUIRE_CORRUPT,
        DiskFull = QUIRE_DISK_FULL, NoPermission = QUIRE_NO_PERMISSION, Io = QUIRE_IO,
        WouldDeadlock = QUIRE_WOULD_DEADLOCK, Timeout = QUIRE_TIMEOUT, Resync = QUIRE_RESYNC,
        Again = QUIRE_AGAIN, WrongThread = QUIRE_WRONG_THREAD, Busy = QUIRE_BUSY,
        SnapshotExpired = QUIRE_SNAPSHOT_EXPIRED, BadResponse = QUIRE_BAD_RESPONSE,
        Unclean = QUIRE_UNCLEAN, Unavailable = QUIRE_UNAVAILABLE, InDoubt = QUIRE_IN_DOUBT,
        Misconfigured = QUIRE_MISCONFIGURED, SnapshotsOpen = QUIRE_SNAPSHOTS_OPEN,
    }
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of failure it is.
    pub status: Status,
    /// The operating system's error number, 0 if it had none.
    pub os_error: i32,
    /// One English sentence that names the place.
    pub message: String,
}

impl Error {
    /// An error of the caller, with which a batch is given up.
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Error { status, os_error: 0, message: message.into() }
    }

    /// The error of the call that has just returned `code` on this thread.
    pub(crate) fn last(code: sys::quire_status) -> Self {
        let mut last = sys::quire_error::EMPTY;
        // SAFETY: `last` is a quire_error that knows its size. The message is valid until the next
        // failure on this thread, and copied before.
        unsafe {
            let has_message = sys::quire_last_error(&mut last) == sys::QUIRE_OK
                && last.status == code
                && !last.message.is_null();
            let message = if has_message { last.message } else { sys::quire_status_name(code) };
            Error {
                status: code.into(),
                os_error: if has_message { last.os_error } else { 0 },
                message: CStr::from_ptr(message).to_string_lossy().into_owned(),
            }
        }
    }

    pub(crate) fn check(code: sys::quire_status) -> Result<(), Error> {
        if code == sys::QUIRE_OK {
            Ok(())
        } else {
            Err(Error::last(code))
        }
    }

    /// The same for calls with a status that means "there is none".
    pub(crate) fn check_unless(none: i32, code: sys::quire_status) -> Result<bool, Error> {
        if code == none {
            Ok(false)
        } else {
            Error::check(code).map(|()| true)
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A name that the library never frees.
pub(crate) fn static_name(name: *const std::ffi::c_char) -> &'static str {
    // SAFETY: the C API's name functions return NUL-terminated texts that are never freed.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("unknown")
}
