// The records about posts and their bodies.

/// Values of a post that were updated separately (R23), sorted by name.
struct FieldsRecord: Record, Hashable {
    struct Field: Hashable {
        var name: String
        var version: Int64
        var value: [UInt8]
    }

    let id: PostID
    var fields: [Field] = []

    init(id: PostID) { self.id = id }

    func encode(_ writer: inout ByteWriter) {
        id.encode(&writer)
        writer.list(fields) { writer, field in
            writer.text(field.name)
            writer.signed(field.version)
            writer.blob(field.value)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        id = try reader.postID()
        fields = try reader.list { r throws(QuireError) in
            Field(name: try r.text(), version: try r.signed(), value: Array(try r.blob()))
        }
    }
}

/// How many bytes of a body record posts still refer to, if it is not all of them.
struct BodyUse: Record, Hashable {
    var live: Int
    var total: Int

    init(live: Int, total: Int) { (self.live, self.total) = (live, total) }

    func encode(_ writer: inout ByteWriter) {
        writer.number(live)
        writer.number(total)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        live = try reader.int()
        total = try reader.int()
    }
}
