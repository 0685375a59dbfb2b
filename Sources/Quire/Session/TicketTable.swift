/// The tickets that may still be answered. New ones are written at the end of the session, because most
/// tickets of a batch are answered in the same batch and never stored.
struct TicketTable {
    private let transaction: Transaction
    private var fresh: [UInt32: [UInt64: TicketRecord]] = [:]

    /// How many tickets a feed keeps. An answer to an older one is stale.
    static let limit = 256

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// Returns the tickets of a feed, oldest first.
    func all(of feed: UInt32) throws -> [TicketRecord] {
        var all: [TicketRecord] = []
        let fresh = fresh[feed] ?? [:]
        try transaction.withCursor(.tickets(of: feed)) { cursor in
            var found = try cursor.first()
            while let (key, value) = found, let key = NumberKey(key) {
                if fresh[key.number] == nil {
                    all.append(try TicketRecord(value, "ticket \(key.number)"))
                }
                found = try cursor.next()
            }
        }
        if fresh.isEmpty { return all }
        return (all + fresh.values).sorted { $0.number < $1.number }
    }

    func record(_ ticket: Ticket, of feed: UInt32) throws(QuireError) -> TicketRecord? {
        if let record = fresh[feed]?[ticket.number] { return record }
        let key = NumberKey(ticket.number)
        guard let value = try transaction.get(.tickets(of: feed), key) else { return nil }
        return try TicketRecord(value, "ticket \(ticket.number)")
    }

    mutating func put(_ record: TicketRecord, of feed: UInt32) {
        fresh[feed, default: [:]][record.number] = record
    }

    mutating func remove(_ ticket: Ticket, of feed: UInt32) throws {
        fresh[feed]?[ticket.number] = nil
        let key = NumberKey(ticket.number)
        if try transaction.get(.tickets(of: feed), key) != nil {
            try transaction.delete(.tickets(of: feed), key)
        }
    }

    /// Forgets the new tickets of a feed that will be removed. Those stored are removed with it.
    mutating func removeAll(of feed: UInt32) { fresh[feed] = nil }

    /// Keeps a new ticket and removes the oldest ones beyond the limit.
    mutating func issue(_ record: TicketRecord, in feed: UInt32, amongst all: [TicketRecord]) throws {
        put(record, of: feed)
        for old in all.dropLast(Self.limit - 1) { try remove(Ticket(old.number), of: feed) }
    }

    /// Writes the new tickets.
    func store() throws {
        for (feed, records) in fresh {
            for (number, record) in records {
                try transaction.put(.tickets(of: feed), NumberKey(number), record.encoded())
            }
        }
    }
}
