import Quire

// How one call of ``FeedModel/loadMore(near:)`` comes to an end.

extension FeedModel {
    /// What a request has done for its caller.
    enum Answered {
        /// It was not made or was interrupted, because the rows have changed.
        case outdated
        /// It brought a post, or closed a gap.
        case progress
        /// It brought nothing.
        case nothing
    }

    /// The sides of a row.
    enum Side { case above, below }

    /// What a call has asked on each side of its row. It goes on while the number of complete rows near the
    /// row grows, at most until all in reach are complete. Only a few answers in a row may bring posts
    /// elsewhere: a gap of any size may have a link at its far side only, and a prune may remove those posts.
    struct Approach {
        /// How many answers in a row may leave the number of complete rows as it was.
        private static var limit: Int { 10 }

        private struct Way {
            var complete = -1
            var rest = 0
        }
        private var (above, below) = (Way(), Way())
        private var last: Side?

        /// Notes the rows on one side, nearest first.
        mutating func note(_ rows: some Sequence<Row>, _ side: Side) {
            let complete = rows.prefix { $0.post != nil }.count { $0.missing == nil }
            if complete > self[side].complete { self[side] = Way(complete: complete, rest: Self.limit) }
        }

        func mayAsk(_ side: Side) -> Bool { self[side].rest > 0 }

        mutating func ask(_ side: Side) {
            self[side].rest -= 1
            last = side
        }

        /// Forgets the last request: it was not made.
        mutating func takeBack() {
            if let last { self[last].rest += 1 }
        }

        private subscript(side: Side) -> Way {
            get { side == .above ? above : below }
            set { if side == .above { above = newValue } else { below = newValue } }
        }
    }
}
