// Which posts several feeds may hold.

extension PostIndex {
    /// Returns for each of these posts whether several feeds may hold it. Most are in one feed: asking this
    /// first makes a prune cheap.
    func areShared(_ ids: PostIDs) -> [Bool] {
        var found = [Bool](filled: ids.count, with: false)
        if marks.isEmpty && (added?.marks.count ?? 0) == 0 { return found }
        found.withUnsafeMutableBufferPointer { found in
            lookUpMarks(ids) { number, mark in
                found[number] = mark.position != Location.gone
                return true
            }
        }
        return found
    }

    /// Returns a mark that several feeds may hold a post, or that no feed does.
    func mark(of id: PostID, isShared: Bool) -> Location {
        Location(address(of: id), feed: 1, position: isShared ? 1 : Location.gone)
    }

    /// Returns true if the post at this address is marked in the stored runs: several feeds may hold it.
    func isMarked(_ address: PostAddress) -> Bool {
        for run in marks {
            var mark: Location?
            run.search(at: address) {
                mark = $0
                return false
            }
            if let mark { return mark.position != Location.gone }
        }
        return false
    }

    /// Calls `body` with the addresses of all posts that are marked in the stored runs, until it returns
    /// false.
    func forEachMarked(_ body: (PostAddress) -> Bool) {
        SortedRun.forEach(ofNewestFirst: marks) { mark, _ in
            mark.position == Location.gone || body(mark.address)
        }
    }

    /// Calls `body` with the index of each id and each mark that a run has for it, those of newer runs first.
    /// If it returns true, no older ones are asked for this id.
    private func lookUpMarks(_ ids: some Sequence<PostID>, _ body: (Int, Location) -> Bool) {
        forEachBlock(of: ids) { open, likely, count in
            var rest = count
            if let added { rest = Self.lookUp(open, rest, in: added.marks, body) }
            Self.lookUp(open, rest, likely, in: marks) { id, mark, _ in body(id, mark) }
        }
    }
}
