import Quire
import QuireDumps
import QuireHTTP

/// How the responses of a list are to be read, and in which order its posts stand: as the options say, else as
/// the first response and its request show.
struct FirstAnswer {
    /// The options, completed.
    private(set) var options: IngestOptions
    /// What was found, in a line for people.
    private(set) var words: String
    private let fit: ProfileFit
    private let address: PullAddress

    /// Reads the first response. Throws if no profile fits it, or none can be told from the others.
    init(_ response: RawResponse, from address: PullAddress, _ options: IngestOptions) throws {
        let envelope = response.envelope(of: address.first)
        let candidates = try Self.candidates(options)
        let fits = ProfileFit.of(candidates, to: response.body, envelope: envelope)
        guard let best = fits.first, best.fits else {
            throw Failure(.data, Self.refusal(of: response, fits, address))
        }
        if best.posts == 0 && options.profile == nil && options.profileFile == nil {
            throw Failure(
                .data,
                "\(shown(address.first, limit: 200)): the answer has no posts, so nothing shows "
                    + "which API it is from: say --profile (quire profiles lists them)")
        }
        (fit, self.address, self.options, words) = (best, address, options, "")
        if options.profile == nil && options.profileFile == nil { self.options.profile = best.profile.name }
        let why = options.profile == nil && options.profileFile == nil ? Self.evidence(of: best) : ""
        words = "profile \(best.profile.name)\(why), \(try findOrder())"
    }

    /// The answer in the response.
    var answer: Answer { (try? fit.result.get().answer) ?? Answer() }

    /// The profiles that come into question, with the paths that the options name.
    private static func candidates(_ options: IngestOptions) throws -> [Profile] {
        if options.profile != nil || options.profileFile != nil {
            return [try ParsingOptions(options, remembered: nil).loadProfile()]
        }
        return Profile.builtIn.compactMap { profile in
            var named = options
            named.profile = profile.name
            return try? ParsingOptions(named, remembered: nil).loadProfile()
        }
    }

    private static func evidence(of fit: ProfileFit) -> String {
        " (it has \((["items", "id"] + fit.found).joined(separator: ", ")))"
    }

    private static func refusal(
        of response: RawResponse, _ fits: [ProfileFit], _ address: PullAddress
    ) -> String {
        let place = shown(address.first, limit: 200)
        if fits.count == 1, case .failure(let error) = fits[0].result {
            return "\(place): as \(fits[0].profile.name) reads it: \(error.message)"
        }
        if let first = response.body.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }),
            first == UInt8(ascii: "<")
        {
            return "\(place): the answer is HTML or XML; quire pull reads JSON (for RSS and Atom: "
                + "curl -s URL | quire ingest CACHE FEED -)"
        }
        let arrays = ArrayPlace.list(in: response.body).prefix(5)
            .map { "\"\(shown($0.path, limit: 60))\" of \(grouped($0.count))" }
        let places = arrays.isEmpty ? "" : "; its arrays, for --items: \(arrays.joined(separator: ", "))"
        return "\(place): no profile of quire fits the answer (quire profiles --explain says why)\(places)"
    }

    // MARK: Order

    /// Completes order and key. Returns them in words.
    private mutating func findOrder() throws -> String {
        if options.order != nil || options.key != nil {
            return inWords(options.order ?? fit.profile.order, options.key, "as given")
        }
        if let name = KnownAPI.directions.sorted().first(where: isUpwards) {
            throw Failure(
                .usage,
                "\(shown(name))=\(shown(address[name] ?? "")): the list begins with the oldest post, "
                    + "so new ones would come at its end, where nobody looks: ask for the newest first, or say "
                    + "--order")
        }
        if let ranking = ranking { return take(.ranked, nil, ranking) }
        let api = KnownAPI.named(fit.profile.name)
        if let sort = api.sort {
            let isUsual = api.sortedList.map { $0 == address.lastPart } ?? true
            let value = address[sort.parameter] ?? (isUsual ? api.usualSort : nil)
            if let value, let field = sort.fields[value], descends(by: field) {
                let said =
                    address[sort.parameter] == nil ? "as usual there" : "\(sort.parameter)=\(shown(value))"
                return take(order(by: field), field, said)
            }
        }
        if let own = ownOrder { return own }
        var found = OrderFit(fit.profile)
        found.add(answer)
        if let key = found.suggestion?.key, descends(by: key), isTime(key) || isID(key) {
            return take(order(by: key), key, "it descends")
        }
        let isKeyed = [.bump, .stable].contains(fit.profile.order)
        return take(isKeyed ? .keyless : nil, nil, "no time descends")
    }

    /// The order and key of the profile itself, if the posts descend by it.
    private var ownOrder: String? {
        guard [.bump, .stable].contains(fit.profile.order), fit.profile.hasKey,
            Self.isDescending(answer.posts.map(\.key))
        else { return nil }
        return inWords(fit.profile.order, nil, "as the profile says")
    }

    private mutating func take(_ order: OrderClass?, _ key: String?, _ why: String) -> String {
        (options.order, options.key) = (order, key)
        return inWords(order ?? fit.profile.order, key, why)
    }

    private func inWords(_ order: OrderClass, _ key: String?, _ why: String) -> String {
        "order \(order.rawValue)" + (key.map { " by \(shown($0))" } ?? "") + " (\(why))"
    }

    private func isUpwards(_ parameter: String) -> Bool {
        address[parameter].map { KnownAPI.upwards.contains($0.lowercased()) } ?? false
    }

    /// What says that the posts move up and down; nil if nothing does.
    private var ranking: String? {
        for name in KnownAPI.sortings.sorted() {
            if let value = address[name], KnownAPI.rankings.contains(value.lowercased()) {
                return "\(name)=\(value)"
            }
        }
        let last = String(address.lastPart.prefix { $0 != "." })
        return fit.profile.name == "reddit" && KnownAPI.rankedListings.contains(last) ? "/\(last)" : nil
    }

    /// A time may occur twice, an id cannot.
    private func order(by key: String) -> OrderClass { isID(key) ? .stable : .bump }

    private func isID(_ key: String) -> Bool {
        let ids = answer.posts.map(\.id.description)
        return ids == keys(by: key).map { $0.map(String.init) ?? "" }
    }

    /// Seconds, milliseconds or microseconds since 1970, from 1980 on.
    private func isTime(_ key: String) -> Bool {
        keys(by: key).allSatisfy { key in
            guard let key else { return false }
            return [1, 1_000, 1_000_000].contains { 315_532_800 * $0...4_102_444_800 * $0 ~= key }
        }
    }

    private func descends(by key: String) -> Bool { Self.isDescending(keys(by: key)) }

    private static func isDescending(_ keys: [Int64?]) -> Bool {
        guard !keys.isEmpty, keys.allSatisfy({ $0 != nil }) else { return false }
        return zip(keys, keys.dropFirst()).allSatisfy { $0! >= $1! }
    }

    private func keys(by key: String) -> [Int64?] {
        var profile = fit.profile
        guard (try? profile.setKey(path: key)) != nil else { return [] }
        let parser = PageParser(profile: profile)
        return (try? parser.read(answer.bytes, envelope: nil, name: ""))?.answer.posts.map(\.key) ?? []
    }
}
