/// The tickets that may still be answered. New ones are written at the end of the session, because most
/// tickets of a batch are answered in the same batch and never stored.
struct TicketTable {
    private let transaction: Transaction
    /// New and changed tickets, by feed and number.
    private var fresh: [Fresh] = []
    /// The feed that was seen last to have no stored tickets: nothing stores any before the session ends.
    private var unstored: UInt32?

    private struct Fresh {
        let feed: UInt32
        var record: TicketRecord
        /// True if the table has an older record of it.
        let isStored: Bool
    }

    /// How many tickets a feed keeps. An answer to an older one is stale.
    static let limit = 256

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// Returns the tickets of a feed, oldest first.
    mutating func all(of feed: UInt32) throws -> [TicketRecord] {
        let stored = feed == unstored ? [] : try stored(of: feed)
        if stored.isEmpty { unstored = feed }
        let fresh = fresh[place(of: 0, in: feed)...].prefix { $0.feed == feed }
        if fresh.isEmpty { return stored }
        let old = stored.filter { !isFresh(Ticket($0.number), of: feed, place(of: $0.number, in: feed)) }
        return (old + fresh.map(\.record)).sorted { $0.number < $1.number }
    }

    private func stored(of feed: UInt32) throws -> [TicketRecord] {
        try transaction.withCursor(.tickets(of: feed)) { cursor in
            var stored: [TicketRecord] = []
            var found = try cursor.first()
            while let (key, value) = found, let key = NumberKey(key) {
                stored.append(try TicketRecord(value, "ticket \(key.number)"))
                found = try cursor.next()
            }
            return stored
        }
    }

    func record(_ ticket: Ticket, of feed: UInt32) throws(QuireError) -> TicketRecord? {
        let at = place(of: ticket.number, in: feed)
        if isFresh(ticket, of: feed, at) { return fresh[at].record }
        let key = NumberKey(ticket.number)
        guard let value = try transaction.get(.tickets(of: feed), key) else { return nil }
        return try TicketRecord(value, "ticket \(ticket.number)")
    }

    /// Replaces a ticket.
    mutating func replace(_ record: TicketRecord, of feed: UInt32) {
        let at = place(of: record.number, in: feed)
        if isFresh(Ticket(record.number), of: feed, at) {
            fresh[at].record = record
        } else {
            fresh.insert(Fresh(feed: feed, record: record, isStored: true), at: at)
        }
    }

    mutating func remove(_ ticket: Ticket, of feed: UInt32) throws {
        let at = place(of: ticket.number, in: feed)
        if isFresh(ticket, of: feed, at), !fresh.remove(at: at).isStored { return }
        try transaction.delete(.tickets(of: feed), NumberKey(ticket.number))
    }

    /// Forgets the new tickets of a feed that will be removed. Those stored are removed with it.
    mutating func removeAll(of feed: UInt32) { fresh.removeAll { $0.feed == feed } }

    /// Keeps a new ticket and removes the oldest ones beyond the limit.
    mutating func issue(_ record: TicketRecord, in feed: UInt32, amongst all: [TicketRecord]) throws {
        let at = place(of: record.number, in: feed)
        fresh.insert(Fresh(feed: feed, record: record, isStored: false), at: at)
        if all.count < Self.limit { return }
        for old in all.dropLast(Self.limit - 1) { try remove(Ticket(old.number), of: feed) }
    }

    /// The feeds with a new ticket that is not answered.
    var waitingFeeds: Set<UInt32> {
        Set(fresh.lazy.filter { !$0.isStored && !$0.record.isCancelled }.map(\.feed))
    }

    /// Writes the new tickets.
    func store() throws {
        for ticket in fresh {
            try transaction.put(
                .tickets(of: ticket.feed), NumberKey(ticket.record.number), ticket.record)
        }
    }

    /// Returns where the ticket is among the new ones, or would be. Mostly that is the end.
    private func place(of number: UInt64, in feed: UInt32) -> Int {
        var (low, high) = (0, fresh.count)
        while low < high {
            let middle = (low + high) / 2
            let other = (fresh[middle].feed, fresh[middle].record.number)
            if other < (feed, number) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func isFresh(_ ticket: Ticket, of feed: UInt32, _ at: Int) -> Bool {
        at < fresh.count && fresh[at].feed == feed && fresh[at].record.number == ticket.number
    }
}
