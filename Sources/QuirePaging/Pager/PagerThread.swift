import Dispatch

/// Where a pager runs. A commit waits for the disk and for other writers: on one of the few threads that all
/// tasks share, it would hold up tasks that have nothing to do with it.
final class PagerThread: SerialExecutor {
    private let queue = DispatchQueue(label: "quire.pager")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
