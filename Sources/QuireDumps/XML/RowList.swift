import Quire

/// The data dump of Stack Exchange: a file for each table, with a `<row Id="…" …/>` for each record, in
/// ascending order of ids.
enum DataDump {
    static let posts = "posts"
    static let tables: Set<String> = [
        posts, "badges", "comments", "posthistory", "postlinks", "tags", "users", "votes",
    ]
}

/// Reads the rows of a table. A page has them in the order of a feed, the highest id first. It ends with the
/// first row of the page below, which proves that nothing lies between the two.
final class RowList: XMLList {
    let kind: InputPage.Kind
    private let options: InputOptions
    private let place: String
    private var rows: [Row] = []
    private var bytes = 0
    private var count = 0
    private var id: String?
    /// The highest row of the page below, unless something is missing above it.
    private var below: Row?
    private var highest = Int64.min
    private var isFirst = true
    private var pages: [InputPage] = []

    private struct Row {
        let id: Int64
        let body: [UInt8]
    }

    init(table: String, _ options: InputOptions, place: String) {
        (kind, self.options, self.place) = (.rows(table: table), options, place)
    }

    func isRecord(_ name: String, depth: Int) -> Bool { depth == 2 && name == "row" }

    func startRecord(_ attributes: XMLParser.Attributes) { id = attributes["Id"] }

    func startField(_ name: String, _ attributes: XMLParser.Attributes, depth: Int) {}
    func endField(depth: Int) {}
    func startOther(_ name: String, _ attributes: XMLParser.Attributes, depth: Int) {}
    func endOther(depth: Int) {}

    func text(_ bytes: UnsafeBufferPointer<UInt8>) {}

    func endRecord(_ body: UnsafeBufferPointer<UInt8>) {
        count += 1
        guard let id else { return skip("no Id") }
        guard let number = Int64(id) else { return skip("the Id \(printable(id)) is not a number") }
        if number <= highest { return skip("Id \(number) after \(highest), which is on a page above") }
        rows.append(Row(id: number, body: Array(body)))
        bytes += body.count
        if rows.count >= options.pageItems || bytes >= options.pageBytes { endPage() }
    }

    /// Notes that a row is missing, so the following rows are not contiguous with those before.
    private func skip(_ reason: String) {
        endPage()
        let message = "\(printable(place, limit: 400)): row \(count): \(reason)"
        var page = InputPage(.failure(DumpError(.data, message)), kind: kind, place: place)
        page.isCut = true
        pages.append(page)
        below = nil
    }

    private func endPage() {
        if rows.isEmpty { return }
        rows.sort { $0.id > $1.id }
        var answer = Answer(next: isFirst ? .end : .unknown)
        answer.bytes.reserveCapacity(bytes + (below?.body.count ?? 0))
        for row in rows + [below].compactMap(\.self) {
            let id = row.id < 0 ? PostID("\(row.id)")! : PostID(UInt64(row.id))
            answer.append(id: id, key: row.id, body: row.body)
        }
        var page = InputPage(.response(Response(answer)), kind: kind, place: place)
        page.repeated = below == nil ? 0 : 1
        pages.append(page)
        (below, highest) = (rows[0], rows[0].id)
        (rows, bytes, isFirst) = ([], 0, false)
    }

    /// Returns all pages but the last, which may turn out to be the top.
    func takePages() -> [InputPage] {
        defer { pages = pages.suffix(1) }
        return pages.dropLast()
    }

    func finish(isWhole: Bool) -> [InputPage] {
        endPage()
        if pages.isEmpty && isWhole && isFirst {
            pages = [InputPage(.response(Response(Answer())), kind: kind, place: place)]
        }
        if isWhole, let last = pages.indices.last { pages[last].isTop = pages[last].response != nil }
        return pages
    }
}
