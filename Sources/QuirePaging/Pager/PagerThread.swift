import Dispatch

/// The thread of a pager. A commit waits for the disk and for other writers. On one of the few threads that
/// all tasks share, that would delay unrelated tasks.
final class PagerThread: SerialExecutor {
    private let queue = DispatchQueue(label: "quire.pager")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
