import CJSON
public import Quire

/// Parses responses of one API to answers. Only one thread may use a parser at a time; make one for each.
///
///     let parser = PageParser(profile: .named("stackexchange")!)
///     let answer = try parser.parse(file.read(), name: file.name)
public final class PageParser {
    /// The default maximum size of a page: 16 MiB.
    public static let defaultLimit = 16 << 20
    /// How deep the arrays and objects of a page may nest.
    public static let depthLimit = 128

    /// The profile of the API.
    public let profile: Profile
    /// The maximum size of a page in bytes.
    public let limit: Int

    let scanner = Scanner(depth: depthLimit)
    private let items: Scanner.Slot?
    private let whole: Scanner.Slot
    private let post: Scanner.Slot
    private let id: Scanner.Slot
    private let key: Scanner.Slot?
    private let version: Scanner.Slot?
    private let lineMark: Scanner.Slot?
    /// The other fields of the document that the profile uses.
    private let outside: [(path: FieldPath, slot: Scanner.Slot)]

    /// Creates a parser for pages of up to `limit` bytes.
    public init(profile: Profile, limit: Int = defaultLimit) {
        self.profile = profile
        self.limit = limit
        items = profile.isLines ? nil : scanner.items(profile.items)
        whole = scanner.inItem(.here)
        post = scanner.inItem(profile.post)
        id = scanner.inItem(profile.id.path)
        key = (profile.key?.path).map(scanner.inItem)
        version = (profile.version?.path).map(scanner.inItem)
        lineMark = profile.isLines ? (profile.mark?.path).map(scanner.inItem) : nil
        outside = profile.outsidePaths.map { [scanner] in
            ($0, scanner.inDocument($0.resolved(around: profile.items)))
        }
    }

    /// Returns the answer in a response; `name` is used in messages. A page without items is not an error.
    ///
    /// Does the same as ``read(_:envelope:name:)`` and returns only the answer.
    public func parse(_ bytes: [UInt8], name: String) throws(DumpError) -> Answer {
        try read(bytes, name: name).answer
    }

    /// Parses a response; `name` is used in messages. A page without items is not an error.
    ///
    /// `envelope` was received with the body. A recorded exchange, which begins with `HTTP/` or with `GET
    /// http`, contains its own. The response becomes ``Quire/Answer/bytes`` unchanged, and each body is a
    /// range of it.
    ///
    /// Throws ``DumpError`` with `.limit` if the page is too large or nested too deep, and with `.data` if it
    /// is not JSON, is an error document, or does not match the profile.
    public func read(
        _ bytes: [UInt8], envelope: Envelope? = nil, name: String
    ) throws(DumpError) -> Response {
        do throws(DumpError) {
            guard bytes.count <= limit else {
                let size = megabytes(bytes.count, roundingUp: true)
                throw DumpError(.limit, "page is \(size) MB, the limit is \(megabytes(limit)) MB")
            }
            var document = bytes[...]
            var envelope = envelope
            if Envelope.leads(document) { (envelope, document) = try Envelope.split(document) }
            if document.starts(with: [0xEF, 0xBB, 0xBF]) { document = document.dropFirst(3) }
            if let status = envelope?.status, !(200..<300 ~= status) { throw failure(status, document) }
            var response = Response(Answer(bytes: bytes))
            if profile.isLines {
                try addLines(of: document, to: &response.answer)
            } else {
                try scanner.read(document, items: profile.items)
                try addDocument(document, to: &response.answer)
            }
            try addSurroundings(Surroundings(document: document, envelope: envelope), to: &response)
            return response
        } catch {
            throw DumpError(error.kind, "\(printable(name, limit: 400)): \(error.message)")
        }
    }

    private func addLines(of bytes: ArraySlice<UInt8>, to answer: inout Answer) throws(DumpError) {
        let spaces = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")]
        var number = 0
        var keyType = profile.key?.type
        for line in bytes.split(separator: UInt8(ascii: "\n")) where !line.allSatisfy(spaces.contains) {
            number += 1
            try scanner.read(line)
            try addItem(0, number: number, at: line.startIndex, keyType: &keyType, to: &answer)
        }
    }

    private func addDocument(_ document: ArraySlice<UInt8>, to answer: inout Answer) throws(DumpError) {
        for (path, slot) in outside where scanner.document(slot).repeated {
            throw DumpError(.data, "\(path) is there twice")
        }
        if let field = profile.error { try checkForError(field, in: document) }
        let items = scanner.document(self.items!)
        let isEmptyPage =
            profile.emptyPage == .empty || profile.emptyPage == .null && items.kind == CJSON_NULL
        let (kind, noun) = profile.sequence == nil ? (CJSON_ARRAY, "an array") : (CJSON_OBJECT, "an object")
        if items.isAbsent ? !isEmptyPage : items.kind != kind, let error = ErrorDocument(document) {
            throw DumpError(.data, error.sentence)
        }
        // The mark tells a page without items from a foreign document. Where there are items, they tell.
        if let mark = profile.mark, !mark.texts.isEmpty || items.isAbsent {
            try check(mark, self.document(mark.path))
        }
        guard !items.repeated else { throw DumpError(.data, "\(profile.items) is there twice") }
        if items.isAbsent && !isEmptyPage {
            let absence = items.absence(profile.items)
            throw DumpError(.data, "\(absence.message), where profile \(profile.name) has its list")
        }
        guard items.isAbsent || items.kind == kind else {
            let path = profile.items.keys.isEmpty ? "the document" : profile.items.description
            throw DumpError(.data, "\(path) is \(items.noun), not \(noun)")
        }
        var keyType = profile.key?.type
        answer.posts.reserveCapacity(scanner.itemCount)
        for index in 0..<scanner.itemCount {
            try addItem(index, number: index + 1, at: document.startIndex, keyType: &keyType, to: &answer)
        }
        if let path = profile.sequence { try arrange(&answer, as: path, in: document) }
    }

    /// Adds the item at `index` of the last scan, from a document that began at `start`.
    private func addItem(
        _ index: Int, number: Int, at start: Int, keyType: inout Profile.KeyType?,
        to answer: inout Answer
    ) throws(DumpError) {
        do throws(DumpError) {
            try checkForRepetitions(index)
            if let mark = profile.mark, let lineMark { try check(mark, scanner.item(index, lineMark)) }
            let id = scanner.item(index, self.id)
            let post = scanner.item(index, self.post)
            if id.isAbsent {
                if profile.hasOpaqueRows && isRow(index) {
                    answer.opaqueRows += 1
                    return
                }
                let item = scanner.item(index, whole)
                if ![CJSON_OBJECT, CJSON_NULL].contains(item.kind), isInObjects(profile.id.path) {
                    throw DumpError(.data, "\(item.noun), not an object")
                }
                throw id.absence(profile.id.path)
            }
            guard !post.isAbsent else { throw post.absence(profile.post) }
            let body = post.range.lowerBound + start..<post.range.upperBound + start
            answer.posts.append(
                Post(
                    id: try id.id(profile.id), key: try sortKey(index, type: &keyType),
                    version: try version(index), body: body))
        } catch {
            throw DumpError(error.kind, "item \(number): \(error.message)")
        }
    }

    private func checkForRepetitions(_ index: Int) throws(DumpError) {
        let fields = [
            (id, profile.id.path), (post, profile.post), (key, profile.key?.path),
            (version, profile.version?.path),
        ]
        for case (let slot?, let path?) in fields where scanner.item(index, slot).repeated {
            throw DumpError(.data, "\(path) is there twice")
        }
    }

    /// Returns true if a path begins with the key of an object, and not with the place in an array.
    private func isInObjects(_ path: FieldPath) -> Bool { path.keys.first.map { Int($0) == nil } ?? false }

    /// Returns true if an item without an id may be a row that is not a post.
    private func isRow(_ index: Int) -> Bool {
        [CJSON_NULL, CJSON_OBJECT, CJSON_ARRAY].contains(scanner.item(index, whole).kind)
    }

    private func sortKey(_ index: Int, type: inout Profile.KeyType?) throws(DumpError) -> Int64? {
        guard let field = profile.key, let key else { return nil }
        let span = scanner.item(index, key)
        guard !span.isAbsent else { throw span.absence(field.path) }
        if type == .auto { type = span.keyType }
        return try span.key(field, as: type ?? field.type)
    }

    /// Returns the version. Unlike a key, it may be missing: posts that were never edited have no edit date.
    private func version(_ index: Int) throws(DumpError) -> Int64? {
        guard let field = profile.version, let version else { return nil }
        let span = scanner.item(index, version)
        guard !span.isAbsent else { return nil }
        return try span.key(field, as: field.type == .auto ? span.keyType : field.type)
    }

    /// Returns what the last scan found at a path of the profile outside the items.
    func document(_ path: FieldPath) -> cjson_span {
        guard let slot = outside.first(where: { $0.path == path })?.slot else { return cjson_span() }
        return scanner.document(slot)
    }
}
