import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Stage

struct Album: Codable {
    var id: Int
    var title: String
    var tracks: [Track]
}

struct Track: Codable {
    var id: Int
    var title: String
    /// The API's name for it is known here and nowhere else.
    enum CodingKeys: String, CodingKey { case id = "track_id", title = "songtitle" }
}

/// An object store over a music API: one asks for a band's albums and an album's tracks as if they were
/// there. Ids come first, values when they are looked at, and an album that brings its tracks spares the
/// request for them.
@main struct MusicStoreExample {
    struct MusicStore {
        let cache: Cache
        let server: String

        /// The albums of a band: ids now, ten values at a time.
        func albums(of band: Int) throws -> Relation<Album> {
            let list = Data(#"{"name":"ids","id":{},"paging":"ids","order":"ranked"}"#.utf8)
            let values = Data(#"{"name":"albums","id":{"path":"id"}}"#.utf8)
            let source = try HTTPSource(
                "\(server)/bands/\(band)/albums", profile: Profile(json: Array(list), name: "ids"),
                bodies: ("\(server)/albums?ids={ids}", Profile(json: Array(values), name: "albums")))
            return try relation("albums of \(band)", source) { bytes in
                let album = try JSONDecoder().decode(Album.self, from: Data(bytes))
                try prime(tracks(of: album.id), with: album.tracks)
            }
        }

        /// The tracks of an album, in their order.
        func tracks(of album: Int) throws -> Relation<Track> {
            let profile = Data(#"{"name":"tracks","id":{"path":"track_id"}}"#.utf8)
            let source = try HTTPSource(
                "\(server)/albums/\(album)/tracks",
                profile: Profile(json: Array(profile), name: "tracks"))
            return try relation("tracks of \(album)", source) { _ in }
        }

        private func relation<Value>(
            _ name: String, _ source: HTTPSource, arrived: @escaping @Sendable ([UInt8]) throws -> Void
        ) throws -> Relation<Value> {
            let feed = try cache.feed(named: name, options: source.profile.options)
            let watching = Interceptor { request, next in
                let response = try await next(request)
                if case .page(let answer) = response.content {
                    for post in answer.posts where !post.body.isEmpty {
                        try arrived(Array(answer.bytes[post.body]))
                    }
                }
                return response
            }
            let pager = Pager(
                feed, source: source, interceptors: [watching], options: PagerOptions(pageSize: 10))
            return Relation(feed: feed, pager: pager)
        }

        /// What came along with something else is as good as fetched.
        private func prime(_ relation: Relation<Track>, with tracks: [Track]) throws {
            guard let request = try relation.feed.plan(.head).request else { return }
            var answer = Answer(next: .end, previous: .end)
            for track in tracks {
                answer.append(id: PostID(UInt64(track.id)), body: Array(try JSONEncoder().encode(track)))
            }
            _ = try relation.feed.ingest(answer, for: request.ticket)
        }
    }

    /// Objects that stand in another one, in order.
    struct Relation<Value: Codable & SendableMetatype>: Sendable {
        let feed: Feed
        let pager: Pager

        /// The ids, fetched if nobody has asked before.
        var ids: [PostID] {
            get async throws {
                if try isEmpty { try await pager.refresh() }
                let rows = try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
                return rows.compactMap { $0.post?.id }
            }
        }

        /// A value, fetched with its neighbours if it is not here; nil if there is no such object.
        func value(_ id: PostID) async throws -> Value? {
            if try isEmpty { try await pager.refresh() }
            while let post = try feed.posts(as: Value.self).find(id) {
                if !post.row.isFault { return try post.decoded() }
                guard case .loaded = try await pager.append() else { return nil }
            }
            return nil
        }

        private var isEmpty: Bool {
            get throws { try feed.cache.withSnapshot { try $0.info(of: feed).posts == 0 } }
        }
    }

    /// A band with 25 albums of three tracks.
    static func reply(_ question: Question) -> Reply {
        func tracks(_ album: Int) -> String {
            (1...3).map { #"{"track_id":\#(album * 10 + $0),"songtitle":"Song \#($0) of \#(album)"}"# }
                .joined(separator: ",")
        }
        switch question.path {
        case "/bands/7/albums": return Reply("\(Array((101...125).reversed()))")
        case "/albums":
            let ids = (question.query["ids"] ?? "").split(separator: ",").compactMap { Int($0) }
            let albums = ids.map { #"{"id":\#($0),"title":"Album \#($0)","tracks":[\#(tracks($0))]}"# }
            return Reply("[\(albums.joined(separator: ","))]")
        case "/albums/300/tracks": return Reply("[\(tracks(300))]")
        default: return Reply("{}", status: 404)
        }
    }

    static func main() async throws {
        let server = try await LocalServer.start(reply)
        try await withCache { path in
            do {
                let store = MusicStore(cache: try Cache(at: path), server: server.address)
                let albums = try store.albums(of: 7)
                print("albums:", try await albums.ids.count, "of them fetched:", try albums.feed.picture)
                print("asked: ", server.takeRequests())
                print("value: ", try await albums.value(124)?.title ?? "none")
                print("now:   ", try albums.feed.picture)
                print("asked: ", server.takeRequests().count, "request for ten of them")

                let tracks = try store.tracks(of: 124)
                print("tracks:", try await tracks.ids, try await tracks.value(1_242)?.title ?? "none")
                print("asked: ", server.takeRequests().count, "requests: they came with the album")
                print("tracks of another album:", try await store.tracks(of: 300).ids, server.takeRequests())
                do {
                    _ = try await store.tracks(of: 301).ids
                } catch {
                    print("tracks of no album:", "\(error)".components(separatedBy: ": ").last ?? "")
                    _ = server.takeRequests()
                }
            }
            let store = MusicStore(cache: try Cache(at: path), server: server.address)
            let album = try await store.albums(of: 7).value(120)
            print("after a restart:", album?.title ?? "none", server.takeRequests())
        }
    }
}
