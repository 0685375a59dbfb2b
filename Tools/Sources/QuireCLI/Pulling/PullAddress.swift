import Foundation
import Quire
import QuireDumps

/// The address of a list, as a person gives it: that of its first page.
struct PullAddress: Sendable {
    /// The address as it was written, without a fragment.
    let text: String
    /// What is before the parameters.
    private let path: String
    /// The parameters that are no secrets, as they were written.
    private let parameters: [Parameter]
    let secretParameters: [(name: String, text: SecretText)]

    struct Parameter: Sendable, Hashable {
        let name: String
        /// With the name, as it was written.
        let text: String
        var value: String { String(text.dropFirst(name.count + 1)).removingPercentEncoding ?? "" }
    }

    /// What a template may have places for.
    private static let places: Set = [
        "page", "offset", "limit", "token", "below", "above", "around", "until", "since",
    ]
    /// Parameters whose values are secrets.
    private static let secret: Set = [
        "access_token", "api_key", "apikey", "client_secret", "oauth_token", "password", "private_token",
    ]

    init(_ text: String) throws {
        let written = String(text.prefix { $0 != "#" })
        self.text = written
        let halves = written.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(halves[0])
        if try SecretText(path).hasReference {
            throw Failure(.usage, "a secret can stand in a header or a parameter, not in the path")
        }
        var (plain, secrets): ([Parameter], [(String, SecretText)]) = ([], [])
        for part in halves.count == 2 ? halves[1].split(separator: "&") : [] {
            let name = String(part.prefix { $0 != "=" })
            let secret = try SecretText(String(part.dropFirst(name.count + 1)))
            if secret.hasReference {
                secrets.append((name, secret))
            } else if Self.secret.contains(name.lowercased()) {
                throw Failure(
                    .usage,
                    "\(shown(name))=…: others can read the arguments of a program: say "
                        + "\(shown(name))={env:VARIABLE} or \(shown(name))={file:PATH}")
            } else {
                plain.append(Parameter(name: name, text: String(part)))
            }
        }
        (parameters, secretParameters) = (plain, secrets)
        try check()
    }

    private func check() throws {
        let parts = URLComponents(string: path.replacing(Self.brace, with: "1"))
        guard let parts, ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false
        else { throw Failure(.usage, "\(shown(path, limit: 200)): is not an address (http:// or https://)") }
        if parts.user != nil || parts.password != nil {
            throw Failure(
                .usage,
                "the address holds a name or a password: say "
                    + "--header 'Authorization: Basic {env:VARIABLE}'")
        }
        for place in named where !Self.places.contains(place) {
            let names = Self.places.sorted().joined(separator: ", ")
            throw Failure(.usage, "the address has a place {\(shown(place))}; there are \(names)")
        }
    }

    nonisolated(unsafe) private static let brace = /\{([^{}]*)\}/

    /// A place for the number of a page that says the number of the first one: `{page:0}`.
    nonisolated(unsafe) private static let numberedPage = /\{page:([0-9]{1,6})\}/

    private var texts: [String] { [path] + parameters.map(\.text) }

    /// The names of the places that the person wrote.
    private var named: Set<String> {
        Set(
            texts.map { $0.replacing(Self.numberedPage, with: "{page}") }.flatMap {
                $0.matches(of: Self.brace).map { String($0.1) }
            })
    }

    /// True if the person wrote places for what varies.
    var isTemplate: Bool { !named.isEmpty }

    /// True if the person wrote this place.
    func hasPlace(_ name: String) -> Bool { named.contains(name) }

    /// The place that says how the list is divided into pages.
    var placeOfPages: String? { ["page", "offset", "below"].first(where: named.contains) }

    /// How the list is divided into pages, if a place says so.
    var paging: Paging? {
        switch placeOfPages {
        case "page": .page
        case "offset": .offset
        case "below": .keyset
        default: nil
        }
    }

    /// The number of the first page, if the place for it says so.
    var firstPage: Int? {
        texts.lazy.compactMap { $0.firstMatch(of: Self.numberedPage).flatMap { Int($0.1) } }.first
    }

    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The last part of the path: `questions`.
    var lastPart: String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// The address of the first page.
    var first: String {
        Self.joined(path, parameters.filter { $0.text.firstMatch(of: Self.brace) == nil }.map(\.text))
    }

    /// The address as it may be shown: secrets as the names of their places.
    func printed(_ address: String) -> String {
        let secrets = secretParameters.map { "\($0.name)=\($0.text.text)" }
        if secrets.isEmpty { return address }
        return address + (address.contains("?") ? "&" : "?") + secrets.joined(separator: "&")
    }

    private static func joined(_ path: String, _ parameters: [String]) -> String {
        parameters.isEmpty ? path : "\(path)?\(parameters.joined(separator: "&"))"
    }

    // MARK: Templates

    /// How the pages of the list are asked for.
    struct Plan: Sendable, Equatable {
        /// A template for `HTTPSource`.
        var template: String
        /// The number of posts on a page, if the address says.
        var pageSize: Int?
        /// True if a request can say how many posts it wants.
        var namesSize: Bool
    }

    /// Returns the template of the list for an API.
    func plan(for profile: Profile, _ options: FeedOptions) throws -> Plan {
        let names = profile.requestParameters
        let size = names.size.flatMap { self[$0] }.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        if !named.isEmpty {
            let written = Self.joined(path, parameters.map(\.text))
            return Plan(
                template: written.replacing(Self.numberedPage, with: "{page}"), pageSize: size,
                namesSize: named.contains("limit"))
        }
        if let body = profile.requestBody {
            let isFree = body.places.contains("limit")
            return Plan(template: first, pageSize: isFree ? options.pageSize : nil, namesSize: isFree)
        }
        var replaced: [String: String] = [:]
        let isNumbered = options.paging == .page || options.paging == .offset
        if let name = names.size, isNumbered, size != nil || options.sizes == .free {
            replaced[name] = "limit"
        }
        if options.paging == .page { replaced[names.page] = "page" }
        if options.paging == .offset { replaced[names.offset] = "offset" }
        if !isNumbered, let token = names.token { replaced[token] = "token" }
        if let below = names.below, replaced[below] == nil { replaced[below] = "below" }
        if let above = names.above, replaced[above] == nil { replaced[above] = "above" }
        try requireTop(of: replaced, profile)
        let kept = parameters.filter { replaced[$0.name] == nil }.map(\.text)
        let places = replaced.sorted { $0.key < $1.key }.map { "\($0.key)={\($0.value)}" }
        return Plan(
            template: Self.joined(path, kept + places), pageSize: size,
            namesSize: replaced.values.contains("limit"))
    }

    /// Returns the address of the page with a number, without a size; nil if the template has no place for
    /// it.
    static func page(_ number: Int, of template: String) -> String? {
        let halves = template.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, template.contains("{page}") else { return nil }
        let filled = halves[1].replacing("{page}", with: "\(number)").split(separator: "&").map(String.init)
        return joined(String(halves[0]), filled.filter { $0.firstMatch(of: brace) == nil })
    }

    /// Returns the parameter with a place, which is the only one in it: `p={page}`; nil if there is none.
    func parameter(with place: String) -> String? {
        parameters.lazy.map { $0.text.replacing(Self.numberedPage, with: "{page}") }.first {
            $0.contains("{\(place)}") && $0.matches(of: Self.brace).count == 1
        }
    }

    /// Returns the template of the requests for bodies, if the profile says how they are asked for.
    func bodies(of profile: Profile) -> (template: String, profile: Profile)? {
        guard let (address, profile) = profile.bodiesRequest else { return nil }
        if address.contains("://") { return (address, profile) }
        let server = path.range(of: "://").flatMap { path[$0.upperBound...].firstIndex(of: "/") }
        let folder = address.hasPrefix("/") ? server : path.lastIndex(of: "/").map { path.index(after: $0) }
        guard let server, let folder else { return ("\(path)/\(address)", profile) }
        return (path[..<max(server, folder)] + address, profile)
    }

    /// Throws if the address names a page below the first one: the list would have no beginning.
    private func requireTop(of replaced: [String: String], _ profile: Profile) throws {
        for (name, place) in replaced.sorted(by: { $0.key < $1.key }) where place != "limit" {
            guard let value = self[name], !value.isEmpty else { continue }
            let isFirst =
                place == "page" && Int(value) == profile.firstPage || place == "offset" && value == "0"
            if isFirst { continue }
            throw Failure(
                .usage,
                "the address asks for a page below the first one (\(shown(name))="
                    + "\(shown(value, limit: 40))): leave that parameter out")
        }
    }

    /// Returns true if both are addresses of one list: they may differ in the size of a page, and in the
    /// parameters with places, which are different for each page.
    func isSameList(as other: PullAddress, for profile: Profile) -> Bool {
        let names = profile.requestParameters
        let free = Set([names.size, names.page].compactMap(\.self))
        func list(_ address: PullAddress) -> Set<Parameter> {
            Set(
                address.parameters.filter {
                    !free.contains($0.name) && $0.text.firstMatch(of: Self.brace) == nil
                })
        }
        return path == other.path && list(self) == list(other)
    }
}
