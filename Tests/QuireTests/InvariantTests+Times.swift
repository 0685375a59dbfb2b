@testable import Quire

extension InvariantTests {
    private static func entry(_ what: String, _ change: @escaping @Sendable (inout Entry) -> Void)
        -> Violation
    {
        Violation("I16", .ahead, "an entry \(what) in the future") {
            try $0.edit("chunks", ChunkRecord.self) {
                change(&$0.entries[0])
                return true
            }
        }
    }

    private static func feed(_ what: String, _ change: @escaping @Sendable (inout FeedRecord) -> Void)
        -> Violation
    {
        Violation("I20", .ahead, what) {
            try $0.edit("feeds", FeedRecord.self) {
                change(&$0)
                return true
            }
        }
    }

    static let times: [Violation] = [
        entry("seen") { $0.confirmed = 1 << 50 },
        entry("asked for") { $0.asked = 1 << 50 },
        entry("pushed") { $0.pushed = 1 << 50 },
        entry("unverified") { $0.claim = Claim(why: .numbering, since: 1 << 50) },
        feed("the head of a time to come") { $0.subscription.headAsOf = 1 << 50 },
        feed("live from a time to come on") { $0.subscription.live = 1 << 50 },
        feed("a token of a time to come") { $0.deltaToken = DeltaToken(text: "t", asOf: 1 << 50) },
        Violation("I20", .ahead, "a gap that will open") {
            try $0.edit("gaps", GapRecord.self) {
                $0.gap.since = 1 << 50
                return true
            }
        },
        Violation("I20", .ahead, "positions of an epoch to come") {
            try $0.edit("chunks", ChunkRecord.self) {
                $0.epoch = 1 << 20
                return true
            }
        },
    ]
}
