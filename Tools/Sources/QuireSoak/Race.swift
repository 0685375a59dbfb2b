import Glibc

/// Two threads that increment the same number.
private struct Racers {
    var number = 0
    /// Keeps both threads alive at once and in turn, because ThreadSanitizer forgets a thread that has ended
    /// before the next begins.
    var start = pthread_barrier_t()
}

/// Runs a data race that a sanitizer must detect.
func race() -> Never {
    nonisolated(unsafe) let racers = UnsafeMutablePointer<Racers>.allocate(capacity: 1)
    racers.initialize(to: Racers())
    pthread_barrier_init(&racers.pointee.start, nil, 2)
    let count: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
        let racers = pointer!.assumingMemoryBound(to: Racers.self)
        pthread_barrier_wait(&racers.pointee.start)
        for _ in 0..<100 {
            for _ in 0..<1_000 { racers.pointee.number &+= 1 }
            usleep(1_000)
        }
        return nil
    }
    var threads = (pthread_t(), pthread_t())
    pthread_create(&threads.0, nil, count, racers)
    pthread_create(&threads.1, nil, count, racers)
    pthread_join(threads.0, nil)
    pthread_join(threads.1, nil)
    print("not stopped at \(racers.pointee.number)")
    exit(0)
}
