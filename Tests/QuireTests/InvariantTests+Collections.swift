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
        Violation("I2", .orphan, "a post that is another id of a post") {
            try $0.put(.aliases, PostKey.bytes(34, in: 0), AliasRecord(alias: 34, id: 35).encoded())
        },
        Violation("I17", .count, "other ids") {
            try $0.put(.aliases, PostKey.bytes("y", in: 0), AliasRecord(alias: "y", id: 35).encoded())
        },
        Violation("I2", .unreadable, "another id that leads in a circle") {
            try $0.put(.aliases, PostKey.bytes("y", in: 0), AliasRecord(alias: "y", id: "z").encoded())
            try $0.put(.aliases, PostKey.bytes("z", in: 0), AliasRecord(alias: "z", id: "y").encoded())
        },
        Violation("I20", .ahead, "a feed to come") {
            try $0.edit("counters", Counters.self) {
                $0.feedNumbers = 1
                return true
            }
        },
    ]
}
