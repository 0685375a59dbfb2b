/// The body record that was read last: neighbours mostly share one.
struct BodyRecordCursor {
    private let transaction: Transaction
    private var number: UInt64 = 0
    private var payload = 0
    private var hashes = UnsafeRawBufferPointer(start: nil, count: 0)
    private var isThere = false
    /// The index of the hash that was found last.
    private var next = 0

    init(_ transaction: Transaction) { self.transaction = transaction }

    private mutating func open(_ number: UInt64) throws(QuireError) {
        if number == self.number { return }
        (self.number, isThere, next) = (number, false, 0)
        guard let value = try transaction.get(.bodies, NumberKey(newestFirst: number)),
            let contents = BodyStore.contents(value)
        else { return }
        (isThere, payload, hashes) = (true, contents.payload, contents.hashes)
    }

    /// Returns what is wrong with a post's reference to its body, or nil. A body record lists the hashes of
    /// its posts, because rewriting the record finds them by these.
    mutating func damage(
        of body: BodyReference, for address: PostAddress
    ) throws(QuireError) -> (code: Finding.Code, what: String)? {
        try open(body.record)
        if !isThere { return (.missing, "body record \(body.record)") }
        if Int(body.offset) + Int(body.length) > payload {
            return (.body, "body record \(body.record) ends before its body")
        }
        return names(address.hash) ? nil : (.body, "body record \(body.record) does not name it")
    }

    private mutating func names(_ hash: UInt64) -> Bool {
        let count = hashes.count / 8
        for step in 0..<count {
            let at = next + step < count ? next + step : next + step - count
            let named = hashes.loadUnaligned(fromByteOffset: at * 8, as: UInt64.self)
            if UInt64(littleEndian: named) == hash {
                next = at + 1 < count ? at + 1 : 0
                return true
            }
        }
        return false
    }
}
