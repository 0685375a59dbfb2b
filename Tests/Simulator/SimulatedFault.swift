import Quire

/// What goes wrong on the way from a server to its client.
public enum SimulatedFault: String, Sendable, CaseIterable {
    /// The request fails; there is no answer.
    case error
    /// An answer without posts and links.
    case emptyAnswer = "empty-answer"
    /// An answer without posts that claims the end of the list.
    case falseEnd = "false-end"
    /// A post is shown twice on one page.
    case repeatedID = "repeated-id"
}

/// How often each fault happens. At most one happens to a reply.
public struct SimulatedFaults: Sendable {
    /// The share of replies that are errors, 0 to 1.
    public var error: Double
    /// The share of replies without posts.
    public var emptyAnswer: Double
    /// The share of replies that say wrongly that nothing follows.
    public var falseEnd: Double
    /// The share of replies that show a post twice.
    public var repeatedID: Double

    /// Faults with these shares, each 0 to 1; together at most 1.
    public init(error: Double = 0, emptyAnswer: Double = 0, falseEnd: Double = 0, repeatedID: Double = 0) {
        self.error = error
        self.emptyAnswer = emptyAnswer
        self.falseEnd = falseEnd
        self.repeatedID = repeatedID
    }

    /// A bad day: a fault in every fifth reply.
    public static let frequent = SimulatedFaults(
        error: 0.04, emptyAnswer: 0.03, falseEnd: 0.02, repeatedID: 0.11)

    /// What happens to the next reply; draws exactly one number.
    public func draw(using random: inout SplitMix64) -> SimulatedFault? {
        var luck = Double(random.next() >> 11) * 0x1p-53
        for (fault, rate) in [
            (SimulatedFault.error, error), (.emptyAnswer, emptyAnswer), (.falseEnd, falseEnd),
            (.repeatedID, repeatedID),
        ] {
            if luck < rate { return fault }
            luck -= rate
        }
        return nil
    }
}

extension SimulatedReply {
    /// The reply as it arrives after a fault; nil if nothing arrives. Empty answers cover nothing.
    public func damaged(by fault: SimulatedFault, using random: inout SplitMix64) -> SimulatedReply? {
        var reply = self
        switch fault {
        case .error:
            return nil
        case .emptyAnswer, .falseEnd:
            reply.answer = Answer(next: fault == .falseEnd ? .end : .unknown, fetchedAt: answer.fetchedAt)
            reply.shown = []
            reply.positions = [:]
            reply.covered = nil
        case .repeatedID:
            guard !answer.posts.isEmpty else { break }
            let at = random.below(answer.posts.count)
            let again = random.number(in: at + 1...answer.posts.count)
            reply.answer.posts.insert(answer.posts[at], at: again)
        }
        return reply
    }
}
