/// Counts the bytes of each body record that entries show. Memory limits the number of records, newest first.
/// The rest needs another tally and another pass over all entries.
final class BodyUsage {
    private let transaction: Transaction
    /// The record numbers, descending.
    private var numbers: [UInt64] = []
    private var sums: [Int] = []
    /// The index used last, since the entries of a page mostly refer to one record.
    private var recent = 0
    private let isAll: Bool

    /// Starts a tally of the first `limit` records with numbers below this one; nil starts at the newest.
    init(_ transaction: Transaction, below number: UInt64?, atMost limit: Int) throws {
        self.transaction = transaction
        var numbers: [UInt64] = []
        isAll = try transaction.withCursor(.bodies) { cursor in
            var found = try number.map { try cursor.seek(NumberKey(newestFirst: $0 - 1)) } ?? cursor.first()
            while let (key, _) = found, numbers.count < limit {
                if let number = NumberKey(key)?.newestFirst { numbers.append(number) }
                found = try cursor.next()
            }
            return found == nil
        }
        self.numbers = numbers
        sums = Array(repeating: 0, count: numbers.count)
    }

    /// The number below which further records remain; nil if there are none.
    var last: UInt64? { isAll || numbers.last == 0 ? nil : numbers.last }

    func add(_ bytes: Int, of number: UInt64) {
        if recent >= numbers.count || numbers[recent] != number {
            var (low, high) = (0, numbers.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[middle] > number { low = middle + 1 } else { high = middle }
            }
            guard low < numbers.count, numbers[low] == number else { return }
            recent = low
        }
        sums[recent] += bytes
    }

    /// Calls `body` with each record and the number of its bytes in use.
    func forEach(_ body: (UInt64, Int, UnsafeRawBufferPointer) throws -> Void) throws {
        for (number, sum) in zip(numbers, sums) {
            if let value = try transaction.get(.bodies, NumberKey(newestFirst: number)) {
                try body(number, sum, value)
            }
        }
    }
}
