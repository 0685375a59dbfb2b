/// Reads bodies inside one transaction and remembers the last body record. The rows of a page share one, so a
/// page costs one descent of the B-tree instead of one for each post.
final class BodyReader {
    private let store: BodyStore
    private var number: UInt64 = 0
    private var record = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ transaction: Transaction) { store = BodyStore(transaction: transaction) }

    /// Returns the bytes of a body, valid as long as the transaction.
    func bytes(_ reference: BodyReference) throws(QuireError) -> UnsafeRawBufferPointer {
        if reference.record == 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
        if reference.record != number {
            record = try store.record(reference.record)
            number = reference.record
        }
        return try BodyStore.bytes(reference, in: record)
    }
}
