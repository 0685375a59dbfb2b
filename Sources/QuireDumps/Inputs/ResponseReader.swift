import Quire

/// A document that is one response.
final class ResponseReader: DocumentReader {
    private let window: ByteWindow
    private let parser: PageParser
    private let kind: InputPage.Kind
    private let place: String
    /// Reads the same with fewer fields, for documents whose items do not all have them.
    private let lenient: PageParser?
    private var isDone = false

    init(
        _ window: ByteWindow, _ parser: PageParser, kind: InputPage.Kind, place: String,
        lenient: PageParser? = nil
    ) {
        (self.window, self.parser, self.kind) = (window, parser, kind)
        (self.place, self.lenient) = (place, lenient)
    }

    func next() -> InputPage? {
        if isDone { return nil }
        isDone = true
        window.extend(to: parser.limit + 1)
        do throws(DumpError) {
            if let failure = window.failure { throw failure }
            let bytes = window.takeAll()
            let answer: Answer
            do throws(DumpError) {
                answer = try parser.parse(bytes, name: place)
            } catch {
                guard let lenient else { throw error }
                answer = try lenient.parse(bytes, name: place)
            }
            return InputPage(.answer(answer), kind: kind, place: place)
        } catch {
            return InputPage(.failure(error), kind: kind, place: place)
        }
    }
}
