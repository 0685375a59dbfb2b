import Foundation
import Quire
import QuireDumps

/// The exit status of a command, as in sysexits.h.
enum ExitStatus: Int32 {
    case ok = 0
    case findings = 1
    case usage = 64
    case data = 65
    case noInput = 66
    case cannotCreate = 73
    case io = 74
    case temporary = 75
    /// The shell's status after Ctrl-C.
    case interrupted = 130

    init(_ error: QuireError) {
        self =
            switch error.code {
            case .badArgument, .optionsDiffer: .usage
            case .notFound, .notACache, .newerFormat, .corrupt, .unclean: .data
            case .noPermission: .noInput
            case .wouldDeadlock, .closed, .busy, .snapshotExpired, .snapshotsOpen: .temporary
            case .diskFull: .io
            case .io: [EAGAIN, EBUSY, EMFILE, ENFILE, ENOMEM].contains(error.osError) ? .temporary : .io
            }
    }

    init(_ error: DumpError) {
        self = error.kind == .noInput ? .noInput : .data
    }
}

/// Stops a command: one line for stderr, and the exit status.
struct Failure: Error {
    let status: ExitStatus
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
