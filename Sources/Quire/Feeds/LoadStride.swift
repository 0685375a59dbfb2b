/// How many chunks to load at the place where a rule stopped. It doubles as long as the rule goes on where
/// the last load ended: into the same run, or past a gap into the next one. A rule that stopped is run
/// again, so a walk through n chunks must not stop more than about log n times.
struct LoadStride {
    private var count = 2
    /// Where a rule stops that goes on in the same direction.
    private var place: UInt64?
    private var isDown = true

    mutating func next(from place: UInt64, isDown: Bool) -> Int {
        let goesOn = place == self.place && isDown == self.isDown
        count = goesOn ? min(count * 2, 1 << 20) : 2
        self.isDown = isDown
        return count
    }

    mutating func goesOn(at place: UInt64?) { self.place = place }
}
