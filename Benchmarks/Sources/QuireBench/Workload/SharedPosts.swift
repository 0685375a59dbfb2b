/// Which posts of other feeds a feed has taken, so that it never takes one twice. Sized once: it must
/// not grow while the memory of an engine is measured.
struct SharedPosts {
    private var slots: [UInt64]
    private var count = 0

    init(expecting number: Int) {
        var size = 1_024
        while size < number * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
    }

    /// False if the feed has taken it before, or if there is no room to remember it.
    mutating func insert(_ serial: UInt64, in feed: Int) -> Bool {
        if count * 4 >= slots.count * 3 { return false }
        let tag = (UInt64(feed + 1) << 40) | serial
        var at = Int(truncatingIfNeeded: mixed(tag)) & (slots.count - 1)
        while slots[at] != 0 {
            if slots[at] == tag { return false }
            at = (at + 1) & (slots.count - 1)
        }
        slots[at] = tag
        count += 1
        return true
    }
}
