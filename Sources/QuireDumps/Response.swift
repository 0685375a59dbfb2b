public import Quire

/// What a response says: its posts and links, and where in the feed the server says it lies.
public struct Response: Sendable {
    public var answer: Answer
    /// The link that was followed to it; nil if neither the response nor its recording tells.
    public var own: Link?
    /// The number of the page, as the server counts.
    public var page: Int?
    /// How many pages the server says there are.
    public var pages: Int?
    /// How many posts the server says there are.
    public var total: Int?
    /// How many seconds the server asks to wait before the next request.
    public var backoff: Double?
    /// How many requests the server still permits.
    public var quota: Int?
    /// In how many seconds it permits new ones.
    public var quotaRenewal: Double?

    init(_ answer: Answer) { self.answer = answer }

    /// The answer for the page `number` of a recorded run; the run learns which link led to it, if that is
    /// known. Then pages join where their links say so, in whatever order they come and however they are
    /// numbered.
    public func answer(page number: Int?, in run: inout RecordedRun) -> Answer {
        if let own { run.follow(own, to: number) }
        guard let page, answer.next == .more || answer.next == .unknown else { return answer }
        var answer = answer
        answer.next = .token("page=\(page + 1)")
        return answer
    }
}
