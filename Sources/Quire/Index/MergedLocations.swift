/// Ordered locations, and room above them for those of older runs, which are merged in place, the newest run
/// first:
///
///     room room room room c e    newest    c e
///     room room a c d e          older     a d     from the room in front of what is there
///     a b c d e                  oldest    b c     its c gives way to the newer one
struct MergedLocations {
    private let all: UnsafeMutableBufferPointer<Location>
    private var range: Range<Int>
    /// True if one of them may say that its post is gone.
    private var hasGone = false

    /// `all` has room for the newest locations and those of all older runs.
    init(_ newest: [Location], in all: UnsafeMutableBufferPointer<Location>) {
        self.all = all
        range = all.count - newest.count..<all.count
        _ = UnsafeMutableBufferPointer(rebasing: all[range]).initialize(from: newest)
        for location in newest where location.position == Location.gone { hasGone = true }
    }

    var merged: UnsafeBufferPointer<Location> { UnsafeBufferPointer(rebasing: all[range]) }

    /// Merges with the locations of an older run. Of those of a post in a feed it keeps the newer one.
    mutating func add(older run: SortedRun) { add(run) { count, _ in count } }

    /// The same. What the run has in the ranges is gone. That is noted only for posts that may be in one of
    /// the still older runs: they could have been at another place of the feed before.
    mutating func add(older run: SortedRun, without gone: [GoneRange], unlessIn older: [SortedRun]) {
        add(run) { count, locations in
            var kept = 0
            for i in 0..<count {
                var location = locations[i]
                if gone.contains(location.position, of: location.feed) {
                    if !location.isLikely(in: older) { continue }
                    location.position = Location.gone
                }
                locations[kept] = location
                kept &+= 1
            }
            return kept
        }
    }

    /// `keep` gets a number of locations, keeps some of them, and returns how many.
    @inline(__always)
    private mutating func add(_ run: SortedRun, _ keep: (Int, UnsafeMutablePointer<Location>) -> Int) {
        if run.count == 0 { return }
        let start = range.lowerBound - run.count
        let newer = UnsafeBufferPointer(rebasing: all[range])
        let (target, step) = (all.baseAddress! + start, min(Self.step, run.slots))
        let total = withUnsafeTemporaryAllocation(of: Location.self, capacity: step) {
            Self.merge(newer, run, $0.baseAddress!, keep, &hasGone, into: target)
        }
        range = start..<start + total
    }

    /// Removes the locations of posts that are gone, except those that an older run may have.
    mutating func removeGone(unlessIn older: [SortedRun]) {
        if !hasGone { return }
        var end = range.lowerBound
        for i in range where all[i].position != Location.gone || all[i].isLikely(in: older) {
            all[end] = all[i]
            end += 1
        }
        range = range.lowerBound..<end
    }

    /// How many slots a merge reads at a time: a step stays in the processor's fastest cache.
    private static let step = 512

    /// Merges into the memory directly before `newer` and over it. What is written never reaches what was not
    /// read: there is room for the whole run.
    @inline(__always)
    private static func merge(
        _ newer: UnsafeBufferPointer<Location>, _ run: SortedRun, _ older: UnsafeMutablePointer<Location>,
        _ keep: (Int, UnsafeMutablePointer<Location>) -> Int, _ isGone: inout Bool,
        into merged: UnsafeMutablePointer<Location>
    ) -> Int {
        var (slot, left) = (0, run.count)
        var (a, total) = (0, 0)
        while slot < run.slots && left > 0 {
            // Which slots are empty cannot be predicted: each is copied, and then perhaps written over.
            let end = min(slot + step, run.slots)
            var found = 0
            while slot < end {
                let location = run.stored(slot)
                (older + found).initialize(to: location)
                found &+= location.feed != 0 ? 1 : 0
                isGone = isGone || location.position == Location.gone && location.feed != 0
                slot &+= 1
            }
            found = min(found, left)  // a damaged run may have more than it says
            left -= found
            found = keep(found, older)
            var b = 0
            while a < newer.count && b < found {
                // Nor can be predicted which one comes first; equal hashes are rare.
                var isOlder = older[b].hash < newer[a].hash
                if older[b].hash == newer[a].hash {
                    if newer[a].isSamePlace(as: older[b]) {
                        b &+= 1
                        continue
                    }
                    isOlder = older[b].precedes(newer[a])
                }
                let next = isOlder ? UnsafePointer(older + b) : newer.baseAddress! + a
                merged[total] = next.pointee
                b &+= isOlder ? 1 : 0
                a &+= isOlder ? 0 : 1
                total &+= 1
            }
            if b < found {
                (merged + total).update(from: older + b, count: found - b)
                total += found - b
            }
        }
        if a < newer.count {
            (merged + total).update(from: newer.baseAddress! + a, count: newer.count - a)
            total += newer.count - a
        }
        return total
    }
}

extension Location {
    /// Returns false if none of these runs has a location with the same hash.
    func isLikely(in runs: [SortedRun]) -> Bool {
        let bits = SortedRun.bits(hash)
        return runs.contains { $0.mayHave(hash, bits) }
    }
}
