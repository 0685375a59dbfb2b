import Foundation
import Quire
import Testing

@testable import QuireDumps

@Suite(.enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
struct FixtureTests {
    private let stackExchange = PageParser(profile: Profile.named("stackexchange")!)

    /// Numbers and hashes as in expected-stackexchange.tsv.
    @Test(arguments: [(1...60, 1727, "bc9ddb6cdd32b8b4"), (900...929, 900, "522ce5007388ef79")])
    func stackExchangePages(numbers: ClosedRange<Int>, unique: Int, hash: String) throws {
        let files = try PageFile.list([Fixtures.path("stackexchange/so-activity-2018/pages")])
        #expect(files.compactMap(\.number) == Array(1...60) + Array(900...929))
        var ids: Set<Int> = []
        for file in files where numbers ~= file.number! {
            let bytes = try file.read()
            let answer = try stackExchange.parse(bytes, name: file.name)
            #expect(answer.posts.count == 30 && answer.next == .more && answer.bytes == bytes)
            for (post, body) in zip(answer.posts, answer.bodies) {
                let object = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
                #expect(body.hasPrefix("{") && body.hasSuffix("}"))
                #expect(object?["question_id"] as? Int == Int(post.id.description))
            }
            ids.formUnion(answer.ids.compactMap { Int($0) })
        }
        #expect(ids.count == unique)
        #expect(shortHash(ids.sorted().map(String.init).joined(separator: "\n")) == hash)
    }

    @Test func otherStackExchangePages() throws {
        let files = try PageFile.list([Fixtures.path("stackexchange/so-python-tags-2022")])
        var ids: Set<Int> = []
        for file in files {
            ids.formUnion(try stackExchange.parse(file.read(), name: file.name).ids.compactMap { Int($0) })
        }
        #expect(ids.count == 700)
        #expect(shortHash(ids.sorted().map(String.init).joined(separator: "\n")) == "73ae37ece54940bc")
    }

    @Test func keysGivenByHand() throws {
        var profile = try #require(Profile.named("stackexchange"))
        try profile.setKey(path: "last_activity_date")
        let bytes = try Fixtures.bytes("stackexchange/so-activity-2018/pages/1.json")
        let keys = try PageParser(profile: profile).parse(bytes, name: "1.json").posts.compactMap(\.key)
        #expect(keys.count == 30 && keys == keys.sorted(by: >))
    }

    @Test func errorDocument() throws {
        let name = "stackexchange/ruby-stackoverflow/error.json"
        let error = dumpError { _ = try stackExchange.parse(Fixtures.bytes(name), name: "error.json") }
        #expect(error?.kind == .data && error?.message.hasPrefix("error.json: error document: ") == true)
    }

    @Test(arguments: ["stackexchange/ruby-stackoverflow/questions_timeline.json"])
    func everyTruncationIsAnError(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        let end = bytes.lastIndex(of: UInt8(ascii: "}"))!
        for count in 0...end {
            let error = dumpError { _ = try stackExchange.parse(Array(bytes.prefix(count)), name: "t") }
            #expect(error?.message.hasPrefix("t: not JSON: ") == true, "after \(count) bytes")
        }
    }

    @Test func truncationsOfALargePage() throws {
        let bytes = try Fixtures.bytes("stackexchange/so-activity-2018/pages/1.json")
        for count in stride(from: 0, to: bytes.count - 2, by: 211) {
            #expect(throws: DumpError.self) {
                try stackExchange.parse(Array(bytes.prefix(count)), name: "t")
            }
        }
    }

    /// One byte changed must end in an answer or an error, whatever the byte.
    @Test func damagedBytes() throws {
        let bytes = try Fixtures.bytes("stackexchange/ruby-stackoverflow/questions.json")
        for place in bytes.indices {
            for value in [0, 0x22, 0x2C, 0x5B, 0x5C, 0x7D, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[place] = value
                if let answer = try? stackExchange.parse(damaged, name: "d") {
                    #expect(answer.posts.allSatisfy { damaged[$0.body].first == UInt8(ascii: "{") })
                }
            }
        }
    }

    /// Each file in two shapes: as the document, and as a value beside the items. What must be rejected
    /// is; what must be accepted is not called broken; nothing crashes.
    @Test func torture() throws {
        let files = try PageFile.list([
            Fixtures.path("torture/JSONTestSuite"), Fixtures.path("torture/naughty-strings"),
        ])
        #expect(files.filter { $0.name.hasPrefix("n_") }.count == 188)
        let array = PageParser(profile: try Profile(json: Array(#"{"name":"x","id":{}}"#.utf8), name: "x"))
        for file in files {
            let bytes = try file.read()
            let wrapped = Array(#"{"items":[],"a":"#.utf8) + bytes + Array("}".utf8)
            let messages = [
                dumpError { _ = try array.parse(bytes, name: "t") }?.message ?? "",
                dumpError { _ = try stackExchange.parse(wrapped, name: "t") }?.message ?? "",
            ]
            let areRejected = messages.map { $0.hasPrefix("t: not JSON") || $0.hasPrefix("t: nested") }
            if file.name.hasPrefix("n_") { #expect(areRejected[0], "\(file.name)") }
            if file.name.hasPrefix("y_") { #expect(areRejected == [false, false], "\(file.name)") }
        }
    }
}
