/// The record of a view of a feed.
struct ViewRecord: Record, Hashable {
    var name: String
    var order: StoredViewOrder
    /// Of the function that decides what it shows.
    var version: UInt64
    /// The position of the last chunk that was seen while the view is made; `.max` once all were.
    var built: UInt64 = 0
    /// The number of chunks that have changed since they were seen.
    var pending: UInt64 = 0
    /// The number of posts it shows.
    var posts: UInt64 = 0

    static let nameLimit = 255

    init(name: String, order: StoredViewOrder, version: UInt64) {
        (self.name, self.order, self.version) = (name, order, version)
    }

    /// The view shows what its function says of each post of the feed.
    var isCurrent: Bool { built == .max && pending == 0 }

    func encode(_ writer: inout ByteWriter) {
        writer.word(version)
        writer.word(built)
        writer.word(pending)
        writer.word(posts)
        writer.byte(order.rawValue)
        writer.text(name)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        version = try reader.word()
        built = try reader.word()
        pending = try reader.word()
        posts = try reader.word()
        guard let order = StoredViewOrder(rawValue: try reader.byte()) else { throw ByteReader.damage }
        self.order = order
        name = try reader.text()
    }
}

/// A post of a chunk that a view shows.
struct ViewMatch: Hashable {
    var slot: Int
    var section: [UInt8]
    /// In a view ordered by keys.
    var place: Place?

    struct Place: Hashable {
        var key: [UInt8]
        var id: PostID
    }
}

/// Which posts of a chunk a view shows, by ascending slots.
struct ViewMatches: Record, Hashable {
    var all: [ViewMatch]

    init(_ all: [ViewMatch]) { self.all = all }

    func encode(_ writer: inout ByteWriter) {
        var section: [UInt8] = []
        writer.flag(all.first?.place != nil)
        writer.list(all) { writer, match in
            writer.number(match.slot)
            if match.section == section {
                writer.number(0)
            } else {
                section = match.section
                writer.number(1 + section.count)
                writer.raw(section)
            }
            if let place = match.place {
                writer.blob(place.key)
                place.id.encode(&writer)
            }
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        var section: [UInt8] = []
        let hasPlaces = try reader.flag()
        all = try reader.list { reader throws(QuireError) in
            var match = ViewMatch(slot: try reader.int(), section: section)
            let count = try reader.int()
            if count > 0 {
                section = Array(try reader.bytes(count - 1))
                match.section = section
            }
            if hasPlaces {
                let key = Array(try reader.blob())
                match.place = ViewMatch.Place(key: key, id: try reader.postID())
            }
            return match
        }
    }

    /// True if the engine writes such a record.
    var isAsWritten: Bool {
        !all.isEmpty && zip(all, all.dropFirst()).allSatisfy { $0.slot < $1.slot }
            && all.allSatisfy {
                $0.section.count <= StoredViewEntry.sectionLimit
                    && $0.place?.key.count ?? 0 <= StoredViewEntry.keyLimit
            }
    }

    /// Returns the index of the first match at this slot or below it.
    func index(from slot: Int) -> Int { all.firstIndex { $0.slot >= slot } ?? all.count }
}

/// Where a post of a view is that has an order of its own.
struct ViewPlace: Record, Hashable {
    var id: PostID
    /// The position of the chunk that holds it.
    var chunk: UInt64

    init(id: PostID, chunk: UInt64) { (self.id, self.chunk) = (id, chunk) }

    func encode(_ writer: inout ByteWriter) {
        writer.word(chunk)
        id.encode(&writer)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        chunk = try reader.word()
        id = try reader.postID()
    }

    /// Returns the key: the section, the key of the post and its id, so that keys sort as these do.
    static func key(section: [UInt8], _ place: ViewMatch.Place) -> [UInt8] {
        start(section) + start(place.key) + PostKey.bytes(place.id)
    }

    /// Returns what the keys of a section begin with. A zero in it is followed by 255, its end by two zeros.
    static func start(_ section: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(section.count + 2)
        for byte in section {
            bytes.append(byte)
            if byte == 0 { bytes.append(255) }
        }
        return bytes + [0, 0]
    }
}
