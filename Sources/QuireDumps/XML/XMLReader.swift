import Quire

/// Reads an XML document that is a list: a table of a data dump, RSS or Atom. Its root element tells which.
///
/// The body of a post is its element, byte for byte as in the document.
final class XMLReader: DocumentReader, XMLParser.Delegate {
    private let window: ByteWindow
    private let options: InputOptions
    private let isOneOfMany: Bool
    private let place: String
    private var parser: XMLParser!
    private var ready: [InputPage] = []
    private var isDone = false
    /// The number of bytes that the parser has received.
    private var fed = 0

    private var list: (any XMLList)?
    /// The start of the current post's element in the document, if there is one.
    private var recordStart: Int?
    private var recordDepth = 0

    init(_ window: ByteWindow, _ options: InputOptions, isOneOfMany: Bool, place: String) {
        (self.window, self.options) = (window, options)
        (self.isOneOfMany, self.place) = (isOneOfMany, place)
        parser = XMLParser(self)
    }

    func next() -> InputPage? {
        while ready.isEmpty {
            if isDone { return nil }
            readOn()
        }
        return ready.removeFirst()
    }

    /// Gives the parser the next part of the document. Parts grow with a token that spans several, because
    /// the parser reads it again with each of them.
    private func readOn() {
        let unread = fed - max(0, parser.index)
        window.extend(to: fed - window.offset + max(ByteWindow.step, unread))
        let start = fed - window.offset
        let isLast = window.isAtEnd && window.failure == nil
        let count = window.count - start
        fed += count
        let isFine = parser.parse(window.part(start..<window.count), isLast: isLast)
        let needed = recordStart ?? min(fed, max(window.offset, parser.index))
        if isFine && fed - needed > options.recordLimit {
            parser.stop(.limit, "an element is above the limit of \(megabytes(options.recordLimit)) MB")
        }
        ready += list?.takePages() ?? []
        if let failure = parser.failure {
            finish(DumpError(failure.kind, "\(printable(place, limit: 400)): \(failure.message)"))
        } else if let failure = window.failure {
            finish(failure)
        } else if isLast {
            finish(nil)
        } else {
            window.drop(needed - window.offset)
        }
    }

    private func finish(_ failure: DumpError?) {
        isDone = true
        ready += list?.finish(isWhole: failure == nil) ?? []
        if let failure, !isPassedOver {
            let kind = list?.kind ?? .syndication
            var page = InputPage(.failure(failure), kind: kind, place: place)
            page.isCut = list != nil
            ready.append(page)
        }
    }

    private var isPassedOver = false

    // MARK: Callbacks of the parser

    func start(_ name: String, _ attributes: XMLParser.Attributes) {
        if parser.depth == 1 { return open(root: name) }
        guard let list else { return }
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
        guard let list else { return }
        guard let start = recordStart else { return list.endOther(depth: parser.depth) }
        if parser.depth > recordDepth { return list.endField(depth: parser.depth - recordDepth) }
        let range = start - window.offset..<parser.endIndex - window.offset
        list.endRecord(window.part(range))
        recordStart = nil
    }

    func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        list?.text(bytes)
    }

    private func open(root: String) {
        let name = root.split(separator: " ").last.map(String.init) ?? root
        switch name {
        case "rss", "RDF", "feed":
            list = SyndicationList(options, place: place)
            parser.tellText()
        case _ where DataDump.tables.contains(name):
            if isOneOfMany && options.entries == nil && name != DataDump.posts {
                isPassedOver = true
                let reason = "\(name), not posts"
                ready.append(InputPage(.passedOver(reason), kind: .rows(table: name), place: place))
                return parser.stop(.data, reason)
            }
            list = RowList(table: name, options, place: place)
        case "html":
            parser.stop(.data, ForeignText.html(title: nil).sentence)
        default:
            parser.stop(.data, "<\(printable(name))>: neither a data dump nor RSS nor Atom")
        }
    }
}

/// Builds pages from the elements of a document that are posts.
protocol XMLList: AnyObject {
    var kind: InputPage.Kind { get }
    func isRecord(_ name: String, depth: Int) -> Bool
    func startRecord(_ attributes: XMLParser.Attributes)
    /// Starts an element inside a post's own, `depth` levels below it.
    func startField(_ name: String, _ attributes: XMLParser.Attributes, depth: Int)
    func endField(depth: Int)
    /// Starts an element that is not in a post.
    func startOther(_ name: String, _ attributes: XMLParser.Attributes, depth: Int)
    func endOther(depth: Int)
    /// Text of the element that started last, in a post or not.
    func text(_ bytes: UnsafeBufferPointer<UInt8>)
    func endRecord(_ bytes: UnsafeBufferPointer<UInt8>)
    /// Returns the pages that are full.
    func takePages() -> [InputPage]
    /// Returns the remaining pages, at the end of the document, whether or not it ended properly.
    func finish(isWhole: Bool) -> [InputPage]
}
