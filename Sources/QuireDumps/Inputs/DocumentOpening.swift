/// Recognises the kind of a document by its first bytes.
struct DocumentOpening {
    let options: InputOptions
    /// True for the files of a folder or an archive. Some of them may not belong to the feed.
    let isOneOfMany: Bool
    let place: String
    /// The file of the document, unless it is in an archive.
    let file: PageFile?

    func open(_ window: ByteWindow, _ parser: PageParser) -> any DocumentReader {
        window.extend()
        let mark = window.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
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
            let isArray = window.bytes[start - mark] == UInt8(ascii: "[")
            let layout = isArray && !hasLines(window, start - mark) ? ElementReader.Layout.array : .lines
            return ListReader(
                window, parser, options, layout: layout,
                content: options.format == .items ? .items : .responses, place: place)
        case .auto:
            return json(window, parser, from: start, mark: mark)
        }
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
        if window.count > parser.limit { return list(.array, .items) }
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

    /// Returns true if a JSON value ends on its first line, and something follows on later lines.
    private func hasLines(_ window: ByteWindow, _ start: Int) -> Bool {
        var at = start
        while window.index(of: UInt8(ascii: "\n"), from: at) == nil {
            at = window.count
            if at > options.recordLimit || !window.extend() { return false }
        }
        let newline = window.index(of: UInt8(ascii: "\n"), from: start)!
        var scanner = ElementScanner(at: start)
        guard let end = scanner.end(in: window.bytes), end <= newline, end > start,
            window.token(from: end).map({ $0 > newline }) ?? true
        else { return false }
        return firstToken(window, from: newline) != nil
    }

    private func response(_ window: ByteWindow, _ parser: PageParser) -> ResponseReader {
        ResponseReader(
            window, parser, options.recognisesJSONFeed ? .ifItSaysSo : .never, sidecar: file, place: place)
    }
}

extension Profile {
    /// Returns the profile for a list of items without their response.
    func forItems(areLines: Bool) -> Profile {
        var profile = self
        profile.items = .here
        profile.mayOmitItems = false
        if !isLines {  // a list of items has nothing of what it says of a document
            (profile.mark, profile.sequence, profile.error) = (nil, nil, nil)
            (profile.next, profile.previous, profile.own) = (nil, nil, nil)
            (profile.page, profile.pages, profile.total) = ([], nil, nil)
            (profile.pageSize, profile.backoff) = (nil, nil)
        }
        profile.isLines = areLines
        return profile
    }
}
