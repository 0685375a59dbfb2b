import Foundation
import Quire

// A list requested with other parameters is another list. So the parameters are part of the feed's name, and
// its pager sends those in the name: a pager cannot mix two queries in one feed.

extension Cache {
    /// Returns the feed of a list that is narrowed by parameters: a filter, a query, a site, an account. Its
    /// pager sends them with each request (``QuirePaging/PageRequest/parameters``).
    ///
    ///     let feed = try cache.feed(named: "questions", parameters: ["tagged": "swift"])
    ///     print(feed.name)            // questions?tagged=swift
    ///
    /// Other parameters give another feed; their order does not matter. Thread rule and errors are those of
    /// `feed(named:options:)`. The name with its parameters has at most 255 bytes.
    public func feed(
        named list: String, parameters: [String: String], options: FeedOptions? = nil
    ) throws -> Feed {
        try feed(named: Feed.name(of: list, parameters: parameters), options: options)
    }
}

extension Feed {
    /// The parameters in the feed's name, which its pager sends. Empty if ``name(of:parameters:)`` cannot
    /// have made the name, like `what?`.
    public var parameters: [String: String] {
        let halves = name.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let list = String(halves[0]).removingPercentEncoding else { return [:] }
        var parameters: [String: String] = [:]
        for pair in halves[1].split(separator: "&", omittingEmptySubsequences: false) {
            let words = pair.split(separator: "=", omittingEmptySubsequences: false)
                .compactMap { String($0).removingPercentEncoding }
            if words.count != 2 { return [:] }
            parameters[words[0]] = words[1]
        }
        return Feed.name(of: list, parameters: parameters) == name ? parameters : [:]
    }

    /// Returns the name of the feed of a list with these parameters:
    /// `questions?site=stackoverflow&tagged=swift`, sorted, with `%`, `?`, `&` and `=` escaped in the words.
    /// Without parameters and these characters, it is the list's name. Two different queries never have the
    /// same name.
    public static func name(of list: String, parameters: [String: String]) -> String {
        let words = parameters.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(escaped($0.value))" }
        return escaped(list) + (words.isEmpty ? "" : "?" + words.joined(separator: "&"))
    }

    private static func escaped(_ word: String) -> String {
        word.replacing("%", with: "%25").replacing("?", with: "%3F").replacing("&", with: "%26")
            .replacing("=", with: "%3D")
    }
}
