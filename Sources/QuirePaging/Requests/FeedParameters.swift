import Foundation
import Quire

// A list that is asked for with parameters is another list with other ones. So the parameters are a part of
// the feed's name, and its pager sends those of the name: no pager can mix two questions in one feed.

extension Cache {
    /// The feed of a list as one set of parameters narrows it: a filter, a query, a site, an account. Its
    /// pager sends them with each request (``QuirePaging/PageRequest/parameters``).
    ///
    ///     let feed = try cache.feed(named: "questions", parameters: ["tagged": "swift"])
    ///     print(feed.name)            // questions?tagged=swift
    ///
    /// Other parameters give another feed, the same ones in any order this one. Thread rule and errors are
    /// those of `feed(named:options:)`; the name with its parameters has at most 255 bytes.
    public func feed(
        named list: String, parameters: [String: String], options: FeedOptions? = nil
    ) throws -> Feed {
        try feed(named: Feed.name(of: list, parameters: parameters), options: options)
    }
}

extension Feed {
    /// The parameters in the feed's name, which its pager sends. None if the name is not one that
    /// ``name(of:parameters:)`` gives, as `what?` is.
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

    /// The name of the feed of a list with these parameters: `questions?site=stackoverflow&tagged=swift`,
    /// sorted, with `%`, `?`, `&` and `=` escaped in the words between. Without parameters, and without these
    /// characters, it is the name of the list. Two questions never have one name.
    public static func name(of list: String, parameters: [String: String]) -> String {
        let words = parameters.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(escaped($0.value))" }
        return escaped(list) + (words.isEmpty ? "" : "?" + words.joined(separator: "&"))
    }

    private static func escaped(_ word: String) -> String {
        word.replacing("%", with: "%25").replacing("?", with: "%3F").replacing("&", with: "%26")
            .replacing("=", with: "%3D")
    }
}
