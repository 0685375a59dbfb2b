import CQuire
import Synchronization

/// A type of object that has handles in the C API.
package protocol Handle: AnyObject, Sendable {
    static var name: StaticString { get }
}

/// The table of live handles. A handle is not an address but a name: an index into this table, how often that
/// place had been used when the handle was created, and a mark that no pointer has. So any value from C can
/// be checked without touching memory, and a released handle, or garbage, causes an error status instead of a
/// crash.
///
///     bits 56-63  the mark
///     bits 24-55  uses of the place
///     bits  0-23  the place
package enum Handles {
    private struct Slot {
        var uses: UInt32 = 0
        var object: (any Handle)?
    }

    private struct Table {
        var places: [Slot] = []
        var free: [Int] = []
    }

    private static let table = Mutex(Table())
    private static let mark: UInt = 0x51

    package static func add(_ object: any Handle) throws(Failure) -> OpaquePointer {
        let bits = table.withLock { table -> UInt? in
            if table.free.isEmpty {
                if table.places.count == 1 << 24 { return nil }
                table.free.append(table.places.count)
                table.places.append(Slot())
            }
            let at = table.free.removeLast()
            table.places[at].uses &+= 1
            table.places[at].object = object
            return mark << 56 | UInt(table.places[at].uses) << 24 | UInt(at)
        }
        guard let bits, let handle = OpaquePointer(bitPattern: bits) else {
            throw Failure(QUIRE_BAD_ARGUMENT, "too many handles are open")
        }
        return handle
    }

    /// Returns the object of a handle. It stays alive while the caller uses it, even if the handle is
    /// released meanwhile.
    package static func object<T: Handle>(_ handle: OpaquePointer?, as: T.Type = T.self) throws(Failure) -> T
    {
        guard let handle else { throw Failure(QUIRE_BAD_HANDLE, "the \(T.name) is NULL") }
        let found = table.withLock { table in
            place(of: handle, in: table).flatMap { table.places[$0].object }
        }
        guard let found else {
            throw Failure(QUIRE_BAD_HANDLE, "the \(T.name) was released or is not valid")
        }
        guard type(of: found) == T.self else {
            throw Failure(QUIRE_BAD_HANDLE, "a \(type(of: found).name) is not a \(T.name)")
        }
        return unsafeDowncast(found, to: T.self)
    }

    /// Removes a handle of this type; ignores anything else.
    package static func release<T: Handle>(_ handle: OpaquePointer?, as: T.Type) {
        guard let handle, !Process.isForked else { return }
        // The object is released outside of the lock, because it may end a transaction or close the file.
        let released = table.withLock { table -> (any Handle)? in
            guard let at = place(of: handle, in: table),
                table.places[at].object.map({ type(of: $0) == T.self }) ?? false
            else { return nil }
            defer { table.places[at].object = nil }
            table.free.append(at)
            return table.places[at].object
        }
        _ = released
    }

    private static func place(of handle: OpaquePointer, in table: borrowing Table) -> Int? {
        let bits = UInt(bitPattern: handle)
        let at = Int(bits & 0xFF_FFFF)
        guard bits >> 56 == mark, at < table.places.count,
            UInt(table.places[at].uses) == bits >> 24 & 0xFFFF_FFFF
        else { return nil }
        return at
    }
}
