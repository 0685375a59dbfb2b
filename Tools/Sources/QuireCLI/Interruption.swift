import Foundation
import Synchronization

/// Handles Ctrl-C and SIGTERM: the first one ends the work at a safe point, the second one ends the tool.
enum Interruption {
    private static let signal = Atomic<Int32>(0)

    /// The signal received, or 0.
    static var received: Int32 { signal.load(ordering: .relaxed) }

    /// What was received, in words.
    static var name: String { received == SIGTERM ? "SIGTERM" : "Ctrl-C" }

    static func watch() {
        _ = received  // the handler must not be the one that creates the variable
        handle([SIGINT, SIGTERM], flags: Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_RESTART)) {
            Interruption.signal.store($0, ordering: .relaxed)
        }
    }

    /// Lets a function handle signals.
    static func handle(_ numbers: [Int32], flags: Int32 = 0, _ handler: @convention(c) (Int32) -> Void) {
        var watched = sigset_t()
        sigemptyset(&watched)
        for number in numbers {
            sigaddset(&watched, number)
            var action = sigaction()
            action.sa_flags = flags
            #if canImport(Darwin)
                action.__sigaction_u.__sa_handler = handler
            #else
                action.__sigaction_handler.sa_handler = handler
            #endif
            sigaction(number, &action, nil)
        }
        pthread_sigmask(SIG_UNBLOCK, &watched, nil)  // the parent process may have blocked them
    }
}
