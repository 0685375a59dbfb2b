import FlyingFox
import Foundation
import LoopbackServers
import Synchronization

/// A list of questions, top first.
struct QuestionList: Sendable {
    private(set) var ids: [Int]
    /// The activity of the questions that are not as old as their ids.
    private var activity: [Int: Int] = [:]
    private var now: Int

    init(_ count: Int) { (ids, now) = (Array((1...count).reversed()), count) }

    func key(of id: Int) -> Int { 1_700_000_000 + (activity[id] ?? id) }

    /// Adds new questions on top.
    mutating func insert(_ count: Int = 1) {
        for _ in 0..<count {
            let id = (ids.max() ?? 0) + 1
            ids.insert(id, at: 0)
            touch(id)
        }
    }

    /// A question is answered, and rises.
    mutating func bump(at place: Int) {
        let id = ids.remove(at: place)
        ids.insert(id, at: 0)
        touch(id)
    }

    private mutating func touch(_ id: Int) {
        now += 1
        activity[id] = now
    }
}

/// A list of questions behind a real server, in the manner of Stack Exchange. What it holds at the end is
/// what a mirror must hold.
final class ListServer: Sendable {
    /// What a server does with a request, before it answers; nil: it shows the page that was asked for.
    typealias Play =
        @Sendable (_ number: Int, _ request: HTTPRequest, _ list: inout QuestionList) -> HTTPResponse?

    private final class Held: Sendable {
        let state: Mutex<(list: QuestionList, requests: Int)>
        init(_ list: QuestionList) { state = Mutex((list, 0)) }
    }

    private let held: Held
    private let server: LoopbackServer

    /// Starts a server with posts from `count` down to 1. `usual` is the size of a page if the
    /// request names none.
    static func start(
        posts count: Int, usual: Int = 30, hasTags: Bool = false, _ play: @escaping Play = { _, _, _ in nil }
    ) async throws -> ListServer {
        let held = Held(QuestionList(count))
        let server = try await LoopbackServer.start { request in
            let (answer, list) = held.state.withLock { state in
                state.requests += 1
                return (play(state.requests, request, &state.list), state.list)
            }
            if let answer { return answer }
            let tag = "\"\(list.ids.first.map(list.key) ?? 0)\""
            if hasTags, request.headers[HTTPHeader("If-None-Match")] == tag {
                return .json("", status: 304)
            }
            return page(of: list, for: request, usual, hasTags ? ["ETag": tag] : [:])
        }
        return ListServer(held, server)
    }

    private init(_ held: Held, _ server: LoopbackServer) { (self.held, self.server) = (held, server) }

    /// The address of the list.
    var url: String { "\(server.address)/2.3/questions" }
    var ids: [String] { held.state.withLock { $0.list.ids.map(String.init) } }
    var requests: [HTTPRequest] { server.requests }

    func change(_ body: (inout QuestionList) -> Void) { held.state.withLock { body(&$0.list) } }

    /// The page of a list. Key and id grow together; a title makes the bodies as long as real ones.
    static func page(
        of list: QuestionList, for request: HTTPRequest, _ usual: Int = 30, _ headers: [String: String] = [:]
    ) -> HTTPResponse {
        let size = min(100, request.query["pagesize"].flatMap { Int($0) } ?? usual)
        let start = ((request.query["page"].flatMap { Int($0) } ?? 1) - 1) * size
        let items = list.ids.dropFirst(start).prefix(size).map { id in
            #"{"question_id": \#(id), "last_activity_date": \#(list.key(of: id)), "title": "post \#(id)"}"#
        }
        return .json(
            #"{"items": [\#(items.joined(separator: ","))], "has_more": \#(start + size < list.ids.count)}"#,
            headers: headers)
    }
}
