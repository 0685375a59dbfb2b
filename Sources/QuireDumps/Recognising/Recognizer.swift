import Foundation
import Quire

/// Finds the profile of a response: one that comes with Quire, one of these with another list or id, or a plain
/// one made for an API that Quire does not know.
struct Recognizer {
    let wishes: Recognition.Wishes
    let envelope: Envelope?
    let outline: JSONOutline

    /// A profile, and why.
    struct Found {
        var profile: Profile
        var reason: String
        /// True for an API that no profile describes.
        var isUnknown = false
    }

    /// Returns the profile; throws what would help if there is none.
    func find() throws(DumpError) -> Found {
        if let found = known() ?? related() { return found }
        try refuseErrors()
        return try unknown()
    }

    // MARK: Profiles that fit as they are

    /// How many items a profile is tried on.
    private static let trialItems = 8

    /// Returns the built-in profile that fits best and finds posts.
    func known() -> Found? {
        let candidates = Profile.builtIn.compactMap { wished($0) }.filter(isPossible)
        if candidates.isEmpty { return nil }
        var trials: [String: [UInt8]] = [:]
        let fits = candidates.compactMap { profile -> ProfileFit? in
            let bytes = trials[profile.items.text] ?? trial(of: profile)
            trials[profile.items.text] = bytes
            let fit = ProfileFit(profile, to: bytes, envelope: envelope)
            return fit.fits && fit.posts > 0 ? fit : nil
        }
        guard let best = ProfileFit.ranked(fits).first else { return nil }
        let (items, id) = (best.profile.items, best.profile.id.path)
        let place = items.keys.isEmpty ? "it is a list" : "\"\(items)\" is a list"
        let what = id.keys.isEmpty ? "ids" : "items with \"\(id)\""
        return Found(profile: best.profile, reason: "\(place) of \(what)")
    }

    /// Returns the profile with the paths that the caller gave; nil if it cannot have them.
    private func wished(_ profile: Profile) -> Profile? {
        var profile = profile
        do throws(DumpError) {
            if let items = wishes.items { try profile.setItems(path: items) }
            if let id = wishes.id { try profile.setID(path: id) }
            if let key = wishes.key { try profile.setKey(path: key) }
        } catch { return nil }
        return profile
    }

    /// Compares the profile with the outline. That is much cheaper than trying it.
    private func isPossible(_ profile: Profile) -> Bool {
        guard !profile.isLines, let items = outline.find(profile.items.keys),
            outline.nodes[items].kind == (profile.sequence == nil ? .array : .object),
            let first = outline.children(of: items).first(where: {
                outline.find(profile.id.path.keys, from: $0) != nil
            }),
            let id = outline.find(profile.id.path.keys, from: first)
        else { return false }
        switch (outline.nodes[id].kind, profile.id.type) {
        case (.string, .string), (.string, .any), (.integer, .integer), (.integer, .any): break
        default: return false
        }
        if let key = profile.key, outline.find(key.path.keys, from: first) == nil { return false }
        if let mark = profile.mark, !mark.texts.isEmpty {
            guard let node = outline.find(mark.path.keys) else { return false }
            if !mark.texts.contains(where: outline.text(node).contains) { return false }
        }
        if profile.items.keys.isEmpty && profile.id.path.keys.isEmpty { return true }
        return profile.signs.isEmpty || hasSign(profile)
    }

    private func hasSign(_ profile: Profile) -> Bool {
        profile.signs.contains { sign in
            envelope?.request?.contains(sign) == true || outline.contains(sign)
        }
    }

    /// Returns the document with only the first items of the profile's list.
    private func trial(of profile: Profile) -> [UInt8] {
        guard profile.sequence == nil, let items = outline.find(profile.items.keys),
            outline.nodes[items].count > Self.trialItems
        else { return Array(outline.bytes) }
        let last = outline.children(of: items)[Self.trialItems - 1]
        var end = outline.nodes[last].range.upperBound
        if outline.nodes[last].kind == .string { end += 1 }
        return Array(outline.slice(0..<end)) + [UInt8(ascii: "]")]
            + Array(outline.slice(outline.nodes[items].range.upperBound..<outline.bytes.count))
    }

    // MARK: Profiles that fit with another list

    /// Returns a built-in profile whose frame is there, around another list or with other ids.
    private func related() -> Found? {
        var best: (found: Found, score: Int)?
        let profiles = Profile.builtIn.filter { profile in
            !profile.isLines && profile.sequence == nil && profile.mark?.texts.isEmpty ?? true
                && (profile.signs.isEmpty || hasSign(profile))
        }
        for place in places.prefix(6) {
            guard let id = wishes.id ?? place.id?.path else { continue }
            for profile in profiles {
                guard let score = relation(profile, place, id), score > best?.score ?? 0 else { continue }
                var changes: [String: Any] = ["items": place.path, "id": ["path": id]]
                changes.merge(absentFields(of: profile, place)) { $1 }
                guard let derived = profile.changed(by: changes) else { continue }
                let what = "its frame is around \"\(place.path)\", a list of items with \"\(id)\""
                best = (Found(profile: derived, reason: what), score)
            }
        }
        return best?.found
    }

    /// The lists that may be meant, the likeliest first.
    private var places: [ListPlace] {
        let all = ListPlace.all(in: outline)
        guard let wish = wishes.items else { return all }
        return all.filter { $0.path == wish }
    }

    /// Returns how much of the profile's frame is there; nil if too little. Its signs are there, if it has any.
    private func relation(_ profile: Profile, _ place: ListPlace, _ id: String) -> Int? {
        if !profile.post.keys.isEmpty {
            let items = outline.children(of: place.node)
            guard id.hasPrefix(profile.post.text + "."), let first = items.first,
                outline.find(profile.post.keys, from: first) != nil
            else { return nil }
        }
        var score = profile.signs.isEmpty ? 0 : 2
        let items = profile.items.keys
        if items.count > 1, place.keys.count > 1, items.first == place.keys.first {
            score += items.last == place.keys.last ? 2 : 1
        }
        let ignored = [profile.error?.path, profile.error?.name, profile.error?.message].map { $0?.text }
        for path in Set(profile.outsidePaths) where !ignored.contains(path.text) {
            guard let node = outline.find(path.resolved(around: place.fieldPath).keys) else { continue }
            if outline.nodes[node].kind != .null { score += 1 }
        }
        // A sign alone says nothing of a list deep inside.
        if score == 2, !profile.signs.isEmpty, place.keys.count > 1 { return nil }
        return score >= 2 ? score * 1_000 + place.score : nil
    }

    /// The fields of the profile that these items do not have.
    private func absentFields(of profile: Profile, _ place: ListPlace) -> [String: Any] {
        var changes: [String: Any] = [:]
        guard let first = outline.children(of: place.node).first else { return changes }
        if let key = profile.key, outline.find(key.path.keys, from: first) == nil {
            changes["key"] = NSNull()
            if [.stable, .bump].contains(profile.order) { changes["order"] = "keyless" }
        }
        if let version = profile.version, outline.find(version.path.keys, from: first) == nil {
            changes["version"] = NSNull()
        }
        if let next = profile.next?.token?.path,
            outline.find(next.resolved(around: place.fieldPath).keys) == nil,
            let other = NextLink.find(in: outline, around: place)
        {
            changes["next"] = ["path": other, "absent": "unknown"]
            changes["self"] = NSNull()
        }
        return changes
    }

    // MARK: APIs without a profile

    /// Returns a plain profile for the likeliest list.
    private func unknown() throws(DumpError) -> Found {
        let places = places
        guard let place = places.first else { throw DumpError(.data, noList) }
        guard let id = wishes.id ?? place.id?.path else {
            throw DumpError(
                .data,
                "no profile fits, and no field of the items of \(Self.name(of: place)) differs for "
                    + "each like an id; --id names it")
        }
        let rivals = places.dropFirst().filter { $0.id != nil && $0.score > place.score - 25 }
        if !rivals.isEmpty {
            let names = ([place] + rivals).prefix(5).map { "\"\(printable($0.path))\" (\($0.count))" }
            throw DumpError(
                .data,
                "no profile fits, and it has several lists: \(names.joined(separator: ", ")); --items names "
                    + "the one that is the feed")
        }
        var changes: [String: Any] = [
            "name": "unknown", "title": "An API that Quire has no profile for",
            "items": place.path, "id": ["path": id], "order": "ranked",
        ]
        if envelope?["Link"].map({ LinkHeader($0).addresses["next"] != nil }) == true {
            changes["next"] = ["link": "next"]
            changes["self"] = ["request": true]
        } else if let next = NextLink.find(in: outline, around: place) {
            changes["next"] = ["path": next, "absent": "unknown"]
        }
        if outline.children(of: place.node).contains(where: { !hasID($0, id) }) {
            changes["opaque_rows"] = true
        }
        guard let profile = Profile.made(of: changes) else {
            throw DumpError(.data, "no profile fits; --profile-file takes one of your own")
        }
        let list = place.path.isEmpty ? "it is a list" : "\"\(place.path)\" is a list"
        return Found(profile: profile, reason: "\(list) of items with \"\(id)\"", isUnknown: true)
    }

    private static func name(of place: ListPlace) -> String {
        place.path.isEmpty ? "the list" : "\"\(printable(place.path))\""
    }

    private func hasID(_ item: Int, _ path: String) -> Bool {
        (try? FieldPath(path)).flatMap { outline.find($0.keys, from: item) } != nil
    }

    /// Why there is no list in it.
    private var noList: String {
        if let wish = wishes.items, outline.find(wish.split(separator: ".").map(String.init)) == nil {
            return "no \(printable(wish)), which --items names"
        }
        let isFrame = outline.root.kind == .array || outline.root.count <= 6
        if isFrame, let path = emptyLists(0, []).last {
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
        let names = outline.children(of: 0).prefix(4).map { "\"\(printable(outline.key($0), limit: 30))\"" }
        return names.isEmpty ? "nothing in it" : names.joined(separator: ", ")
    }

    private func emptyLists(_ node: Int, _ keys: [String]) -> [String] {
        switch outline.nodes[node].kind {
        case .array: outline.nodes[node].count == 0 ? [keys.joined(separator: ".")] : []
        case .object where keys.count < 4:
            outline.children(of: node).flatMap { emptyLists($0, keys + [outline.key($0)]) }
        default: []
        }
    }

    /// Throws if the document is what servers send in place of a page.
    private func refuseErrors() throws(DumpError) {
        guard outline.root.kind == .object, places.isEmpty else { return }
        let names = ["error", "errors", "errcode", "error_id", "status_code", "message"]
        guard let name = names.first(where: { outline.find([$0]) != nil }),
            outline.root.count <= 6, let node = outline.find([name]),
            outline.nodes[node].kind != .null, outline.text(node) != "false"
        else { return }
        let texts = ["error", "error_name", "errcode", "error_message", "message", "detail"].compactMap {
            key in
            outline.find([key]).flatMap { outline.nodes[$0].kind == .string ? outline.text($0) : nil }
        }
        let words = texts.prefix(2).map { printable($0, limit: 120) }
        throw DumpError(.data, (["error document"] + words).joined(separator: ": "))
    }
}

extension ListPlace {
    /// The path, as profiles have it.
    var fieldPath: FieldPath { (try? FieldPath(path)) ?? .here }
}
