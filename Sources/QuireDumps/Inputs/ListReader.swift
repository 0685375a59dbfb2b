import Quire

/// Reads a list of items or responses of any length, one on each line or in one array.
///
/// A long list of items gives several pages. Each begins with the last item of the previous page. This proves
/// to the engine that they are really one answer.
final class ListReader: DocumentReader {
    enum Content { case items, responses }

    private let elements: ElementReader
    private let window: ByteWindow
    private let options: InputOptions
    private let place: String
    /// The kind of elements. The first of a kind decides, unless it is given.
    private var content: Content?
    private let responses: PageParser
    private let items: PageParser
    private var isDone = false
    /// The last item of the previous page that is a post, unless something was missing after it.
    private var last: [UInt8]?
    private var ready: [InputPage] = []

    init(
        _ window: ByteWindow, _ responses: PageParser, _ options: InputOptions,
        layout: ElementReader.Layout, content: Content?, place: String
    ) {
        (self.window, self.responses, self.options) = (window, responses, options)
        (self.content, self.place) = (content, place)
        elements = ElementReader(window, layout, limit: options.recordLimit)
        items = PageParser(
            profile: responses.profile.forItems(areLines: layout == .lines),
            limit: options.recordLimit * 2 + options.pageBytes + 3)
    }

    func next() -> InputPage? {
        while ready.isEmpty {
            if isDone { return nil }
            switch content {
            case .items: addItems()
            case .responses: addResponse()
            case nil: decide()
            }
        }
        return ready.removeFirst()
    }

    private func add(_ content: InputPage.Content, repeated: Int = 0, isCut: Bool = false) {
        let kind = self.content == .responses ? InputPage.Kind.response : .items
        var page = InputPage(content, kind: kind, place: place)
        (page.repeated, page.isCut) = (repeated, isCut)
        ready.append(page)
    }

    /// Ends the list, or goes on after a line that is above the limit. Gives the reason if it ended too
    /// early.
    private func end() {
        isDone = !elements.isAtLongLine
        if let failure = window.failure {
            add(.failure(failure), isCut: isDone)
        } else if let failure = elements.failure {
            let place = printable(place, limit: 400)
            add(.failure(DumpError(failure.kind, "\(place): \(failure.message)")), isCut: isDone)
        }
        if elements.isAtLongLine {
            elements.skipLine()
            last = nil
        }
    }

    private func name(of element: ElementReader.Element) -> String {
        "\(place): \(elements.layout.noun) \(element.number)"
    }

    private func bytes(of element: ElementReader.Element) -> [UInt8] {
        Array(window.part(element.range))
    }

    // MARK: What it holds

    /// The number of elements that decide what the list holds.
    private static let trials = 32

    /// Decides by the first element that is a response or an item. Odd ones before it do not decide.
    private func decide() {
        var at = 0
        var reason: DumpError?
        var hasResponse = false
        for _ in 0..<Self.trials {
            guard at <= options.recordLimit, let element = elements.next(from: at) else { break }
            let (bytes, name) = (bytes(of: element), name(of: element))
            switch kind(of: bytes, name) {
            case .success(let kind): content = kind
            case .failure(let error): hasResponse = hasResponse || error.message.contains(": error document")
            case nil: hasResponse = true
            }
            if content != nil { break }
            if reason == nil { reason = reasonAgainstItem(bytes, name) }
            at = element.next
        }
        if content == nil && hasResponse { content = .responses }
        if content == nil, reason == nil, elements.isAtLongLine { return end() }
        if content == nil { return refuse(reason) }
        elements.rewind()
    }

    /// Returns what an element is, or why it is no response; nil for a response without posts.
    private func kind(of element: [UInt8], _ name: String) -> Result<Content, DumpError>? {
        do throws(DumpError) {
            let answer = try responses.parse(element, name: name)
            return answer.posts.isEmpty && answer.opaqueRows == 0 ? nil : .success(.responses)
        } catch {
            return reasonAgainstItem(element, name) == nil ? .success(.items) : .failure(error)
        }
    }

    private func reasonAgainstItem(_ item: [UInt8], _ name: String) -> DumpError? {
        do throws(DumpError) {
            _ = try single(item, name)
            return nil
        } catch {
            return error
        }
    }

    /// Gives up, since these are neither responses nor items. The reason is why an array is not a response.
    private func refuse(_ reason: DumpError?) {
        isDone = true
        if elements.layout == .lines, let reason {
            return add(.failure(reason), isCut: elements.isAtLongLine)
        }
        let reader = ResponseReader(window, responses, .never, place: place)
        if let page = reader.next() { ready.append(page) }
    }

    // MARK: Pages

    private func addResponse() {
        guard let element = elements.next(from: 0) else { return end() }
        do throws(DumpError) {
            add(.response(try responses.read(bytes(of: element), name: name(of: element))))
        } catch {
            add(.failure(error))
        }
        window.drop(element.next)
    }

    private func addItems() {
        var found: [ElementReader.Element] = []
        var at = 0
        var isOver = false
        while found.count < options.pageItems, at < options.pageBytes, !isOver {
            if let element = elements.next(from: at) {
                found.append(element)
                at = element.next
            } else {
                isOver = true
            }
        }
        if !found.isEmpty && !addPage(of: found[...]) { addOneByOne(found) }
        window.drop(at)
        if isOver { end() }
    }

    /// Adds a page with these items, which are adjacent. Returns false if one of them is broken.
    private func addPage(of found: ArraySlice<ElementReader.Element>) -> Bool {
        guard let first = found.first, let end = found.last else { return true }
        let document = wrapped(window.part(first.range.lowerBound..<end.range.upperBound), after: last)
        guard let answer = try? items.parse(document, name: place) else { return false }
        add(.response(Response(answer)), repeated: last == nil ? 0 : 1)
        last = answer.opaqueRows == 0 ? bytes(of: end) : found.lazy.map(bytes).last(where: isPost) ?? last
        return true
    }

    private func isPost(_ item: [UInt8]) -> Bool {
        (try? items.parse(wrapped(item, after: nil), name: place))?.posts.isEmpty == false
    }

    /// Adds pages with the items before and after each broken one.
    private func addOneByOne(_ found: [ElementReader.Element]) {
        var start = 0
        for (index, element) in found.enumerated() {
            do throws(DumpError) {
                _ = try single(bytes(of: element), name(of: element))
            } catch {
                _ = addPage(of: found[start..<index])
                add(.failure(error))
                (start, last) = (index + 1, nil)
            }
        }
        _ = addPage(of: found[start...])
    }

    /// Returns an answer with one item.
    private func single(_ item: [UInt8], _ name: String) throws(DumpError) -> Answer {
        do throws(DumpError) {
            return try items.parse(wrapped(item, after: nil), name: name)
        } catch {
            // The number of the only item is of no use.
            let message = error.message.replacing(": item 1: ", with: ": ", maxReplacements: 1)
            throw DumpError(error.kind, message)
        }
    }

    /// Wraps items in a document for the parser, after the last item of the previous page.
    private func wrapped(_ items: some Collection<UInt8>, after last: [UInt8]?) -> [UInt8] {
        let isArray = elements.layout == .array
        var document: [UInt8] = []
        document.reserveCapacity(items.count + (last?.count ?? 0) + 3)
        if isArray { document.append(UInt8(ascii: "[")) }
        if let last {
            document += last
            document.append(isArray ? UInt8(ascii: ",") : UInt8(ascii: "\n"))
        }
        document += items
        if isArray { document.append(UInt8(ascii: "]")) }
        return document
    }
}
