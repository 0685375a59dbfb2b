@testable import Quire

extension InvariantTests {
    static let collections: [Violation] = [
        Violation("I31", .index, "posts of another collection in a feed") { forgery in
            try forgery.edit("counters", Counters.self) {
                $0.collections = 1
                return true
            }
            var collection = CollectionRecord(number: 1)
            collection.feeds = 1
            try forgery.put(.collections, Array("c".utf8), collection.encoded())
            try forgery.edit("feeds", FeedRecord.self) {
                ($0.options.collection, $0.collection) = ("c", 1)
                return true
            }
        },
        Violation("I31", .index, "a place of another collection") {
            try $0.editIndex { index in
                let at = index.firstIndex { $0.check == 0 }!
                index[at].check = 2
            }
        },
        Violation("I31", .missing, "a collection that there is not") {
            try $0.edit("feeds", FeedRecord.self) {
                $0.options.collection = "c"
                return true
            }
        },
        Violation("I31", .count, "a collection without a feed") {
            try $0.put(.collections, Array("c".utf8), CollectionRecord(number: 1).encoded())
        },
        Violation("I31", .ahead, "a collection to come") {
            try $0.put(.collections, Array("c".utf8), CollectionRecord(number: 1).encoded())
        },
        Violation("I31", .unreadable, "a collection without a name") {
            try $0.put(.collections, [], CollectionRecord(number: 1).encoded())
        },
        Violation("I31", .orphan, "an id that leads to a name which does not know it") {
            try $0.put(.aliases, PostKey.bytes("n", in: 0), AliasRecord("n", name: "m").encoded())
        },
        Violation("I31", .missing, "a name whose other id does not lead to it") {
            try $0.put(
                .aliases, PostKey.bytes("m", in: 0), AliasRecord("m", name: "m", others: ["n"]).encoded())
        },
        Violation("I31", .orphan, "a feed holds a post under another id than its name") {
            try $0.put(.aliases, PostKey.bytes("La", in: 0), AliasRecord("La", name: "m").encoded())
            try $0.put(
                .aliases, PostKey.bytes("m", in: 0), AliasRecord("m", name: "m", others: ["La"]).encoded())
            try $0.edit("counters", Counters.self) {
                $0.aliases = 1
                return true
            }
        },
        Violation("I31", .count, "other ids that are not counted") {
            try $0.put(.aliases, PostKey.bytes("n", in: 0), AliasRecord("n", name: "m").encoded())
            try $0.put(
                .aliases, PostKey.bytes("m", in: 0), AliasRecord("m", name: "m", others: ["n"]).encoded())
        },
        Violation("I31", .unreadable, "other ids under a wrong key") {
            try $0.put(.aliases, PostKey.bytes("k", in: 0), AliasRecord("n", name: "m").encoded())
        },
        Violation("I31", .count, "totals of a collection without posts") {
            try $0.put(.totals, Forgery.number(3), CollectionTotals(posts: 1, bodyBytes: 0).encoded())
        },
        Violation("I31", .count, "totals that the counters do not know") {
            try $0.edit("counters", Counters.self) {
                $0.named.bodyBytes = 7
                return true
            }
        },
        Violation("I31", .unreadable, "empty totals") {
            try $0.put(.totals, Forgery.number(3), CollectionTotals().encoded())
        },
        Violation("I31", .missing, "a feed that its collection does not know") { try $0.remove("members") },
        Violation("I31", .orphan, "a feed of another collection") {
            try $0.put(.members, Forgery.number(1 << 32 | 1), Forgery.sealed([]))
        },
        Violation("I31", .unreadable, "a member with a value") {
            try $0.editBytes("members") { $0.append(0) }
        },
        Violation("I20", .ahead, "a use to come") {
            try $0.edit("feeds", FeedRecord.self) {
                $0.used = 1 << 40
                return true
            }
        },
        Violation("I20", .ahead, "a feed to come") {
            try $0.edit("counters", Counters.self) {
                $0.feedNumbers = 1
                return true
            }
        },
    ]
}
