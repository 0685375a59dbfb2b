// R16: pages between which an answer to another link has put something.

extension Draft {
    /// What came beside a page by another link than the page's may be where that link does not reach. Where
    /// links can be made from the border, the page forgets that its link begins there.
    mutating func partPages() throws(Interruption) {
        if state.options.paging != .keyset || new.isEmpty && moved.isEmpty { return }
        let placed = EntrySet(accepted)
        let came = EntrySet((new + moved).filter { placed.contains($0) })
        for (upper, lower) in zip(rows, rows.dropFirst()) where !upper.isGap && !lower.isGap {
            let (above, below) = (upper.entry, lower.entry)
            if let below, came.contains(below), above.map({ !placed.contains($0) }) ?? true {
                let entry = try state.entry(of: upper, from: .below)
                guard let page = state.page(of: entry), page.next != ticket.own else { continue }
                if page.last == state.id(of: entry) { state.pages[page.number]!.last = nil }
            } else if let above, came.contains(above), below.map({ !placed.contains($0) }) ?? true {
                let entry = try state.entry(of: lower, from: .above)
                guard let page = state.page(of: entry), page.previous != ticket.own else { continue }
                if page.first == state.id(of: entry) { state.pages[page.number]!.first = nil }
            }
        }
    }
}
