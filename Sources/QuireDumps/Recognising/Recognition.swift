public import Quire

/// What a response is: the profile that reads it, and by what its list is ordered.
///
/// Found from the first response of a feed, when the caller does not say which API it comes from.
///
///     let recognition = try Recognition(of: bytes, envelope: envelope, name: "1.json")
///     let parser = PageParser(profile: recognition.profile)
public struct Recognition: Sendable {
    /// What the caller has said about the feed already.
    public struct Wishes: Sendable {
        /// The path of the array of items, from the document.
        public var items: String?
        /// The path of the id, from the item.
        public var id: String?
        /// The path of the sort key, from the item.
        public var key: String?
        /// The order class.
        public var order: OrderClass?
        /// How the API divides the list into pages, unless its profile says it.
        public var paging: Paging?
        /// The names of parameters that the request had besides those of its address, as secrets are. The
        /// server may repeat them in its links.
        public var unseen: Set<String> = []
        /// The number of the first page, for an API that Quire does not know.
        public var firstPage: Int?
        /// True if the caller goes on as later responses say. If the first response of an unknown list has no
        /// link, each response is then searched for one. The links count as positions, because nothing says
        /// that they are cursors.
        public var mayLinkLater = false

        /// Creates wishes; nil leaves the answer to the response.
        public init(
            items: String? = nil, id: String? = nil, key: String? = nil, order: OrderClass? = nil,
            paging: Paging? = nil
        ) {
            (self.items, self.id, self.key) = (items, id, key)
            (self.order, self.paging) = (order, paging)
        }
    }

    /// The profile, with the order class and sort key that were found, and what the caller wished for.
    ///
    /// Its ``Profile/source`` is that of a built-in profile, if nothing in it had to be changed.
    public let profile: Profile
    /// Why it is this profile, as the rest of a sentence: `"items" and "has_more" are there`.
    public let reason: String
    /// Why it is this order, as the rest of a sentence: `created_at descends`.
    public let orderReason: String
    /// What the response does not say, and which option settles it; nil if nothing is open.
    public let advice: String?
    /// True if the request asks for the oldest post first. New ones come at the end of such a list.
    public let asksForOldest: Bool

    /// The number that the response gives itself, if that is 0 or 1. If its request had none, this is the
    /// number of the first page.
    public let pageNumber: Int?

    /// How likely its list is what the document is about; `.max` if a profile that comes with Quire fits as
    /// it is.
    let likelihood: Int

    /// True if a profile that comes with Quire fits as it is.
    public var knowsAPI: Bool { likelihood == .max }

    /// The recognition in one line.
    public var sentence: String {
        let isSorted = [.stable, .bump].contains(profile.order)
        let key = isSorted ? profile.key.map { " by \($0.path)" } ?? "" : ""
        let name = profile.name == "unknown" ? "without a profile" : "as \(profile.name)"
        return "read \(name): \(reason); order \(profile.order.rawValue)\(key): \(orderReason)"
            + (advice.map { "; \($0)" } ?? "")
    }
}

extension Recognition {
    /// Recognises a response. `envelope` was received with the body; a recorded exchange has its own. `name`
    /// is used in messages. The time does not depend on the number of profiles, but on the size of the
    /// response.
    ///
    /// Throws `.data` with what is missing and which option would help: the bytes are not JSON, it is an
    /// error document, no list is in it, or several.
    public init(
        of bytes: [UInt8], envelope: Envelope? = nil, name: String, wishes: Wishes = Wishes()
    ) throws(DumpError) {
        do throws(DumpError) {
            var (document, envelope) = (bytes[...], envelope)
            if Envelope.leads(document) { (envelope, document) = try Envelope.split(document) }
            if document.starts(with: [0xEF, 0xBB, 0xBF]) { document = document.dropFirst(3) }
            if let status = envelope?.status, !(200..<300 ~= status) {
                throw DumpError(.data, "error document: HTTP \(status)")
            }
            guard let outline = JSONOutline(document) else {
                try Self.requireJSON(document)
                try Scanner(depth: PageParser.depthLimit).read(document)
                throw DumpError(.data, "not JSON: it is cut off")
            }
            if outline.root.kind == .array, let found = try Self.ofElements(outline, wishes) {
                self = found
                return
            }
            self = try Self.ofResponse(outline, envelope, wishes)
        } catch {
            throw DumpError(error.kind, "\(printable(name, limit: 400)): \(error.message)")
        }
    }

    /// Reads from the request by what the list of a response with this profile is ordered, if the profile
    /// knows the words: many APIs sort the same list in several ways. With `key`, the path of the sort key
    /// that the caller named, a list that the profile says nothing about is in its order, if the key
    /// descends. Returns nil if the profile decides the order, or the response does not fit.
    public init?(of bytes: [UInt8], as profile: Profile, envelope: Envelope, key: String? = nil) {
        guard let outline = JSONOutline(bytes[...]), let list = outline.find(profile.items.keys) else {
            return nil
        }
        let items = Array(outline.children(of: list))
        let found = Recognizer.Found(profile: profile, reason: "as was said")
        let wishes = Wishes(key: key)
        let decision = OrderDecision(
            found: found, wishes: wishes, envelope: envelope, outline: outline, items: items)
        if key == nil ? decision.requested() == nil : profile.order != .keyless { return nil }
        self.init(found, wishes, envelope, outline, items)
    }

    /// Throws if the document is not even begun as JSON.
    private static func requireJSON(_ document: ArraySlice<UInt8>) throws(DumpError) {
        let text = document.drop(while: isJSONSpace).prefix(80)
        guard let first = text.first, !"[{\"-0123456789tfn".utf8.contains(first) else { return }
        if text.starts(with: "PK".utf8) && text.dropFirst(2).first.map({ $0 < 9 }) == true {
            throw DumpError(.data, "a zip archive, which is not read: unpack it, or pack it as tar or 7z")
        }
        let words = printable(String(decoding: text, as: UTF8.self), limit: 20)
        throw DumpError(.data, "not JSON, and not XML: it begins with \"\(words)\"")
    }

    /// Recognises a list of documents, one after the other in a file: responses, or items without their
    /// response.
    ///
    /// Odd ones among them are passed over, and the first one where it alone is odd. Throws as
    /// ``init(of:envelope:name:wishes:)`` does.
    init(ofEach documents: [[UInt8]], name: String, wishes: Wishes) throws(DumpError) {
        do throws(DumpError) {
            self = try Recognition(ofAll: documents, name: name, wishes: wishes)
        } catch {
            let others = Array(documents.dropFirst())
            guard others.count > 1, let found = try? Recognition(ofAll: others, name: name, wishes: wishes)
            else { throw error }
            self = found
        }
    }

    private init(ofAll documents: [[UInt8]], name: String, wishes: Wishes) throws(DumpError) {
        do throws(DumpError) {
            let scanner = Scanner(depth: PageParser.depthLimit)
            var problem: DumpError?
            let sound = documents.filter { document in
                do throws(DumpError) {
                    try scanner.read(document[...])
                    return true
                } catch {
                    problem = problem ?? error
                    return false
                }
            }
            if sound.isEmpty {
                try Self.requireJSON((documents.first ?? [])[...])
                throw problem ?? DumpError(.data, "nothing in it")
            }
            let array =
                [UInt8(ascii: "[")] + Array(sound.joined(separator: [UInt8(ascii: ",")])) + [
                    UInt8(ascii: "]")
                ]
            guard let outline = JSONOutline(array[...]) else { throw DumpError(.data, "not JSON") }
            let items = Array(outline.children(of: 0))
            for profile in Profile.builtIn where profile.isLines {
                let fitting = items.filter { Self.marks(profile, $0, outline) }
                if fitting.count * 2 > items.count {
                    let shifted = profile.shifted(to: fitting, in: outline)
                    let found = Recognizer.Found(profile: shifted, reason: "its lines are such messages")
                    self.init(found, wishes, nil, outline, [])
                    return
                }
            }
            if let found = try Self.ofLists(outline, wishes) {
                self = found
                return
            }
            if let found = try Self.ofElements(outline, wishes) {
                self = found
                return
            }
            do throws(DumpError) {
                let found = try Recognizer(wishes: wishes, envelope: nil, outline: outline).find()
                self.init(found, wishes, nil, outline, items)
            } catch {
                guard let found = Self.ofResponses(outline, wishes) else { throw error }
                self = found
            }
        } catch {
            throw DumpError(error.kind, "\(printable(name, limit: 400)): \(error.message)")
        }
    }

    private static func ofResponse(
        _ outline: JSONOutline, _ envelope: Envelope?, _ wishes: Wishes
    ) throws(DumpError) -> Recognition {
        let found = try Recognizer(wishes: wishes, envelope: envelope, outline: outline).find()
        let items = outline.find(found.profile.items.keys) ?? 0
        return Recognition(found, wishes, envelope, outline, Array(outline.children(of: items)))
    }

    /// Recognises the elements of an array that are responses, each one a list of items. Returns nil if most
    /// are something else.
    private static func ofLists(_ outline: JSONOutline, _ wishes: Wishes) throws(DumpError) -> Recognition? {
        let documents = Array(outline.children(of: 0))
        let lists = documents.filter { outline.nodes[$0].kind == .array }
        let first = lists.first { list in
            outline.children(of: list).prefix(1).contains { outline.nodes[$0].kind == .object }
        }
        guard lists.count * 2 > documents.count, let first,
            let inner = JSONOutline(outline.slice(outline.nodes[first].range))
        else { return nil }
        return try ofResponse(inner, nil, wishes)
    }

    /// Recognises the elements of an array that are responses, or items of an API whose ids have a name of
    /// their own. Returns nil if they are neither.
    private static func ofElements(_ outline: JSONOutline, _ wishes: Wishes) throws(DumpError) -> Recognition?
    {
        let items = Array(outline.children(of: 0))
        let objects = items.prefix(8).filter { outline.nodes[$0].kind == .object }
        for first in objects where wishes.items == nil {
            guard let profile = ofItem(first, outline) else { continue }
            // The name of the id is all that tells these items.
            if let id = wishes.id, id != profile.id.path.text { continue }
            let reason = "they are items with \"\(profile.id.path)\""
            return Recognition(
                Recognizer.Found(profile: profile, reason: reason), wishes, nil, outline, items)
        }
        for item in objects {
            guard let inner = JSONOutline(outline.slice(outline.nodes[item].range)) else { continue }
            let recognizer = Recognizer(wishes: wishes, envelope: nil, outline: inner)
            let response = try? wishes.items == nil ? recognizer.known() : recognizer.find()
            guard let found = response, !found.profile.items.keys.isEmpty else { continue }
            let list = inner.find(found.profile.items.keys).map { Array(inner.children(of: $0)) } ?? []
            return Recognition(found, wishes, nil, inner, list)
        }
        return nil
    }

    /// Recognises the elements of an array that are responses of an unknown API. Returns nil if not most of
    /// them have the list of the first one that has one.
    private static func ofResponses(_ outline: JSONOutline, _ wishes: Wishes) -> Recognition? {
        let documents = Array(outline.children(of: 0))
        for document in documents.prefix(8) where outline.nodes[document].kind == .object {
            guard let inner = JSONOutline(outline.slice(outline.nodes[document].range)),
                let found = try? ofResponse(inner, nil, wishes), !found.profile.items.keys.isEmpty
            else { continue }
            let lists = documents.count { document in
                outline.find(found.profile.items.keys, from: document)
                    .map { outline.nodes[$0].kind == .array } ?? false
            }
            return lists * 2 > documents.count ? found : nil
        }
        return nil
    }

    /// Returns the profile whose ids have the name that this item has.
    private static func ofItem(_ item: Int, _ outline: JSONOutline) -> Profile? {
        let bits = outline.keyBits(of: item)
        return KnownAPI.all.first { api in
            guard bits & api.idBit != 0, !api.profile.isLines, api.post == nil, api.id.count == 1,
                !api.items.isEmpty,
                let name = api.id.first, name.utf8.count > 2, outline.find([name], from: item) != nil
            else { return false }
            return api.key.map { outline.find($0, from: item) != nil } ?? true
        }?.profile
    }

    private static func marks(_ profile: Profile, _ item: Int, _ outline: JSONOutline) -> Bool {
        guard let mark = profile.mark, let node = outline.find(mark.path.keys, from: item) else {
            return false
        }
        return mark.texts.isEmpty || mark.texts.contains(outline.text(node))
    }

    private init(
        _ found: Recognizer.Found, _ wishes: Wishes, _ envelope: Envelope?, _ outline: JSONOutline,
        _ items: [Int]
    ) {
        // Rows that are null say nothing of the others.
        let posts = items.filter { outline.nodes[$0].kind != .null }
        let decision = OrderDecision(
            found: found, wishes: wishes, envelope: envelope, outline: outline, items: posts)
        var verdict = decision.verdict()
        var profile = Self.profile(found.profile, verdict, wishes)
        if wishes.order == nil, verdict.key != nil, !Self.descends(profile, items, in: outline) {
            let key = profile.key.map { "\($0.path)" } ?? "its key"
            verdict = OrderDecision.Verdict(order: .ranked, reason: "\(key) descends on the first rows only")
            profile = Self.profile(found.profile, verdict, wishes)
        }
        (self.profile, reason, likelihood) = (profile, found.reason, found.likelihood)
        (orderReason, advice) = (verdict.reason, verdict.advice)
        asksForOldest = verdict.asksForOldest
        pageNumber = OwnNumber.find(in: outline, beside: found.profile.items.keys)
    }

    /// Returns the profile with the order, and what was wished for.
    private static func profile(
        _ found: Profile, _ verdict: OrderDecision.Verdict, _ wishes: Wishes
    ) -> Profile {
        var changes: [ProfileChange] = []
        if verdict.order != found.order { changes.append(.order(verdict.order)) }
        if let key = verdict.key, key.path != found.key?.path.text || key.type == .number {
            guard let path = try? FieldPath(key.path) else { return found }
            let field = KeyField(path: path, type: key.type)
            changes.append(.key(field))
            if found.version == nil { changes.append(.version(field)) }
        }
        if let number = wishes.firstPage, found.paging == .page { changes.append(.firstPage(number)) }
        var profile = found.changed(by: changes) ?? found
        // These were found to be possible.
        if let items = wishes.items { try? profile.setItems(path: items) }
        if let id = wishes.id { try? profile.setID(path: id) }
        if let key = wishes.key { try? profile.setKey(path: key) }
        return profile
    }

    /// Returns true if the keys descend on the whole page, of which these items are known to.
    private static func descends(_ profile: Profile, _ items: [Int], in outline: JSONOutline) -> Bool {
        guard !profile.isLines, let field = profile.key, let list = outline.find(profile.items.keys),
            outline.nodes[list].count > items.count, let last = items.last,
            let post = items.last(where: { outline.nodes[$0].kind != .null })
        else { return true }
        guard var above = OrderFinding.key(field, of: post, in: outline) else { return false }
        var isDescending = true
        outline.eachUnread(of: list, below: last, field.path.keys) { found in
            guard let found, let key = OrderFinding.key(field, found.kind, outline.slice(found.range)),
                key <= above
            else {
                isDescending = false
                return false
            }
            above = key
            return true
        }
        return isDescending
    }
}

extension Profile {
    /// Returns the profile for messages that have the post at another place of their array.
    fileprivate func shifted(to messages: [Int], in outline: JSONOutline) -> Profile {
        guard let message = messages.first, let from = post.keys.first,
            outline.find(id.path.keys, from: message) == nil,
            let place = Array(outline.children(of: message)).firstIndex(where: {
                outline.nodes[$0].kind == .object
            })
        else { return self }
        func moved(_ path: FieldPath) -> FieldPath? {
            if path.keys.first != from { return path }
            return try? FieldPath("\(place)" + path.text.dropFirst(from.count))
        }
        guard let post = moved(post), let id = moved(id.path) else { return self }
        var changes: [ProfileChange] = [.post(post), .id(id)]
        if let key, let path = moved(key.path) { changes.append(.key(KeyField(path: path, type: key.type))) }
        return changed(by: changes) ?? self
    }
}
