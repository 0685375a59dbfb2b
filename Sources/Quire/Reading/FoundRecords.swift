/// Where body records were found. A post that several feeds hold has its body in the record of another page, so
/// a reader goes to and fro between records. A find displaces an older one in its slot.
struct FoundRecords {
    private struct Found {
        var number: UInt64 = 0
        /// The commit in which it was found. Records of one commit do not move.
        var commit: UInt64 = 0
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// 32 KB, as soon as a second record was found.
    private var slots: UnsafeMutablePointer<Found>?

    private static let count = 1024

    subscript(number: UInt64, commit: UInt64) -> UnsafeRawBufferPointer? {
        get {
            guard let slots else { return nil }
            let found = slots + Self.slot(number)
            return found.pointee.number == number && found.pointee.commit == commit ? found.pointee.bytes : nil
        }
        set {
            guard let newValue else { return }
            if slots == nil {
                slots = .allocate(capacity: Self.count)
                slots!.initialize(repeating: Found(), count: Self.count)
            }
            slots![Self.slot(number)] = Found(number: number, commit: commit, bytes: newValue)
        }
    }

    private static func slot(_ number: UInt64) -> Int { Int(truncatingIfNeeded: number) & (count - 1) }

    mutating func free() {
        slots?.deallocate()
        slots = nil
    }
}
