import Testing

@_spi(Unstable) @testable import Quire

/// Sections of a view from a place on, and what that costs.
@Suite struct ViewSectionTests {
    let storage: TemporaryCache

    init() throws { storage = try TemporaryCache() }

    /// A view by keys of posts in as many sections, of one post or two.
    private func view(sections: Int, order: StoredViewOrder) throws -> StoredView {
        let feed = try storage.cache.feed(named: "f")
        try storage.cache.batch { batch in
            for number in 0..<sections {
                // names that are beginnings of others: "s1", "s1\0", "s10"
                var names = [Array("s\(number)".utf8)]
                if number.isMultiple(of: 3) { names.append(names[0] + [0]) }
                for name in names { try batch[feed].insertLocal(PostID(bytes: name)!, body: name) }
            }
        }
        return try storage.cache.view(named: "v", of: feed, order: order) { post in
            StoredViewEntry(section: post.id.bytes.filter { $0 != UInt8(ascii: "7") }, key: post.id.bytes)
        }
    }

    @Test("A read goes on behind any section", arguments: [StoredViewOrder.feed, .keys])
    func readOn(order: StoredViewOrder) throws {
        let view = try view(sections: 60, order: order)
        try storage.cache.withSnapshot { snapshot in
            let all = try snapshot.sections(of: view)
            #expect(all.count > 50 && all.contains { $0.posts > 1 })
            #expect(all.reduce(0) { $0 + $1.posts } == (try snapshot.info(of: view).posts))
            for (at, section) in all.enumerated() {
                #expect(section.rank == all[..<at].reduce(0) { $0 + $1.posts })
                #expect(try snapshot.posts(inSection: section.name, of: view) == section.posts)
                #expect(try snapshot.sections(of: view, after: section) == Array(all[(at + 1)...]))
                let some = try snapshot.sections(of: view, after: section, skipping: 2, limit: 3)
                #expect(some == Array(all.dropFirst(at + 3).prefix(3)))
                #expect(try snapshot.sections(of: view, skipping: at, limit: 1) == [section])
            }
            #expect(try snapshot.sections(of: view, limit: 0) == [])
            #expect(try snapshot.sections(of: view, skipping: .max) == [])
            #expect(try snapshot.posts(inSection: Array("absent".utf8), of: view) == 0)
        }
    }

    @Test("Each post has its place, and each place its post", arguments: [StoredViewOrder.feed, .keys])
    func places(order: StoredViewOrder) throws {
        let view = try view(sections: 60, order: order)
        try storage.cache.withSnapshot { snapshot in
            for (rank, row) in try snapshot.rows(of: view, limit: .max).enumerated() {
                let id = try #require(row.post?.id)
                let place = try #require(try snapshot.place(of: id, in: view))
                #expect(place.rank == rank && place.section == id.bytes.filter { $0 != UInt8(ascii: "7") })
                #expect(try snapshot.rows(of: view, from: rank, limit: 1).first?.post?.id == id)
            }
        }
    }
}
