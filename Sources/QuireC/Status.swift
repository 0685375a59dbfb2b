import CQuire
import Quire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The reason for a failed call, as C sees it.
package struct Failure: Error {
    let status: quire_status
    let message: String
    var osError: Int32 = 0

    package init(_ status: Int, _ message: String) {
        (self.status, self.message) = (quire_status(status), message)
    }

    package init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as QuireError:
            self.init(Self.number(of: error.code), error.message)
            osError = error.osError
        default:  // the map is full: `Cache.batch` grows it and runs again
            self.init(QUIRE_AGAIN, "the file must grow; the batch will run again")
        }
    }

    private static func number(of code: QuireError.Code) -> Int {
        switch code {
        case .badArgument: QUIRE_BAD_ARGUMENT
        case .notFound: QUIRE_NOT_FOUND
        case .optionsDiffer: QUIRE_OPTIONS_DIFFER
        case .notACache: QUIRE_NOT_A_CACHE
        case .newerFormat: QUIRE_NEWER_FORMAT
        case .corrupt: QUIRE_CORRUPT
        case .diskFull: QUIRE_DISK_FULL
        case .noPermission: QUIRE_NO_PERMISSION
        case .io: QUIRE_IO
        case .wouldDeadlock: QUIRE_WOULD_DEADLOCK
        case .busy: QUIRE_BUSY
        case .snapshotExpired: QUIRE_SNAPSHOT_EXPIRED
        case .snapshotsOpen: QUIRE_SNAPSHOTS_OPEN
        case .closed: QUIRE_FORKED
        case .unclean: QUIRE_UNCLEAN
        }
    }
}

/// Runs the work of one C function and lets no Swift error leave it. `outs` is true if all out parameters are
/// there and have been zeroed.
package func attempt(_ outs: Bool = true, _ work: () throws -> Void) -> quire_status {
    do {
        if Process.isForked {
            throw Failure(QUIRE_FORKED, "the cache was opened by the parent process")
        }
        if !outs {
            throw Failure(
                QUIRE_BAD_ARGUMENT,
                "an out parameter is NULL or misaligned, or its struct_size is not set")
        }
        try work()
        return quire_status(QUIRE_OK)
    } catch let abandoned as Abandoned {
        return abandoned.status
    } catch {
        let failure = Failure(error)
        LastError.set(failure)
        return failure.status
    }
}

/// The last failure of each thread.
package enum LastError {
    static let byteLimit = 1023

    private struct Record {
        var status: quire_status
        var osError: Int32
        // the message follows, with its NUL
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { free($0) }
        return key
    }()

    private static var record: UnsafeMutableRawPointer? { pthread_getspecific(key) }

    static func set(_ failure: Failure) {
        let header = MemoryLayout<Record>.size
        guard let record = record ?? malloc(header + byteLimit + 1) else { return }
        pthread_setspecific(key, record)
        record.storeBytes(of: Record(status: failure.status, osError: failure.osError), as: Record.self)
        let text = record + header
        var count = 0
        for scalar in failure.message.unicodeScalars {
            // a hostile id must not write control sequences into a log
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            let bytes = UTF8.encode(isControl ? "?" : scalar)!
            if count + bytes.count > byteLimit { break }
            for byte in bytes {
                text.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
                count += 1
            }
        }
        text.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    }

    package static func get(_ out: inout quire_error) {
        guard let record else { return }
        let header = record.load(as: Record.self)
        (out.status, out.os_error) = (header.status, header.osError)
        let text = record + MemoryLayout<Record>.size
        out.message = UnsafePointer(text.assumingMemoryBound(to: CChar.self))
    }
}
