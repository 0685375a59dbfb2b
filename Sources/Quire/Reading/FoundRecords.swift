/// Where body records were found. A post that several feeds hold has its body in the record of another page,
/// so a reader comes to some records again and again. The table grows with what is found; a find displaces an
/// older one in its slot.
struct FoundRecords {
    private struct Found {
        var number: UInt64 = 0
        /// The commit in which it was found. Records of one commit do not move.
        var commit: UInt64 = 0
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private var slots: UnsafeMutablePointer<Found>?
    /// The number of slots, a power of two.
    private var count = 0
    /// How many finds the slots have taken in.
    private var finds = 0

    private static let least = 64
    /// 256 KB.
    private static let most = 8192

    /// Returns the bytes of a record that was found in this commit.
    subscript(number: UInt64, commit: UInt64) -> UnsafeRawBufferPointer? {
        guard let slots else { return nil }
        let found = slots[slot(of: number)]
        return found.number == number && found.commit == commit ? found.bytes : nil
    }

    mutating func note(_ number: UInt64, _ commit: UInt64, _ bytes: UnsafeRawBufferPointer) {
        if finds == count && count < Self.most { grow(to: max(Self.least, 2 * count)) }
        finds += 1
        slots![slot(of: number)] = Found(number: number, commit: commit, bytes: bytes)
    }

    private func slot(of number: UInt64) -> Int { Int(truncatingIfNeeded: number) & (count - 1) }

    private mutating func grow(to count: Int) {
        let old = UnsafeMutableBufferPointer(start: slots, count: self.count)
        slots = .allocate(capacity: count)
        slots!.initialize(repeating: Found(), count: count)
        self.count = count
        for found in old where found.number != 0 { slots![slot(of: found.number)] = found }
        old.deallocate()
    }

    mutating func free() {
        slots?.deallocate()
        slots = nil
    }
}
