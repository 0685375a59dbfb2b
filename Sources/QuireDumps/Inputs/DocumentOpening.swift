/// Recognises the kind of a document by its first bytes.
struct DocumentOpening {
    let options: InputOptions
    /// True for the files of a folder or an archive. Some of them may not belong to the feed.
    let isOneOfMany: Bool
    let place: String
    /// Where the headers of the document may be.
    let sidecar: Sidecar?

    func open(_ window: ByteWindow, _ parser: PageParser) -> any DocumentReader {
        if window.count == 0 { window.extend() }
        let mark = byteOrderMark(window)
        guard let start = firstToken(window, from: mark) else {
            return response(window, parser)
        }
        let isXML = window.bytes[start] == UInt8(ascii: "<")
        switch options.format {
        case .auto where isXML, .rows:
            return XMLReader(window, options, isOneOfMany: isOneOfMany, place: place)
        case .syndication where isXML:
            return XMLReader(window, options, isOneOfMany: false, place: place)
        case .response:
            return response(window, parser)
        case .syndication:
            return ResponseReader(window, parser, .always, place: place)
        case .responses, .items:
            window.drop(mark)
            return ListReader(
                window, parser, options, layout: layout(window, start - mark),
                content: options.format == .items ? .items : .responses, place: place)
        case .auto:
            return json(window, parser, from: start, mark: mark)
        }
    }

    /// Recognises the API without taking anything from the window. Returns nil if the document needs no
    /// profile, or nothing is in it.
    func recognise(_ window: ByteWindow, _ wishes: Recognition.Wishes) throws(DumpError) -> Recognition? {
        switch try form(window) {
        case .response(let bytes, let envelope):
            if bytes.isEmpty || bytes.count > options.recordLimit { return nil }  // its reader says so
            return try Recognition(of: bytes, envelope: envelope, name: place, wishes: wishes)
        case .list(let documents): return try Recognition(ofEach: documents, name: place, wishes: wishes)
        case .xml: return nil
        }
    }

    /// Throws if the document is a page of HTML, or text in an encoding that is not read.
    func refuseForeignText(_ window: ByteWindow) throws(DumpError) {
        if options.format == .rows { return }  // a parser of XML reads UTF-16, too
        if window.count == 0 { window.extend() }
        guard let foreign = ForeignText(Array(window.bytes)[...]) else { return }
        throw DumpError(.syntax, "\(printable(place, limit: 400)): \(foreign.sentence)")
    }

    /// Says what the document is without taking anything from the window.
    func form(_ window: ByteWindow) throws(DumpError) -> FirstDocument.Form {
        try refuseForeignText(window)
        guard let start = firstToken(window, from: byteOrderMark(window)) else { return .response([], nil) }
        if window.bytes[start] == UInt8(ascii: "<") { return .xml }
        switch options.format {
        case .rows: return .xml
        case .responses, .items: return elements(window, start, layout(window, start))
        case .auto where hasLines(window, start): return elements(window, start, .lines)
        case .auto, .response, .syndication: break
        }
        window.extend(to: options.recordLimit + 1)
        if let second = window.startOfSecondValue, [0x7B, 0x5B].contains(window.bytes[second]) {
            return elements(window, start, .values)
        }
        if window.count > options.recordLimit, window.bytes[start] == UInt8(ascii: "[") {
            return elements(window, start, .array)
        }
        return .response(Array(window.bytes), try sidecar?.envelope())
    }

    /// Returns the first elements of a list, as far as they have arrived.
    private func elements(
        _ window: ByteWindow, _ start: Int, _ layout: ElementReader.Layout
    ) -> FirstDocument.Form {
        let reader = ElementReader(window, layout, limit: options.recordLimit)
        var documents: [[UInt8]] = []
        var at = start
        while documents.count < 40, at < options.pageBytes + start, let element = reader.next(from: at) {
            documents.append(Array(window.part(element.range)))
            at = element.next
            reader.waits = false  // a pipe may bring the next one much later
        }
        return .list(documents)
    }

    private func byteOrderMark(_ window: ByteWindow) -> Int {
        window.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// How a document is laid out that is said to be a list.
    private func layout(_ window: ByteWindow, _ start: Int) -> ElementReader.Layout {
        let isArray = window.bytes[start] == UInt8(ascii: "[")
        return isArray && !hasLines(window, start) ? .array : .lines
    }

    private func json(
        _ window: ByteWindow, _ parser: PageParser, from start: Int, mark: Int
    ) -> any DocumentReader {
        func list(_ layout: ElementReader.Layout, _ content: ListReader.Content?) -> ListReader {
            window.drop(mark)
            return ListReader(window, parser, options, layout: layout, content: content, place: place)
        }
        if parser.profile.isLines { return list(.lines, .items) }
        if hasLines(window, start) { return list(.lines, nil) }
        if window.bytes[start] != UInt8(ascii: "[") {
            return response(window, parser)
        }
        if !parser.profile.items.keys.isEmpty { return list(.array, nil) }
        // A response that is an array, or a list of items too long to be one.
        window.extend(to: parser.limit + 1)
        if window.count > parser.limit, window.startOfSecondValue == nil { return list(.array, .items) }
        return response(window, parser)
    }

    private func firstToken(_ window: ByteWindow, from start: Int) -> Int? {
        var at = start
        while true {
            if let token = window.token(from: at) { return token }
            at = max(at, window.count)
            if window.count > options.recordLimit || !window.extend() { return nil }
        }
    }

    /// Returns true if there is a JSON value on each line, or at least on the second one, and no value goes
    /// on from one line to the next.
    private func hasLines(_ window: ByteWindow, _ start: Int) -> Bool {
        guard let newline = newline(window, from: start), let second = firstToken(window, from: newline)
        else {
            return false
        }
        var scanner = ElementScanner(at: start)
        if let end = scanner.end(in: window.bytes), end <= newline, end > start,
            window.token(from: end).map({ $0 > newline }) ?? true
        {
            return true
        }
        // The first line may be odd. It is more than the bracket of a value that goes on, and the next one is
        // whole.
        guard window.token(from: start + 1).map({ $0 < newline }) ?? false,
            [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(window.bytes[second])
        else { return false }
        let end = self.newline(window, from: second) ?? window.count
        var next = ElementScanner(at: second)
        guard let last = next.end(in: window.bytes), last <= end else { return false }
        guard let third = window.token(from: last) else { return true }
        return third > end && window.bytes[third] == window.bytes[second]
    }

    private func newline(_ window: ByteWindow, from start: Int) -> Int? {
        var at = start
        while true {
            if let found = window.index(of: UInt8(ascii: "\n"), from: at) { return found }
            at = window.count
            if at > options.recordLimit || !window.extend() { return nil }
        }
    }

    private func response(_ window: ByteWindow, _ parser: PageParser) -> ResponseReader {
        ResponseReader(
            window, parser, options.recognisesJSONFeed ? .ifItSaysSo : .never, options: options,
            sidecar: sidecar, place: place)
    }
}
