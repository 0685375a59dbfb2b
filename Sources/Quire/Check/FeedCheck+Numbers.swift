// Numbers, tickets and tombstones of one feed: none is above the counters.

extension FeedCheck {
    func checkNumbers() {
        for (number, name) in [
            (record.edgeNumbers, "edges"), (record.pageNumbers, "pages"),
            (record.ticketNumbers, "tickets"), (record.gapNumbers, "gaps"),
            (record.resets, "resets"),
        ] where number >= Numbers.limit { find(.ahead, "\(name): \(number)") }
        if record.changed > counters.clock { find(.ahead, "changed at \(record.changed)") }
        for case let time? in [record.subscription.headAsOf, record.subscription.live]
        where time > counters.clock {
            find(.ahead, "knows the top of the list as of \(time), in the future")
        }
        if let token = record.deltaToken, token.asOf > counters.clock {
            find(.ahead, "the delta token is of \(token.asOf), in the future")
        }
        let options = record.options
        for number in [
            record.skippedAbove, options.pageSize, options.minimumRun,
            options.firstPage,
        ] where number.magnitude > Numbers.mostRows { find(.ahead, "\(number) rows or pages") }
    }

    func checkTicketsAndTombstones() throws {
        var tickets = 0
        try transaction.withCursor(.tickets(of: feed)) { cursor in
            var found = try cursor.first()
            while let (_, value) = found, !context.isStopped {
                tickets += 1
                if let ticket = try? TicketRecord(value, "a ticket") { check(ticket) }
                found = try cursor.next()
            }
        }
        if tickets > TicketTable.limit { find(.count, "\(tickets) tickets are open") }
        try transaction.withCursor(.tombstones(of: feed)) { cursor in
            var found = try cursor.first()
            while let (_, value) = found, !context.isStopped {
                if let clock = try? ByteReader.number(value, "a tombstone"), clock > counters.clock {
                    find(.ahead, "a post was deleted at \(clock)")
                }
                found = try cursor.next()
            }
        }
    }

    private func check(_ ticket: TicketRecord) {
        if ticket.number == 0 || ticket.number > record.ticketNumbers
            || ticket.issued > counters.clock || ticket.resets > record.resets
            || ticket.edges.contains(where: { $0 > record.edgeNumbers })
        {
            find(.ahead, "ticket \(ticket.number) has numbers or times above the counters")
        }
        if ticket.operation == .recorded { find(.orphan, "ticket \(ticket.number) is of a crawl") }
        if ticket.operation == .down || ticket.operation == .up || ticket.minted != nil {
            // the answer attaches at the place that this edge leads to
            let others = ticket.operation == .down ? ups : downs
            if ticket.edges.first.map({ others.place(of: $0) != nil }) ?? true {
                find(.gap, "ticket \(ticket.number) is for an edge of another kind")
            }
        }
        if ticket.limit.magnitude > Numbers.mostRows {
            find(.ahead, "ticket \(ticket.number) asks for \(ticket.limit) rows")
        }
    }
}

extension [UInt64] {
    /// Returns the index of a number in this ascending array.
    func place(of number: UInt64) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low] == number ? low : nil
    }
}
