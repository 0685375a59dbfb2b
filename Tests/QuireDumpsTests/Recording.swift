import Foundation
import Quire
import QuireDumps
import Testing

/// A page of a crawl: what was asked, what came.
struct RecordedPage: Sendable {
    let request: String
    /// The request for the next page, as the recording has it; nil if there is none.
    let next: String?
    /// What the feed should remember of that: the address, or the part that the server gave.
    let token: String
    let ids: [String]
    let bytes: [UInt8]
    let envelope: Envelope
}

/// Recordings of several tools, read by the simplest means.
enum Recording {
    /// A list of exchanges with parsed bodies.
    static func octokit(_ path: String) throws -> [RecordedPage] {
        let list = try JSONSerialization.jsonObject(with: Data(Fixtures.bytes(path))) as? [[String: Any]]
        return try (list ?? []).map { exchange in
            let body = try JSONSerialization.data(withJSONObject: exchange["response"] ?? [])
            let headers = exchange["headers"] as? [String: Any]
            let address = "\(exchange["scope"] ?? "")\(exchange["path"] ?? "")"
            return try linked(address, Array(body), link: headers?["link"] as? String)
        }
    }

    /// Ten lines for each exchange; the ninth has the headers, the tenth the body.
    static func pyGitHub(_ name: String) throws -> [RecordedPage] {
        let bytes = try Fixtures.bytes("github/pygithub/replay/\(name).txt")
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return try stride(from: 0, to: lines.count - 9, by: 11).map { start in
            let text = lines[start..<start + 9].map { String(decoding: $0, as: UTF8.self) }
            let link = text[8].firstMatch(of: /\('link', '([^']*)'\)/).map { String($0.1) }
            return try linked("\(text[0])://\(text[2])\(text[4])", Array(lines[start + 9]), link: link)
        }
    }

    /// The pages as the manifest names their requests, the headers from the YAML of the recorder.
    static func mastodon(_ name: String) throws -> [RecordedPage] {
        let yaml = String(
            decoding: try Fixtures.bytes("mastodon/mastodon.py/vcr/\(name).yaml"), as: UTF8.self)
        var links: [String: String] = [:]
        var address = ""
        var link: String?
        for line in yaml.split(separator: "\n") {
            if line.hasPrefix("    uri: ") { (address, link) = (String(line.dropFirst(9)), nil) }
            if let begun = link {
                if line.hasPrefix("      - ") || line.hasPrefix("        ") {
                    link = begun + " " + line.drop { $0 == " " || $0 == "-" }
                    links[address] = link
                } else {
                    link = nil
                }
            }
            if line == "      link:" { link = "" }
        }
        return try requests(in: "mastodon/mastodon.py/pages/\(name)").compactMap { path, address in
            let bytes = try Fixtures.bytes(path)
            guard bytes.first == UInt8(ascii: "[") else { return nil }
            return try linked(address, bytes, link: links[address])
        }
    }

    static func reddit() throws -> [RecordedPage] {
        try requests(in: "reddit/praw/pages/TestListingGenerator.test_exhaust_items").map { path, address in
            let bytes = try Fixtures.bytes(path)
            let root = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            let data = root?["data"] as? [String: Any]
            let children = data?["children"] as? [[String: Any]] ?? []
            let ids = children.compactMap { ($0["data"] as? [String: Any])?["name"] as? String }
            let after = data?["after"] as? String
            return page(address, ids, bytes, token: after) {
                "https://oauth.reddit.com/user/spez/?raw_json=1&t=all&after=\($0)&limit=1024&sort=top"
            }
        }
    }

    /// The fixtures have no two pages of one feed: this is one page of 25, cut into five.
    static func bluesky() throws -> [RecordedPage] {
        let bytes = try Fixtures.bytes("bluesky/atproto.dart/getAuthorFeed.json")
        let root = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        let items = root?["feed"] as? [[String: Any]] ?? []
        return try stride(from: 0, to: items.count, by: 5).map { start in
            let part = Array(items[start..<min(start + 5, items.count)])
            let cursor = start + 5 < items.count ? "c::\(start + 5)" : nil
            var body: [String: Any] = ["feed": part]
            body["cursor"] = cursor
            let ids = part.compactMap { ($0["post"] as? [String: Any])?["uri"] as? String }
            let base = "https://bsky.social/xrpc/app.bsky.feed.getAuthorFeed?limit=5"
            return page(
                start == 0 ? base : base + "&cursor=c::\(start)", ids,
                Array(try JSONSerialization.data(withJSONObject: body)), token: cursor
            ) { base + "&cursor=" + $0 }
        }
    }

    /// The pages 900 to 929, which do not overlap; the recording says their numbers only in their names,
    /// so they get a request each.
    static func stackOverflow() throws -> [RecordedPage] {
        try (900...929).map { number in
            let bytes = try Fixtures.bytes("stackexchange/so-activity-2018/pages/\(number).json")
            let root = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            let items = root?["items"] as? [[String: Any]] ?? []
            let ids = items.compactMap { ($0["question_id"] as? Int).map(String.init) }
            let base = "https://api.stackexchange.com/2.2/questions?sort=activity&page="
            return page(base + "\(number)", ids, bytes, token: "page=\(number + 1)") { _ in
                base + "\(number + 1)"
            }
        }
    }

    // MARK: Parts

    /// The files of a folder and the requests that MANIFEST.tsv has for them.
    private static func requests(in folder: String) throws -> [(path: String, address: String)] {
        let manifest = String(decoding: try Fixtures.bytes("MANIFEST.tsv"), as: UTF8.self)
        return manifest.split(separator: "\n").filter { $0.hasPrefix(folder + "/") }.map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
            return (String(cells[0]), String(cells[7].split(separator: " ").last ?? ""))
        }.sorted { $0.0 < $1.0 }
    }

    /// A page whose next one stands in its header `Link`.
    private static func linked(_ address: String, _ bytes: [UInt8], link: String?) throws -> RecordedPage {
        let root = try JSONSerialization.jsonObject(with: Data(bytes))
        let items = (root as? [String: Any])?["items"] ?? root
        let ids = (items as? [[String: Any]] ?? []).compactMap { item in
            (item["id"] as? String) ?? (item["id"] as? NSNumber)?.stringValue
        }
        let next = link?.firstMatch(of: /<([^>]*)>;\s*rel="next"/).map { String($0.1) }
        var recorded = page(address.replacing(":443", with: ""), ids, bytes, token: next) { $0 }
        if let link { recorded = recorded.adding("link", link) }
        return recorded
    }

    private static func page(
        _ address: String, _ ids: [String], _ bytes: [UInt8], token: String?,
        _ next: (String) -> String
    ) -> RecordedPage {
        RecordedPage(
            request: address, next: token.map(next), token: token ?? "", ids: ids, bytes: bytes,
            envelope: Envelope(request: address, status: 200))
    }
}

extension RecordedPage {
    fileprivate func adding(_ name: String, _ value: String) -> RecordedPage {
        var envelope = envelope
        envelope.add(name, value)
        return RecordedPage(
            request: request, next: next, token: token, ids: ids, bytes: bytes, envelope: envelope)
    }
}

extension Feed {
    /// Takes a response in as a page of a crawl; a list of ids is the answer to a refresh.
    func take(_ response: Response, page: Int, of crawl: inout Crawl) throws -> Outcome {
        if options.paging == .ids {
            return try ingest(response.answer, for: #require(plan(.head).request).ticket)
        }
        let (answer, number) = response.place(number: page, in: &crawl)
        return try ingest(answer, page: number, of: &crawl)
    }
}
