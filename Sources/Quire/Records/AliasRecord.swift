/// One id of a post that has several, in a collection.
struct AliasRecord: Record, Hashable {
    let id: PostID
    /// The name of the post, which may be the id itself.
    var name: PostID
    /// The other ids, at least one, if this id is the name.
    var others: [PostID] = []

    init(_ id: PostID, name: PostID, others: [PostID] = []) {
        (self.id, self.name, self.others) = (id, name, others)
    }

    var isName: Bool { name == id }

    func encode(_ writer: inout ByteWriter) {
        id.encode(&writer)
        name.encode(&writer)
        writer.list(others) { $1.encode(&$0) }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        id = try reader.postID()
        name = try reader.postID()
        others = try reader.list { r throws(QuireError) in try r.postID() }
        if isName == others.isEmpty { throw ByteReader.damage }
    }

    /// Reads the beginning of a record. The time does not depend on the number of the other ids, which are
    /// left out.
    init(startOf value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String) throws(QuireError) {
        do throws(QuireError) {
            var reader = try ByteReader(value)
            (id, name) = (try reader.postID(), try reader.postID())
        } catch {
            throw .corrupt(what())
        }
    }

    /// Returns the other ids in the record of a name as they are stored, and their number.
    static func others(
        in value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String
    ) throws(QuireError) -> (count: Int, bytes: UnsafeRawBufferPointer) {
        try ByteReader.read(value, what()) { reader throws(QuireError) in
            (_, _) = (try reader.postID(), try reader.postID())
            return (try reader.count(), try reader.bytes(reader.left))
        }
    }
}
