import Foundation
import Quire

/// Finds the profile of a response: one that comes with Quire, one of these with another list or id, or a
/// plain one made for an API that Quire does not know.
final class Recognizer {
    private let wishes: Recognition.Wishes
    private let envelope: Envelope?
    private let outline: JSONOutline

    init(wishes: Recognition.Wishes, envelope: Envelope?, outline: JSONOutline) {
        (self.wishes, self.envelope, self.outline) = (wishes, envelope, outline)
    }

    /// A profile, and why.
    struct Found {
        var profile: Profile
        var reason: String
        /// True for an API that no profile describes.
        var isUnknown = false
        /// The score of the list; `.max` if a profile that comes with Quire fits as it is.
        var likelihood = Int.max
    }

    /// Returns the profile; throws what would help if there is none.
    func find() throws(DumpError) -> Found {
        if let found = try known() { return found }
        if let error = ErrorDocument(outline) { throw DumpError(.data, error.sentence) }
        if let found = related() { return found }
        return try unknown()
    }

    // MARK: Profiles that fit as they are

    /// How many items a profile is tried on.
    private static let trialItems = 8

    /// Returns the built-in profile that fits best and finds posts, with the fields that the caller named.
    ///
    /// A profile has to fit as it is. With a field that was named by hand, one that asks for little else
    /// would fit any list that has the field.
    func known() throws(DumpError) -> Found? {
        var trials: [[String]: [UInt8]] = [:]
        var fits: [ProfileFit] = []
        for api in KnownAPI.all where isPossible(api) {
            let bytes = trials[api.items] ?? trial(of: api)
            trials[api.items] = bytes
            let fit = api.fit(bytes, envelope)
            if fit.fits && fit.posts > 0 { fits.append(fit) }
        }
        let fitting = ProfileFit.ranked(fits).lazy.compactMap({ self.wished($0.profile) }).first
        guard let profile = try fitting.map({ profile throws(DumpError) in try identified(profile) }) else {
            return nil
        }
        let (items, id) = (profile.items, profile.id.path)
        let place = items.keys.isEmpty ? "it is a list" : "\"\(items)\" is a list"
        let what = id.keys.isEmpty ? "ids" : "items with \"\(id)\""
        return Found(profile: profile, reason: "\(place) of \(what)")
    }

    /// Returns a profile that fits with the paths that the caller gave; nil if it then finds no posts.
    private func wished(_ fitting: Profile) -> Profile? {
        if wishes.items == nil && wishes.id == nil && wishes.key == nil { return fitting }
        var profile = fitting
        do throws(DumpError) {
            if let items = wishes.items { try profile.setItems(path: items) }
            if let id = wishes.id { try profile.setID(path: id) }
            if let key = wishes.key { try profile.setKey(path: key) }
        } catch { return nil }
        let api = KnownAPI(profile)
        return api.fit(trial(of: api), envelope).posts > 0 ? profile : nil
    }

    /// Returns a profile that fits with the id that tells its items apart: their own, where the items of
    /// another list of the API have the profile's id, too. Throws if they have none.
    private func identified(_ profile: Profile) throws(DumpError) -> Profile {
        let id = profile.id.path
        guard wishes.id == nil, !id.keys.isEmpty, profile.sequence == nil, !profile.isLines,
            let list = outline.find(profile.items.keys)
        else { return profile }
        let items = outline.children(of: list).filter { outline.nodes[$0].kind == .object }
        if let own = ownID(of: items, profile) { return profile.changed(by: [.id(own)]) ?? profile }
        let isMixed = profile.id.instead.contains { own in
            items.contains { outline.find(own.keys, from: $0) != nil }
        }
        let shared = SharedIDs(at: id.keys, of: items, in: outline)
        if shared.count == 0 && !isMixed { return profile }
        if let found = ListPlace.identity(of: items, profile.items.keys.last, outline),
            found.score >= ListPlace.leastOfID, found.path != id.text,
            let path = try? FieldPath(found.path), isInAll(items, path),
            SharedIDs(at: path.keys, of: items, in: outline).count == 0
        {
            return profile.changed(by: [.id(path)]) ?? profile
        }
        if !isMixed && !shared.isMostly { return profile }
        throw DumpError(
            .data,
            "its items have \"\(id)\" as those of profile \(profile.name), but other items have the same, and no "
                + "field of theirs differs for each like an id; --id names it")
    }

    /// Returns the id of another list of the API, if all these items have one.
    private func ownID(of items: [Int], _ profile: Profile) -> FieldPath? {
        if items.isEmpty { return nil }
        return profile.id.instead.first { isInAll(items, $0) }
    }

    private func isInAll(_ items: [Int], _ path: FieldPath) -> Bool {
        items.allSatisfy { item in
            outline.find(path.keys, from: item).map { outline.nodes[$0].kind != .null } ?? false
        }
    }

    /// Compares an API with the outline. That is much cheaper than trying its profile.
    private func isPossible(_ api: KnownAPI) -> Bool {
        if rootBits & api.itemsBit == 0 { return false }
        if api.items.isEmpty, !api.id.isEmpty, itemBits & api.idBit == 0 { return false }
        guard let items = outline.find(api.items), outline.nodes[items].kind == api.listKind,
            !api.profile.isLines,
            let (first, id) = outline.children(of: items).lazy.compactMap({ [outline] item in
                outline.find(api.id, from: item).map { (item, $0) }
            }).first
        else { return false }
        switch (outline.nodes[id].kind, api.profile.id.type) {
        case (.string, .string), (.string, .any), (.integer, .integer), (.integer, .any): break
        default: return false
        }
        if let key = api.key, outline.find(key, from: first) == nil { return false }
        if let mark = api.profile.mark, !mark.texts.isEmpty {
            guard let node = outline.find(mark.path.keys) else { return false }
            if !mark.texts.contains(where: outline.text(node).contains) { return false }
        }
        if api.items.isEmpty && api.id.isEmpty { return true }
        return api.signs == 0 || hasSign(api)
    }

    private lazy var rootBits = outline.keyBits(of: 0)
    /// Those of the elements of the document.
    private lazy var itemBits = outline.children(of: 0).reduce(0) { $0 | outline.keyBits(of: $1) }

    private func hasSign(_ api: KnownAPI) -> Bool { signs & api.signs != 0 }

    /// The signs in the first 32 KiB of the document, or in its request.
    private lazy var signs = {
        let search = SignSearch.builtIn
        return search.found(in: outline.bytes.prefix(1 << 15))
            | (envelope?.request.map { search.found(in: $0.utf8) } ?? 0)
    }()

    /// Returns the document with only the first items of the profile's list.
    private func trial(of api: KnownAPI) -> [UInt8] {
        guard api.listKind == .array, let items = outline.find(api.items),
            outline.nodes[items].count > Self.trialItems,
            let last = outline.children(of: items).dropFirst(Self.trialItems - 1).first(where: { _ in true })
        else { return Array(outline.bytes) }
        var end = outline.nodes[last].range.upperBound
        if outline.nodes[last].kind == .string { end += 1 }
        return Array(outline.slice(0..<end)) + [UInt8(ascii: "]")]
            + Array(outline.slice(outline.nodes[items].range.upperBound..<outline.bytes.count))
    }

    // MARK: Profiles that fit with another list

    /// Returns a built-in profile whose frame is there, around another list or with other ids.
    private func related() -> Found? {
        if places.isEmpty { return nil }
        var relations: [Relation] = []
        let apis = KnownAPI.all.filter { $0.hasFrame && ($0.signs == 0 || hasSign($0)) }
        let inDocument = apis.map { api in api.frame.inDocument.count { isThere($0, from: 0, rootBits) } }
        for place in places.prefix(6) {
            let items = outline.children(of: place.node).filter { outline.nodes[$0].kind == .object }
            let around = outline.find(Array(place.keys.dropLast())) ?? 0
            let bits = outline.keyBits(of: around)
            for (api, inDocument) in zip(apis, inDocument) {
                let own = wishes.id ?? ownID(of: items, api.profile)?.text
                guard let id = own ?? place.id?.path, let paths = place.paths(id) else { continue }
                let frame = inDocument + api.frame.aroundList.count { isThere($0, from: around, bits) }
                guard let score = score(api, frame, place, paths.id), !isForeign(api, place, paths)
                else { continue }
                relations.append(Relation(api: api, place: place, paths: paths, score: score))
            }
        }
        // Of equals the first one.
        while let best = relations.indices.max(by: { relations[$0].score < relations[$1].score }) {
            let (api, place, paths) = (relations[best].api, relations[best].place, relations[best].paths)
            let changes = [.items(paths.items), .id(paths.id)] + absentFields(of: api, place, paths.items)
            if let profile = api.profile.changed(by: changes) {
                let what = "its frame is around \"\(place.path)\", a list of items with \"\(paths.id.text)\""
                let position = profile.paging == .cursor ? position(changes, place) : nil
                return Found(
                    profile: position.flatMap { _ in profile.changed(by: [.paging(.pages)]) } ?? profile,
                    reason: what + (position.map { "; \($0.words)" } ?? ""), likelihood: place.score)
            }
            relations.remove(at: best)
        }
        return nil
    }

    /// An API whose frame is around a list.
    private struct Relation {
        let api: KnownAPI
        let place: ListPlace
        let paths: (items: FieldPath, id: FieldPath)
        let score: Int
    }

    /// The lists that may be meant, the likeliest first.
    private lazy var places = {
        let all = ListPlace.all(in: outline)
        guard let wish = wishes.items else { return all }
        return all.filter { $0.path == wish }
    }()

    /// `bits` are those of the node.
    private func isThere(_ path: KnownAPI.Path, from node: Int, _ bits: UInt64) -> Bool {
        if bits & path.bit == 0 { return false }
        return outline.find(path.keys, from: node).map { outline.nodes[$0].kind != .null } ?? false
    }

    /// Returns how much of the profile's frame is there; nil if too little. Its signs are there, if it has
    /// any, and `frame` of the paths of its frame.
    private func score(_ api: KnownAPI, _ frame: Int, _ place: ListPlace, _ id: FieldPath) -> Int? {
        if let post = api.post {
            guard id.text.hasPrefix(post.text + "."),
                let first = outline.children(of: place.node).first(where: { _ in true }),
                outline.find(post.keys, from: first) != nil
            else { return nil }
        }
        var score = (api.signs == 0 ? 0 : 2) + frame
        if api.items.count > 1, place.keys.count > 1, api.items.first == place.keys.first {
            score += api.items.last == place.keys.last ? 2 : 1
        }
        // A sign alone says nothing of a list deep inside.
        if score == 2, api.signs != 0, place.keys.count > 1 { return nil }
        return score >= 2 ? score * 1_000 + place.score : nil
    }

    /// True if the list has another name and another id than the API's, and goes on by a link that the API
    /// does not know. Then the frame is that of another API, with members of the same names.
    private func isForeign(
        _ api: KnownAPI, _ place: ListPlace, _ paths: (items: FieldPath, id: FieldPath)
    ) -> Bool {
        guard place.keys.last != api.items.last,
            paths.id != api.profile.id.path,
            let other = NextLink.find(in: outline, beside: place.keys)
        else { return false }
        return other != api.profile.next?.token?.path?.resolved(around: paths.items).text
    }

    /// What is to be changed for fields of the profile that these items do not have.
    private func absentFields(
        of api: KnownAPI, _ place: ListPlace, _ items: FieldPath
    ) -> [ProfileChange] {
        var changes: [ProfileChange] = []
        let profile = api.profile
        guard let first = outline.children(of: place.node).first(where: { _ in true }) else { return changes }
        if let key = api.key, outline.find(key, from: first) == nil {
            changes.append(.key(nil))
            if [.stable, .bump].contains(profile.order) { changes.append(.order(.keyless)) }
        }
        if let version = profile.version, outline.find(version.path.keys, from: first) == nil {
            changes.append(.version(nil))
        }
        if let next = profile.next?.token?.path, outline.find(next.resolved(around: items).keys) == nil,
            let other = NextLink.find(in: outline, beside: place.keys).flatMap({ try? FieldPath($0) })
        {
            changes += [.next(other), .noOwnLink]
        }
        return changes
    }

    // MARK: APIs without a profile

    /// Returns a plain profile for the likeliest list.
    private func unknown() throws(DumpError) -> Found {
        guard let place = places.first else { throw DumpError(.data, noList) }
        guard let id = wishes.id ?? place.id?.path else {
            throw DumpError(
                .data,
                "no profile fits, and no field of the items of \(Self.name(of: place)) differs for "
                    + "each like an id; --id names it")
        }
        if !outline.children(of: place.node).contains(where: { isThere(id, in: $0) }) {
            let name = Self.name(of: place)
            throw DumpError(.data, "no item of \(name) has \"\(printable(id))\", which --id names")
        }
        let rivals = places.dropFirst().filter { $0.id != nil && $0.score > place.score - 25 }
        if !rivals.isEmpty {
            let names = ([place] + rivals).prefix(5).map { "\"\(printable($0.path))\" (\($0.count))" }
            throw DumpError(
                .data,
                "no profile fits, and it has several lists: \(names.joined(separator: ", ")); --items names "
                    + "the one that is the feed")
        }
        let helps = "no profile fits; --profile-file takes one of your own"
        guard let (items, idPath) = place.paths(id) else { throw DumpError(.data, helps) }
        var changes: [ProfileChange] = [.items(items), .id(idPath)]
        if envelope?["Link"].map({ LinkHeader($0).addresses["next"] != nil }) == true {
            changes.append(.addresses)
        } else if let next = NextLink.find(in: outline, beside: place.keys) {
            guard let path = try? FieldPath(next) else { throw DumpError(.data, helps) }
            changes.append(.next(path))
        } else if wishes.mayLinkLater, wishes.paging == nil {
            changes += [.linkIsFound, .paging(.pages)]
        }
        let position = position(changes, place)
        if outline.children(of: place.node).contains(where: { outline.find(idPath.keys, from: $0) == nil }) {
            changes.append(.opaqueRows)
        }
        if let total = OwnTotal.find(in: outline, beside: place.keys, items: place.count) {
            changes.append(.total(total))
        }
        if let paging = wishes.paging ?? position.map({ _ in .pages }) { changes.append(.paging(paging)) }
        guard let profile = Profile.unknown.changed(by: changes) else { throw DumpError(.data, helps) }
        let list = place.path.isEmpty ? "it is a list" : "\"\(place.path)\" is a list"
        return Found(
            profile: profile,
            reason: "\(list) of items with \"\(id)\"" + (position.map { "; \($0.words)" } ?? ""),
            isUnknown: true, likelihood: place.score)
    }

    /// Returns the link of the response that one of the changes reads, if it is a position in the list.
    private func position(_ changes: [ProfileChange], _ place: ListPlace) -> PositionLink? {
        guard let request = envelope?.request else { return nil }
        for case .next(let path) in changes {
            guard let node = outline.find(path.keys) else { continue }
            if outline.nodes[node].kind == .integer {
                return PositionLink(outline.text(node), inMember: path.keys.last ?? "", of: request)
            }
            return PositionLink(
                outline.plainText(node), of: request, unseen: wishes.unseen, rows: place.count)
        }
        for case .addresses in changes {
            guard let link = envelope?["Link"].flatMap({ LinkHeader($0).addresses["next"] }) else { continue }
            return PositionLink(link, of: request, unseen: wishes.unseen, rows: place.count)
        }
        return nil
    }

    private func isThere(_ id: String, in item: Int) -> Bool {
        (try? FieldPath(id)).flatMap { outline.find($0.keys, from: item) } != nil
    }

    private static func name(of place: ListPlace) -> String {
        place.path.isEmpty ? "the list" : "\"\(printable(place.path))\""
    }

    /// Why there is no list in it.
    private var noList: String {
        if let wish = wishes.items, outline.find(wish.split(separator: ".").map(String.init)) == nil {
            return "no \(printable(wish)), which --items names"
        }
        let isFrame = outline.root.kind == .array || outline.root.count <= 6
        if isFrame, outline.hasEmptyList, let path = emptyLists(0, []).last {
            let name = path.isEmpty ? "it" : "\"\(printable(path))\""
            return "the page is empty: \(name) is a list without items, so nothing tells which API this is; "
                + "--profile names it"
        }
        return switch outline.root.kind {
        case .object:
            "no profile fits, and it has no list of objects: it is a single object with "
                + memberNames + "; quire profiles --explain shows what each profile misses"
        case .array: "no profile fits: it is a list of values, not of objects"
        default: "it is neither an object nor a list"
        }
    }

    private var memberNames: String {
        var names = ""
        for member in outline.children(of: 0).prefix(4) {
            names += names.isEmpty ? "\"" : ", \""
            names += printable(outline.key(member), limit: 30)
            names += "\""
        }
        return names.isEmpty ? "nothing in it" : names
    }

    private func emptyLists(_ node: Int, _ keys: [String]) -> [String] {
        switch outline.nodes[node].kind {
        case .array: outline.nodes[node].count == 0 ? [keys.joined(separator: ".")] : []
        case .object where keys.count < 4:
            outline.children(of: node).filter { outline.nodes[$0].holdsValues }
                .flatMap { emptyLists($0, keys + [outline.key($0)]) }
        default: []
        }
    }

}

extension ListPlace {
    /// The paths of the list and of the id in its items, as profiles have them; nil if no profile can.
    fileprivate func paths(_ id: String) -> (items: FieldPath, id: FieldPath)? {
        guard let items = try? FieldPath(path), let id = try? FieldPath(id) else { return nil }
        return (items, id)
    }
}
