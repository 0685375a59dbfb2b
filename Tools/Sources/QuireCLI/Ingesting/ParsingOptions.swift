import Foundation
import Quire
import QuireDumps

/// How the responses of a feed are read: said once, then remembered with the feed.
struct ParsingOptions: Codable, Equatable {
    /// The name of a built-in profile, or the text of one of the user's own.
    private var profile = "stackexchange"
    private var ownProfile: String?
    private var items: String?
    private var id: String?
    private var key: String?
    /// What the feed holds, if not what the profile describes: `rows posts`, `syndication`.
    private(set) var kind: String?

    /// The attribute of the feed that holds this as JSON.
    private static let attribute = "quire.parsing"

    init() {}

    /// What was asked for, the rest as remembered.
    init(_ options: IngestOptions, remembered: ParsingOptions?) throws {
        if let remembered { self = remembered }
        if let name = options.profile { (profile, ownProfile) = (name, nil) }
        if let path = options.profileFile {
            let text = try PageFile(path: path).read()
            _ = try Profile(json: text, name: path)
            ownProfile = String(decoding: text, as: UTF8.self)
        }
        items = options.items ?? items
        id = options.id ?? id
        key = options.key ?? key
    }

    /// What the first response was found to be. Other feeds with the profile of that name read as before.
    mutating func adopt(_ found: Profile) {
        if let known = Profile.named(found.name), known.source == found.source {
            (profile, ownProfile) = (found.name, nil)
        } else {
            ownProfile = found.source
        }
    }

    /// What the caller has said of the responses, besides the profile.
    func wishes(_ order: OrderClass?) -> Recognition.Wishes {
        Recognition.Wishes(items: items, id: id, key: key, order: order)
    }

    /// The caller did not say what the responses are.
    var isByDefault: Bool {
        var plain = ParsingOptions()
        plain.kind = kind
        return self == plain
    }

    mutating func hold(_ kind: InputPage.Kind) { self.kind = Self.name(of: kind) }

    var heldKind: InputPage.Kind? {
        switch kind {
        case nil: nil
        case "syndication": .syndication
        case let kind?: .rows(table: String(kind.dropFirst("rows ".count)))
        }
    }

    static func name(of kind: InputPage.Kind) -> String? {
        switch kind {
        case .response, .items: nil
        case .rows(let table): "rows \(table)"
        case .syndication: "syndication"
        }
    }

    /// The key was named by hand: it is the version of the post too.
    var keyIsVersion: Bool { key != nil }

    func loadProfile() throws -> Profile {
        var profile =
            try ownProfile.map {
                try Profile(json: Array($0.utf8), name: "the feed's own profile")
            } ?? builtInProfile(kind == Self.name(of: .syndication) ? "jsonfeed" : profile)
        do {
            if let items { try profile.setItems(path: items) }
            if let id { try profile.setID(path: id) }
            if let key { try profile.setKey(path: key) }
        } catch {
            throw Failure(.usage, error.message)
        }
        return profile
    }

    // MARK: Remembering

    init?(of feed: Feed) throws {
        let stored = try feed.cache.withSnapshot { try $0.attribute(Self.attribute, of: feed) }
        guard let stored, let parsing = try? JSONDecoder().decode(ParsingOptions.self, from: Data(stored))
        else { return nil }
        self = parsing
    }

    func remember(with feed: Feed, _ batch: borrowing Batch) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try batch[feed].setAttribute(Self.attribute, to: Array(encoder.encode(self)))
    }
}

func builtInProfile(_ name: String) throws -> Profile {
    if let profile = Profile.named(name) { return profile }
    let names = Profile.builtIn.map(\.name)
    let hint = Suggestion.words(for: name, in: names)
    let words = hint.isEmpty ? "; there is \(names.joined(separator: ", "))" : hint
    throw Failure(.usage, "no profile \(shown(name, limit: 60))\(words)")
}
