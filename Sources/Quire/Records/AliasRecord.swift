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
}
