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
    enum CodingKeys: String, CodingKey {
        case id = "track_id"
        case title = "songtitle"
    }
}

/// An object store over a music API: one asks for a band's albums and an album's tracks as if they were
/// there. Ids come first, values when they are looked at, and an album that brings its tracks spares the
/// request for them.
@main struct MusicStoreExample {
    struct MusicStore {
        let cache: Cache
        let server: String

        /// The albums of a band: ids now, ten values at a time.
        func albums(of band: Int) throws -> LazyPosts<Album> {
            let list = Data(#"{"name":"ids","id":{},"paging":"ids","order":"ranked"}"#.utf8)
            let values = Data(#"{"name":"albums","id":{"path":"id"}}"#.utf8)
            let source = try HTTPSource(
                "\(server)/bands/\(band)/albums", profile: Profile(json: Array(list), name: "ids"),
                bodies: ("\(server)/albums?ids={ids}", Profile(json: Array(values), name: "albums")))
            let withTracks = Interceptor.embedding { _, body in
                let album = try JSONDecoder().decode(Album.self, from: Data(body))
                return [try Self.tracks(in: album)]
            }
            return try pager("albums of \(band)", source, [withTracks]).posts(as: Album.self)
        }

        /// The tracks of an album, in their order.
        func tracks(of album: Int) throws -> LazyPosts<Track> {
            let source = try HTTPSource("\(server)/albums/\(album)/tracks", profile: try Self.tracks)
            return try pager("tracks of \(album)", source, []).posts(as: Track.self)
        }

        private func pager(
            _ name: String, _ source: HTTPSource, _ interceptors: [Interceptor]
        ) throws -> Pager {
            let feed = try cache.feed(named: name, options: source.profile.options)
            return Pager(
                feed, source: source, interceptors: interceptors, options: PagerOptions(pageSize: 10))
        }

        private static var tracks: Profile {
            get throws {
                let json = #"{"name":"tracks","id":{"path":"track_id"},"next":{"header":"X-Next-Page"}}"#
                return try Profile(json: Array(json.utf8), name: "tracks")
            }
        }

        /// All tracks of an album that came with it.
        private static func tracks(in album: Album) throws -> EmbeddedPage {
            var answer = Answer(next: .end)
            for track in album.tracks {
                answer.append(id: PostID(UInt64(track.id)), body: Array(try JSONEncoder().encode(track)))
            }
            return EmbeddedPage(of: "tracks of \(album.id)", options: try tracks.options, answer)
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
                print("albums:", try await albums.all().count, "of them fetched:", try picture(albums))
                print("asked: ", server.takeRequests())
                print("value: ", try await albums[124].decoded().title)
                print("now:   ", try picture(albums))
                print("asked: ", server.takeRequests().count, "request for ten of them")

                let tracks = try store.tracks(of: 124)
                print("tracks:", try await ids(tracks), try await tracks[1_242].decoded().title)
                print("asked: ", server.takeRequests().count, "requests: they came with the album")
                print("tracks of another album:", try await ids(store.tracks(of: 300)), server.takeRequests())
                do {
                    _ = try await ids(store.tracks(of: 301))
                } catch {
                    print("tracks of no album:", "\(error)".components(separatedBy: ": ").last ?? "")
                    _ = server.takeRequests()
                }
            }
            let store = MusicStore(cache: try Cache(at: path), server: server.address)
            let album = try await store.albums(of: 7)[120].decoded()
            print("after a restart:", album.title, server.takeRequests())
        }
    }

    private static func picture(_ albums: LazyPosts<Album>) throws -> String { try albums.pager.feed.picture }

    private static func ids(_ tracks: LazyPosts<Track>) async throws -> [PostID] {
        try await tracks.all().map(\.id)
    }
}
