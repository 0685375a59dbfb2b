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
    private let jsonFeed: JSONFeed
    private let sidecar: PageFile?
    private let place: String
    private var isDone = false

    /// Creates a reader; `sidecar` is the file beside which the headers may be stored.
    init(
        _ window: ByteWindow, _ parser: PageParser, _ jsonFeed: JSONFeed, sidecar: PageFile? = nil,
        place: String
    ) {
        (self.window, self.parser) = (window, parser)
        (self.jsonFeed, self.sidecar, self.place) = (jsonFeed, sidecar, place)
    }

    func next() -> InputPage? {
        if isDone { return nil }
        isDone = true
        window.extend(to: parser.limit + 1)
        do throws(DumpError) {
            if let failure = window.failure { throw failure }
            return try page(window.takeAll())
        } catch {
            return InputPage(.failure(error), kind: .response, place: place)
        }
    }

    private func page(_ bytes: [UInt8]) throws(DumpError) -> InputPage {
        if jsonFeed == .always { return try feedPage(bytes) }
        let envelope = try sidecar?.envelope()
        do throws(DumpError) {
            return InputPage(
                .response(try parser.read(bytes, envelope: envelope, name: place)), kind: .response,
                place: place)
        } catch {
            guard jsonFeed == .ifItSaysSo, Self.namesJSONFeed(bytes),
                let page = try? feedPage(bytes)
            else { throw error }
            return page
        }
    }

    private func feedPage(_ bytes: [UInt8]) throws(DumpError) -> InputPage {
        // Dates are optional. If one item of a page has none, no item of the page gets a key.
        let plain = Profile.named("jsonfeed")!
        var dated = plain
        try dated.setKey(path: "date_published", type: .date)
        let response: Response
        do throws(DumpError) {
            response = try PageParser(profile: dated, limit: parser.limit).read(bytes, name: place)
        } catch {
            response = try PageParser(profile: plain, limit: parser.limit).read(bytes, name: place)
        }
        return InputPage(.response(response), kind: .syndication, place: place)
    }

    private static func namesJSONFeed(_ bytes: [UInt8]) -> Bool {
        ["jsonfeed.org/version", #"jsonfeed.org\/version"#].contains {
            bytes.firstRange(of: $0.utf8) != nil
        }
    }
}
