import Quire

/// Parses RSS and Atom as responses: their items, and where the list goes on (RFC 5005). Only one thread may
/// use a parser, for one document.
public final class SyndicationParser {
    private let list: SyndicationList
    private let document: UnsafeBufferPointer<UInt8>
    /// The address of the document, if it is known.
    private let origin: String?
    private var parser: XMLParser!
    private var recordStart: Int?
    private var recordDepth = 0

    /// Returns what an RSS or Atom document holds; `name` is used in messages. An item with neither an id nor
    /// a link is a row that is not a post.
    ///
    /// The answer goes on at the link `next` of a paged feed or `prev-archive` of an archived feed. It ends
    /// if the feed says that it is complete, or that it is the last of its pages or archives. Else nothing is
    /// known about what follows, because most feeds only show their newest items. A relative address starts
    /// at the `xml:base` in force, else at the request's.
    ///
    /// Throws ``DumpError`` with `.limit` if the document is too large, with `.syntax` if it is cut, not XML
    /// or a page for people, and with `.data` if it is not RSS or Atom.
    public static func read(
        _ bytes: [UInt8], envelope: Envelope? = nil, limit: Int = PageParser.defaultLimit, name: String
    ) throws(DumpError) -> Response {
        do throws(DumpError) {
            if bytes.count > limit {
                let size = megabytes(bytes.count, roundingUp: true)
                throw DumpError(.limit, "page is \(size) MB, the limit is \(megabytes(limit)) MB")
            }
            if let status = envelope?.status, !(200..<300 ~= status) {
                throw DumpError(.data, "HTTP \(status)")
            }
            if let page = pageOfHTML(bytes[...]) { throw DumpError(.syntax, "\(page), neither RSS nor Atom") }
            let result = bytes.withUnsafeBufferPointer { document in
                Result { () throws(DumpError) in
                    try SyndicationParser(document, name, envelope?.request).response()
                }
            }
            return try result.get()
        } catch {
            throw DumpError(error.kind, "\(printable(name, limit: 400)): \(error.message)")
        }
    }

    private init(_ document: UnsafeBufferPointer<UInt8>, _ name: String, _ origin: String?) {
        var options = InputOptions(profile: .named("jsonfeed")!)
        (options.pageItems, options.pageBytes) = (.max, .max)
        list = SyndicationList(options, place: name, origin: origin)
        (self.document, self.origin) = (document, origin)
    }

    private func response() throws(DumpError) -> Response {
        parser = XMLParser(self)
        parser.origin = origin
        defer { parser = nil }
        parser.tellText()
        if !parser.parse(document, isLast: true), let failure = parser.failure { throw failure }
        let pages = list.finish(isWhole: true)
        let areDated = pages.allSatisfy { $0.answer?.posts.allSatisfy { $0.key != nil } ?? true }
        var answer = Answer()
        for page in pages {
            guard let part = page.answer else {
                answer.opaqueRows += 1
                continue
            }
            for post in part.posts {
                answer.append(id: post.id, key: areDated ? post.key : nil, body: part.bytes[post.body])
            }
        }
        answer.next = list.links.next
        var response = Response(answer)
        response.leadsToArchive = list.links.leadsToArchive
        return response
    }
}

extension SyndicationParser: XMLParser.Delegate {
    func start(_ name: String, _ attributes: XMLParser.Attributes) {
        if parser.depth == 1 {
            let root = name.split(separator: " ").last.map(String.init) ?? name
            if ["rss", "RDF", "feed"].contains(root) { return }
            return parser.stop(.data, "<\(printable(root))>: neither RSS nor Atom")
        }
        if recordStart != nil {
            list.startField(name, attributes, depth: parser.depth - recordDepth)
        } else if list.isRecord(name, depth: parser.depth) {
            (recordStart, recordDepth) = (parser.index, parser.depth)
            list.startRecord(attributes)
        } else {
            list.startOther(name, attributes, depth: parser.depth)
        }
    }

    func end(_ name: String) {
        guard let start = recordStart else { return list.endOther(depth: parser.depth) }
        if parser.depth > recordDepth { return list.endField(depth: parser.depth - recordDepth) }
        list.endRecord(UnsafeBufferPointer(rebasing: document[start..<parser.endIndex]))
        recordStart = nil
    }

    func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        list.text(bytes)
    }
}
