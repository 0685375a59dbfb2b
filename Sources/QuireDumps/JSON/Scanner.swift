import CJSON

/// Wraps the C++ parser in Swift types. Only one thread may use it.
final class Scanner {
    /// Identifies the result of a path.
    struct Slot {
        fileprivate let number: Int32
    }

    enum Failure {
        case notJSON(reason: String, offset: Int?)
        /// A number that is well-formed, but fits no type.
        case largeNumber(String, offset: Int)
        case notUTF8
        case tooDeep
        case tooLarge
        case noMemory
    }

    private let parser: OpaquePointer

    init(depth: Int) {
        guard let parser = cjson_create(depth) else { fatalError("out of memory") }
        self.parser = parser
    }

    deinit { cjson_destroy(parser) }

    /// Makes later scans report the value at the path, relative to the document.
    func inDocument(_ path: FieldPath) -> Slot {
        slot(path) { cjson_watch(parser, CJSON_IN_DOCUMENT, $0, $1) }
    }

    /// Makes later scans report the value at the path, relative to each item.
    func inItem(_ path: FieldPath) -> Slot {
        slot(path) { cjson_watch(parser, CJSON_IN_ITEM, $0, $1) }
    }

    /// Sets the array of items. Without one, the document is the only item.
    func items(_ path: FieldPath) -> Slot {
        slot(path) { cjson_items(parser, $0, $1) }
    }

    /// Scans a document. The results of the previous one are gone.
    func scan(_ document: ArraySlice<UInt8>) -> Failure? {
        var error = cjson_error()
        let status = document.withUnsafeBufferPointer {
            cjson_scan(parser, $0.baseAddress, $0.count, &error)
        }
        switch status {
        case CJSON_OK: return nil
        case CJSON_NOT_UTF8: return .notUTF8
        case CJSON_TOO_DEEP: return .tooDeep
        case CJSON_TOO_LARGE: return .tooLarge
        case CJSON_NO_MEMORY: return .noMemory
        default:
            let offset = error.offset < 0 ? nil : Int(error.offset)
            if status == CJSON_BAD_NUMBER, let offset, let number = number(document.dropFirst(offset)) {
                return .largeNumber(number, offset: offset)
            }
            return .notJSON(reason: String(cString: error.reason), offset: offset)
        }
    }

    /// Scans a document. Throws an error that says what is wrong with it; `items` is the path of its list.
    func read(_ document: ArraySlice<UInt8>, items: FieldPath? = nil) throws(DumpError) {
        switch scan(document) {
        case nil:
            return
        case .notJSON(let reason, let offset):
            let place = offset.map { " at byte \(document.startIndex + $0)" } ?? ""
            let words = pageForPeople(document) ?? cut(document, at: offset) ?? reason + place
            throw DumpError(.syntax, "not JSON: \(words)")
        case .largeNumber(let number, let offset):
            // Another answer would hold it, too, so this is not `.syntax`, as of an answer that was cut.
            let field = OffsetPlace(of: offset, in: document).words(items: items)
            let place = "at byte \(document.startIndex + offset)\(field): \(printable(number, limit: 40))"
            throw DumpError(.data, "a number that does not fit 64 bits \(place)")
        case .notUTF8:
            let place = firstInvalidByte(document).map { " at byte \($0)" } ?? ""
            throw DumpError(.data, "not JSON: not UTF-8\(place)")
        case .tooDeep:
            throw DumpError(.limit, "nested deeper than \(PageParser.depthLimit) levels")
        case .tooLarge:
            throw DumpError(.limit, "page is too large for the JSON parser")
        case .noMemory:
            throw DumpError(.limit, "no memory for a page of \(megabytes(document.count)) MB")
        }
    }

    var itemCount: Int { cjson_item_count(parser) }

    func document(_ slot: Slot) -> cjson_span { cjson_in_document(parser, slot.number).pointee }

    func item(_ index: Int, _ slot: Slot) -> cjson_span {
        precondition(index < itemCount)
        return cjson_in_item(parser, index, slot.number).pointee
    }

    private func slot(_ path: FieldPath, _ watch: (UnsafePointer<CChar>?, Int) -> Int32) -> Slot {
        let keys = path.keys.flatMap { Array($0.utf8CString) }
        let number = keys.withUnsafeBufferPointer { watch($0.baseAddress, path.keys.count) }
        // A profile has fewer paths than the number of watched keys that one object may have
        // (`ProfileFields`).
        guard number >= 0 else { fatalError("no memory, or too many paths in one object") }
        return Slot(number: number)
    }
}

func isJSONSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}

/// Returns what a document of HTML or XML calls itself; nil for any other.
private func pageForPeople(_ document: ArraySlice<UInt8>) -> String? {
    guard document.first(where: { !isJSONSpace($0) }) == UInt8(ascii: "<") else { return nil }
    return titleOfPage(document).map { "it is a page for people: \"\($0)\"" } ?? "it is HTML or XML"
}

/// Returns what a page of HTML calls itself; nil for any other document.
func pageOfHTML(_ document: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: document.prefix(1 << 10), as: UTF8.self)
    let opening = /\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+)?html\b/.ignoresCase()
    return text.prefixMatch(of: opening) == nil ? nil : pageForPeople(document)
}

/// Returns the title of a document of HTML or XML, safe to print; nil if none is near its beginning.
func titleOfPage(_ document: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: document.prefix(1 << 12), as: UTF8.self)
    let title = text.firstMatch(of: /<(?:title|h1)\b[^>]*>\s*([^<]+)/.ignoresCase())?.1 ?? ""
    let words = title.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.isEmpty ? nil : printable(words)
}

/// Returns that a document ends before its object or array does; nil if something else is wrong with it.
private func cut(_ document: ArraySlice<UInt8>, at offset: Int?) -> String? {
    let error = document.startIndex + (offset ?? document.count)
    // An open string begins at the error.
    guard error >= document.endIndex || document[error] == UInt8(ascii: "\""),
        let start = document.firstIndex(where: { !isJSONSpace($0) }),
        [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(document[start])
    else { return nil }
    var value = ElementScanner(at: start - document.startIndex)
    let end = document.withUnsafeBufferPointer { value.end(in: $0) }
    return end == nil ? "it is cut: it ends in the middle, at byte \(document.count)" : nil
}

/// Returns the number with which a text begins, if it is well-formed and does not end with the text.
private func number(_ text: ArraySlice<UInt8>) -> String? {
    let bytes = text.prefix { "+-.0123456789eE".utf8.contains($0) }
    let number = String(decoding: bytes, as: UTF8.self)
    let form = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/
    return bytes.endIndex < text.endIndex && number.wholeMatch(of: form) != nil ? number : nil
}

private func firstInvalidByte(_ bytes: ArraySlice<UInt8>) -> Int? {
    var offset = bytes.startIndex
    var rest = bytes.makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    while true {
        switch parser.parseScalar(from: &rest) {
        case .valid(let scalar): offset += scalar.count
        case .emptyInput: return nil
        case .error: return offset
        }
    }
}

extension cjson_span {
    /// The characters of a string, unescaped. Valid until the next scan.
    var characters: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text, count: Int(text_length))
    }

    /// The range of the value in the document.
    var range: Range<Int> { Int(start)..<Int(start) + Int(length) }

    var isAbsent: Bool { kind == CJSON_MISSING || kind == CJSON_NULL }

    /// The kind of value, for messages.
    var noun: String {
        switch kind {
        case CJSON_MISSING: "missing"
        case CJSON_NULL: "null"
        case CJSON_FALSE: "false"
        case CJSON_TRUE: "true"
        case CJSON_NEGATIVE, CJSON_INTEGER: "an integer"
        case CJSON_FRACTION: "a number with a fraction or exponent"
        case CJSON_STRING: "a string"
        case CJSON_ARRAY: "an array"
        default: "an object"
        }
    }
}
