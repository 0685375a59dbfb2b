import CExpat
import Foundation

/// Wraps libexpat in Swift types: elements with attributes, text, and their positions in the document.
///
/// It accepts a document type without entities, so only the five of XML exist. It never fetches anything
/// outside the document. Depth and size are limited. A name consists of its namespace, a space and the local
/// name.
final class XMLParser {
    /// The callbacks of a parser. Each call happens inside ``XMLParser/parse(_:isLast:)``.
    protocol Delegate: AnyObject {
        func start(_ name: String, _ attributes: Attributes)
        func end(_ name: String)
        func text(_ bytes: UnsafeBufferPointer<UInt8>)
    }

    /// The attributes of an element. Valid only while it starts.
    struct Attributes {
        fileprivate let list: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        /// The number of names and values in the tag. Those after them are defaults of a document type.
        fileprivate let count: Int
        /// The address in `xml:base` that is in force for the element; nil if there is none. It is complete
        /// if it can be made so.
        let base: String?

        subscript(_ name: StaticString) -> String? {
            guard let list else { return nil }
            for at in Swift.stride(from: 0, to: count, by: 2) {
                guard let key = list[at], let value = list[at + 1] else { return nil }
                if strcmp(key, name.utf8Start) == 0 { return String(cString: value) }
            }
            return nil
        }
    }

    static let depthLimit = 128
    /// The maximum length of an element's name in bytes.
    static let nameLimit = 1_024
    /// The maximum number of attributes that a document type may declare. Each costs time at every element.
    static let declarationLimit = 256
    /// The maximum length of an `xml:base`. A longer one is not in force.
    static let baseLimit = 2_048

    /// The address of the document, if it is known.
    var origin: String?
    /// The addresses in `xml:base` of the elements around the current place, and how deep those are.
    private var bases: [(depth: Int, address: String)] = []

    private let parser: XML_Parser
    private unowned let delegate: any Delegate
    private(set) var depth = 0
    /// True after a document type. It may have an external part that declares entities, and then expat does
    /// not report unknown entities in attributes.
    private var hasDocumentType = false
    private var declarations = 0
    private(set) var failure: DumpError?
    /// The blanks before the document, and the lines among them. XML permits none before a declaration, but
    /// many servers send an empty line.
    private var blanks = (count: 0, lines: 0)
    private var hasBegun = false

    init(_ delegate: any Delegate) {
        guard let parser = XML_ParserCreateNS("UTF-8", CChar(UInt8(ascii: " "))) else {
            fatalError("out of memory")
        }
        (self.parser, self.delegate) = (parser, delegate)
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(parser, { XMLParser.of($0).start($1!, $2) }, { XMLParser.of($0).end($1!) })
        XML_SetXmlDeclHandler(parser) { owner, _, encoding, _ in
            if let encoding { XMLParser.of(owner).check(encoding: String(cString: encoding)) }
        }
        XML_SetStartDoctypeDeclHandler(parser) { owner, _, _, _, _ in
            XMLParser.of(owner).hasDocumentType = true
        }
        // Without this, expat silently skips an undeclared parameter entity. Nothing is fetched, because
        // there is no handler for external parts.
        XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_ALWAYS)
        XML_SetEntityDeclHandler(parser) { owner, name, _, _, _, _, _, _, _ in
            XMLParser.of(owner).refuse(entity: String(cString: name!), "is declared in the document type")
        }
        XML_SetSkippedEntityHandler(parser) { owner, name, _ in
            XMLParser.of(owner).refuse(entity: String(cString: name!), "is declared elsewhere")
        }
        XML_SetAttlistDeclHandler(parser) { owner, _, _, _, _, _ in XMLParser.of(owner).countDeclaration() }
    }

    deinit { XML_ParserFree(parser) }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> XMLParser {
        Unmanaged<XMLParser>.fromOpaque(pointer!).takeUnretainedValue()
    }

    /// Starts to report text, too.
    func tellText() {
        XML_SetCharacterDataHandler(parser) { owner, bytes, count in
            bytes!.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
                let text = UnsafeBufferPointer(start: $0, count: Int(count))
                XMLParser.of(owner).delegate.text(text)
            }
        }
    }

    /// The start of the current element in the document. After parsing, the start of the unread part.
    var index: Int { blanks.count + Int(XML_GetCurrentByteIndex(parser)) }

    /// The end of the current tag.
    var endIndex: Int { index + Int(XML_GetCurrentByteCount(parser)) }

    /// Parses the next bytes. Returns false if the document is malformed; ``failure`` says why.
    func parse(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) -> Bool {
        if failure != nil { return false }
        let bytes = hasBegun ? bytes : withoutBlanks(bytes)
        let status = bytes.withMemoryRebound(to: CChar.self) {
            XML_Parse(parser, $0.baseAddress, Int32($0.count), isLast ? 1 : 0)
        }
        if status == XML_STATUS_OK { return true }
        if failure == nil {
            let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) }
            note(.syntax, "not XML: \(reason ?? "unknown error")")
        }
        return false
    }

    private func withoutBlanks(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let start = bytes.firstIndex { !isJSONSpace($0) } ?? bytes.endIndex
        blanks.count += start
        blanks.lines += bytes[..<start].count { $0 == UInt8(ascii: "\n") }
        hasBegun = start < bytes.endIndex
        return UnsafeBufferPointer(rebasing: bytes[start...])
    }

    /// Ends the document here with an error.
    func stop(_ kind: DumpError.Kind, _ reason: String) {
        note(kind, reason)
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private func note(_ kind: DumpError.Kind, _ reason: String) {
        if failure != nil { return }
        let line = blanks.lines + Int(XML_GetCurrentLineNumber(parser))
        let column = XML_GetCurrentColumnNumber(parser) + 1
        failure = DumpError(kind, "line \(line), column \(column): \(reason)")
    }

    private func refuse(entity: String, _ reason: String) {
        stop(.data, "the entity \(printable(entity, limit: 40)) \(reason); only the five of XML are read")
    }

    private func countDeclaration() {
        declarations += 1
        if declarations > Self.declarationLimit {
            stop(.limit, "the document type declares more than \(Self.declarationLimit) attributes")
        }
    }

    /// Returns an entity in the current tag that is not one of XML's five, if there is one.
    private func strangeEntity() -> String? {
        var (offset, size) = (Int32(0), Int32(0))
        guard let bytes = XML_GetInputContext(parser, &offset, &size) else { return "in a tag" }
        let tag = UnsafeBufferPointer(start: bytes + Int(offset), count: Int(XML_GetCurrentByteCount(parser)))
        var rest = tag[...]
        while let start = rest.firstIndex(of: CChar(UInt8(ascii: "&"))) {
            rest = rest[(start + 1)...]
            let name = rest.prefix { $0 != CChar(UInt8(ascii: ";")) }
            let text = String(decoding: name.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !text.hasPrefix("#") && !["lt", "gt", "amp", "quot", "apos"].contains(text) { return text }
        }
        return nil
    }

    private func check(encoding: String) {
        if !["utf-8", "utf8", "us-ascii"].contains(encoding.lowercased()) {
            stop(.data, "the encoding is \(printable(encoding)); only UTF-8 is read")
        }
    }

    private func start(_ name: UnsafePointer<CChar>, _ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        if failure != nil { return }
        depth += 1
        if depth > Self.depthLimit {
            return stop(.limit, "nested deeper than \(Self.depthLimit) levels")
        }
        if strnlen(name, Self.nameLimit + 1) > Self.nameLimit {
            return stop(.limit, "a name of more than \(Self.nameLimit) bytes")
        }
        if hasDocumentType, let entity = strangeEntity() {
            return refuse(entity: entity, "is declared elsewhere")
        }
        let count = Int(XML_GetSpecifiedAttributeCount(parser))
        let own = Attributes(list: list, count: count, base: nil)[Self.baseName]
        if let own, 1...Self.baseLimit ~= own.utf8.count, URL(string: own) != nil {
            bases.append((depth, resolved(own, against: bases.last?.address ?? origin)))
        }
        let attributes = Attributes(list: list, count: count, base: bases.last?.address)
        delegate.start(String(cString: name), attributes)
    }

    private static let baseName: StaticString = "http://www.w3.org/XML/1998/namespace base"

    private func end(_ name: UnsafePointer<CChar>) {
        if failure != nil { return }
        delegate.end(String(cString: name))
        if bases.last?.depth == depth { bases.removeLast() }
        depth -= 1
    }
}

/// Returns an address as it is meant in a document with this base. One that is complete stays as it was
/// written, and so does one for which there is no base.
func resolved(_ address: String, against base: String?) -> String {
    let valid = address.validAddress
    guard let base, let url = URL(string: valid), url.scheme == nil,
        let start = URL(string: base.validAddress), start.scheme != nil
    else { return address }
    return URL(string: valid, relativeTo: start)?.absoluteString ?? address
}
