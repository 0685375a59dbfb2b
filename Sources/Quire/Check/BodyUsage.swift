/// Counts the bytes of each body record that entries show. Memory bounds the number of records, newest first.
/// The rest takes another tally, and another look at all entries.
final class BodyUsage {
    private let transaction: Transaction
    /// The numbers descend.
    private var numbers: [UInt64] = []
    private var sums: [Int] = []
    /// Entries of a page mostly refer to one record.
    private var recent = 0
    private let isAll: Bool

    /// The first `limit` records with numbers below this one; nil is of all.
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

    /// The number below which records are left; nil if there are none.
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

    /// Calls `body` with each record and how many bytes of it were seen.
    func forEach(_ body: (UInt64, Int, UnsafeRawBufferPointer) throws -> Void) throws {
        for (number, sum) in zip(numbers, sums) {
            if let value = try transaction.get(.bodies, NumberKey(newestFirst: number)) {
                try body(number, sum, value)
            }
        }
    }
}
