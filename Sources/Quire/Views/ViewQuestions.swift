extension ViewMatches {
    /// Asks the function of a view about each post of a chunk. `body` lends the bytes of a body. Writes
    /// nothing: the chunk is lent.
    init(
        askingAbout value: UnsafeRawBufferPointer, of feed: UInt32, _ order: StoredViewOrder,
        _ function: @escaping StoredViewFunction,
        body: (BodyReference, (UnsafeRawBufferPointer) -> StoredViewEntry?) throws -> StoredViewEntry?
    ) throws {
        let chunk = try ChunkRecord(value, "a chunk of feed number \(feed)")
        self.init([])
        for (slot, (id, entry)) in zip(chunk.ids, chunk.entries).enumerated() {
            let shown = try body(entry.body) { bytes in
                function(
                    StoredViewPost(
                        id: id, key: entry.key, isDetached: entry.isDetached,
                        isPlaceholder: entry.isPlaceholder, bytes))
            }
            guard let shown else { continue }
            var match = ViewMatch(
                slot: slot, section: Array(shown.section.prefix(StoredViewEntry.sectionLimit)))
            if order == .keys {
                let key = Array(shown.key.prefix(StoredViewEntry.keyLimit))
                match.place = ViewMatch.Place(key: key, id: id)
            }
            all.append(match)
        }
    }
}
