import Quire

/// Reads a document that is one response.
final class ResponseReader: DocumentReader {
    /// Whether to read the document as a JSON Feed.
    enum JSONFeed {
        case never, always
        /// Only if the profile does not fit and the document names the format.
        case ifItSaysSo
    }

    private let window: ByteWindow
    private let parser: PageParser
    /// Nil if the document must be one response.
    private let options: InputOptions?
    private let jsonFeed: JSONFeed
    private let sidecar: Sidecar?
    private let place: String
    private var isDone = false
    /// The values of the document, once it turned out to have several.
    private var list: ListReader?

    /// Creates a reader. With options, the document may also have several values, one after the other.
    init(
        _ window: ByteWindow, _ parser: PageParser, _ jsonFeed: JSONFeed, options: InputOptions? = nil,
        sidecar: Sidecar? = nil, place: String
    ) {
        (self.window, self.parser, self.options) = (window, parser, options)
        (self.jsonFeed, self.sidecar, self.place) = (jsonFeed, sidecar, place)
    }

    func next() -> InputPage? {
        if let list { return list.next() }
        if isDone { return nil }
        isDone = true
        window.extend(to: parser.limit + 1)
        do throws(DumpError) {
            if let failure = window.failure { throw failure }
            let page = try page(Array(window.bytes))
            window.drop(window.count)
            return page
        } catch {
            if let options, window.failure == nil, hasSeveral {
                list = ListReader(
                    window, parser, options, layout: .values, content: nil, place: place)
                return list?.next()
            }
            return InputPage(.failure(hinted(error)), kind: .response, place: place)
        }
    }

    /// Returns the error with the profile that would read the document, if there is one.
    private func hinted(_ error: DumpError) -> DumpError {
        guard error.kind == .data, !error.message.contains("error document"),
            let other = try? Recognition(of: Array(window.bytes), name: place),
            other.likelihood == .max, other.profile.name != parser.profile.name
        else { return error }
        let name = other.profile.name
        return DumpError(.data, "\(error.message); it looks like a response for --profile \(name)")
    }

    /// True if another object or array follows the first one.
    private var hasSeveral: Bool {
        guard let next = window.startOfSecondValue else { return false }
        return [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(window.bytes[next])
    }

    private func page(_ bytes: [UInt8]) throws(DumpError) -> InputPage {
        if jsonFeed == .always { return try feedPage(bytes) }
        let envelope = try sidecar?.envelope()
        do throws(DumpError) {
            return InputPage(
                .response(try parser.read(bytes, envelope: envelope, name: place)), kind: .response,
                place: place)
        } catch {
            // The mark of the profile tells whether it is one.
            guard jsonFeed == .ifItSaysSo, let page = try? feedPage(bytes) else { throw error }
            return page
        }
    }

    private func feedPage(_ bytes: [UInt8]) throws(DumpError) -> InputPage {
        // Dates are optional. If one item of a page has none, no item of the page gets a key.
        let plain = Profile.named("jsonfeed")!
        var response = try PageParser(profile: plain, limit: parser.limit).read(bytes, name: place)
        var dated = plain
        try dated.setKey(path: "date_published", type: .date)
        if let keyed = try? PageParser(profile: dated, limit: parser.limit).read(bytes, name: place) {
            response = keyed
        }
        if !response.answer.posts.isEmpty { response.asked = .head }
        return InputPage(.response(response), kind: .syndication, place: place)
    }
}
