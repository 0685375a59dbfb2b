import Quire
import Synchronization

/// A profile, prepared for comparing responses with it.
final class KnownAPI: Sendable {
    let profile: Profile
    let items: [String]
    /// What is at the place of the items.
    let listKind: JSONOutline.Kind
    let id: [String]
    /// The bits of the first keys of these paths, as ``JSONOutline/keyBits(of:)`` counts them; all if there
    /// is none.
    let itemsBit: UInt64
    let idBit: UInt64
    let key: [String]?
    /// The object in an item that is the post, if the item is not.
    let post: FieldPath?
    /// Its signs, as ``SignSearch`` counts them; none if it has none.
    let signs: UInt64
    /// The paths around a list: those from the document, and those from the object around the list.
    let frame: (inDocument: [Path], aroundList: [Path])
    /// True if its frame may be around another list.
    let hasFrame: Bool
    private let idle = Mutex<[IdleParser]>([])

    /// The parsers of a profile that are not in use. One of them serves one caller at a time.
    private struct IdleParser: @unchecked Sendable { let parser: PageParser }

    private static let idleLimit = 4
    /// A parser keeps memory for the largest document that it has read, so it is not kept after larger ones.
    private static let keptSize = 1 << 18

    /// The profiles that come with Quire. They are prepared once in a process, with the first response.
    static let all = Profile.builtIn.map(KnownAPI.init)

    init(_ profile: Profile) {
        self.profile = profile
        items = profile.items.keys
        listKind = profile.sequence == nil ? .array : .object
        id = profile.id.path.keys
        itemsBit = items.first.map(JSONOutline.bit) ?? .max
        idBit = id.first.map(JSONOutline.bit) ?? .max
        key = profile.key?.path.keys
        post = profile.post.keys.isEmpty ? nil : profile.post
        signs = SignSearch.builtIn.bits(of: profile.signs)
        let ofErrors = profile.error?.paths.map(\.text) ?? []
        let paths = Set(profile.outsidePaths).filter { !ofErrors.contains($0.text) }
        frame = (
            paths.filter { $0.keys.first != "^" }.map { Path($0.keys) },
            paths.filter { $0.keys.first == "^" }.map { Path($0.keys.dropFirst()) }
        )
        hasFrame = !profile.isLines && profile.sequence == nil && profile.mark?.texts.isEmpty ?? true
    }

    /// A path, and the bit of its first key.
    struct Path: Sendable {
        let keys: [String]
        let bit: UInt64

        init(_ keys: some Sequence<String>) {
            self.keys = Array(keys)
            bit = self.keys.first.map(JSONOutline.bit) ?? .max
        }
    }

    /// Tries the profile on a response.
    func fit(_ bytes: [UInt8], _ envelope: Envelope?) -> ProfileFit {
        let parser = idle.withLock { $0.popLast() } ?? IdleParser(parser: PageParser(profile: profile))
        defer {
            if bytes.count <= Self.keptSize {
                idle.withLock { if $0.count < Self.idleLimit { $0.append(parser) } }
            }
        }
        return ProfileFit(parser.parser, to: bytes, envelope: envelope)
    }
}

/// Finds which of some texts are in a document, in one pass for all of them.
struct SignSearch: Sendable {
    /// The texts, of which each has a bit.
    private let texts: [[UInt8]]
    /// For each of the first three bytes of the texts and each value, the texts that have it there.
    private let tables: [UInt64]

    /// The signs of the profiles that come with Quire.
    static let builtIn = SignSearch(Set(Profile.builtIn.flatMap(\.signs)).sorted())

    /// Creates a search for up to 64 texts.
    private init(_ texts: [String]) {
        self.texts = texts.prefix(64).map { Array($0.utf8) }
        var tables = [UInt64](repeating: 0, count: 3 * 256)
        for (number, text) in self.texts.enumerated() {
            for place in 0..<3 {
                let values = place < text.count ? Int(text[place])...Int(text[place]) : 0...255
                for value in values { tables[place * 256 + value] |= 1 << UInt64(number) }
            }
        }
        self.tables = tables
    }

    /// Returns the bits of these texts.
    func bits(of signs: [String]) -> UInt64 {
        signs.reduce(0) { bits, sign in
            texts.firstIndex(of: Array(sign.utf8)).map { bits | 1 << UInt64($0) } ?? bits
        }
    }

    /// Returns the bits of the texts that are in these bytes.
    func found(in bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.withContiguousStorageIfAvailable(found) ?? Array(bytes).withUnsafeBufferPointer(found)
    }

    private func found(in bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        tables.withUnsafeBufferPointer { tables in
            var found: UInt64 = 0
            var at = 0
            while at &+ 2 < bytes.count {
                var near = tables[Int(bytes[at])] & ~found
                if near == 0 {  // most bytes begin no text
                    at &+= 1
                    continue
                }
                near &= tables[256 &+ Int(bytes[at &+ 1])] & tables[512 &+ Int(bytes[at &+ 2])]
                while near != 0 {
                    let number = near.trailingZeroBitCount
                    near &= near &- 1
                    let text = texts[number]
                    if at + text.count <= bytes.count, bytes[at..<at + text.count].elementsEqual(text) {
                        found |= 1 << UInt64(number)
                    }
                }
                at &+= 1
            }
            return found
        }
    }
}
