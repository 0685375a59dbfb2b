// Why a write is tried again. MapFull and Undone, which lower rooms throw, are two more reasons.

/// A signal came while the commit waited for the disk: nothing of it is there. Never leaves `Environment`.
struct Interrupted: Error {
    let reason: QuireError
}

/// LMDB wants to be opened again; never leaves `Environment`.
struct GaveUp: Error, @unchecked Sendable {
    // @unchecked: the handle is only compared, never used.
    let handle: OpaquePointer
}
