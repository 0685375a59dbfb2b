import FlyingFox
import LoopbackServers

/// Servers of APIs of which there are no recorded responses. Their answers are made from what the public
/// documentation of the API says.
extension PlayedAPI {
    static let documented = [slack, discord, stripe, youTube, zendesk]

    private static func made(_ count: Int, _ post: (Int) -> (id: String, rest: String)) -> [PlayedPost] {
        (1...count).reversed().map { number in
            let (id, rest) = post(number)
            return PlayedPost(id: id, json: "{\(rest)}")
        }
    }

    private static let slack = PlayedAPI(
        profile: "slack", path: "/api/conversations.history?channel=C1&limit=8", size: 8,
        posts: made(45) { number in
            let ts = "17000\(10_000 + number).000\(100 + number % 7)"
            return (ts, #""type": "message", "user": "U1", "text": "post", "ts": "\#(ts)""#)
        }
    ) {
        let (shown, more) = below($0, $1, $2, by: "cursor")
        let cursor = more ? shown.last!.id : ""
        return .json(
            #"{"ok": true, "messages": \#(array(shown)), "has_more": \#(more), "pin_count": 0, "#
                + #""response_metadata": {"next_cursor": "\#(cursor)"}}"#)
    }

    private static let discord = PlayedAPI(
        profile: "discord", path: "/api/v10/channels/9/messages?limit=8", size: 8,
        posts: made(45) { number in
            let id = "\(1_100_000_000_000_000_000 + number << 22)"
            return (
                id,
                #""id": "\#(id)", "type": 0, "content": "post", "edited_timestamp": null, "#
                    + #""timestamp": "2024-01-01T00:00:\#(10 + number).000000+00:00", "#
                    + #""mention_everyone": false"#
            )
        }
    ) {
        .json(array(below($0, $1, $2, by: "before").shown))
    }

    private static let stripe = PlayedAPI(
        profile: "stripe", path: "/v1/charges?limit=8", size: 8,
        posts: made(45) { number in
            let id = "ch_\(number * 7_919 % 9_973)"
            return (
                id,
                #""id": "\#(id)", "object": "charge", "livemode": false, "#
                    + #""created": \#(1_700_000_000 + number)"#
            )
        }
    ) { posts, request, size in
        if let id = request.query["starting_after"], !posts.contains(where: { $0.id == id }) {
            return .json(
                #"{"error": {"code": "resource_missing", "type": "invalid_request_error", "#
                    + #""message": "No such charge: '\#(id)'", "param": "starting_after"}}"#, status: 400)
        }
        let (shown, more) = below(posts, request, size, by: "starting_after")
        return .json(
            #"{"object": "list", "data": \#(array(shown)), "has_more": \#(more), "url": "/v1/charges"}"#)
    }

    private static let youTube = PlayedAPI(
        profile: "youtube", path: "/youtube/v3/playlistItems?part=snippet&playlistId=P&maxResults=8", size: 8,
        posts: made(45) { number in
            let id = "UEx\(100 + number)"
            return (
                id,
                #""kind": "youtube#playlistItem", "etag": "e\#(number)", "id": "\#(id)", "#
                    + #""snippet": {"position": \#(45 - number), "title": "post"}"#
            )
        }
    ) { posts, request, size in
        // The token is a position, and the number of results is an estimate.
        let start = request.query["pageToken"].flatMap { Int($0.dropFirst()) } ?? 0
        let shown = posts.dropFirst(start).prefix(size)
        let next = start + size < posts.count ? #", "nextPageToken": "C\#(start + size)""# : ""
        return .json(
            #"{"kind": "youtube#playlistItemListResponse", "etag": "e"\#(next), "items": \#(array(shown)), "#
                + #""pageInfo": {"totalResults": 1000000, "resultsPerPage": \#(size)}}"#)
    }

    private static let zendesk = PlayedAPI(
        profile: "zendesk", path: "/api/v2/tickets.json?page[size]=8&sort=-id", size: 8,
        posts: made(45) { number in
            let url = "https://example.zendesk.com/api/v2/tickets/\(number).json"
            return ("\(number)", #""url": "\#(url)", "id": \#(number), "subject": "post""#)
        }
    ) {
        // The link is there on the last page, too.
        let (shown, more) = below($0, $1, $2, by: "page[after]")
        let list = "http://\($1.headers[.host] ?? "")\($1.path)?page[size]=8&sort=-id"
        let link = "\(list)&page[after]=\(shown.last!.id)"
        return .json(
            #"{"tickets": \#(array(shown)), "meta": {"has_more": \#(more), "after_cursor": "x"}, "#
                + #""links": {"next": "\#(link)", "prev": null}}"#)
    }
}
