import Foundation

/// The page: plain HTML, CSS and JavaScript, in the folder `Page`. The report holds all of it in one file;
/// the server hands out each file.
enum Page {
    /// In the order in which the browser runs them.
    static let scripts: [(name: String, text: [UInt8])] = [
        ("words.js", PackageResources.words_js), ("source.js", PackageResources.source_js),
        ("map.js", PackageResources.map_js), ("tree.js", PackageResources.tree_js),
        ("rows.js", PackageResources.rows_js), ("tables.js", PackageResources.tables_js),
        ("app.js", PackageResources.app_js),
    ]
    static let style: [UInt8] = PackageResources.style_css
    private static let frame = String(decoding: PackageResources.page_html, as: UTF8.self)

    /// The file that a report is. Only scripts and styles with its nonce run, which no data of a cache can
    /// know.
    static func report(data: [UInt8], nonce: String) -> [UInt8] {
        let policy =
            "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
            + "img-src data:; base-uri 'none'; form-action 'none'"
        let head = "<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n"
        let parts = frame.split(separator: "<!-- parts -->", maxSplits: 2, omittingEmptySubsequences: false)
        var html = Array((parts[0] + head + "<style nonce=\"\(nonce)\">\n").utf8)
        html += style
        html += Array(("</style>\n" + parts[1] + "<script type=\"application/json\" id=\"data\">").utf8)
        html += data
        html += Array("</script>\n".utf8)
        for script in scripts {
            html += Array("<script nonce=\"\(nonce)\">\n".utf8)
            html += script.text
            html += Array("</script>\n".utf8)
        }
        return html + Array(parts[2].utf8)
    }

    /// The page of the server, which asks for everything else.
    static func live() -> [UInt8] {
        let parts = frame.split(separator: "<!-- parts -->", maxSplits: 2, omittingEmptySubsequences: false)
        let tags = scripts.map { "<script src=\"\($0.name)\"></script>\n" }.joined()
        return Array(
            (parts[0] + "<link rel=\"stylesheet\" href=\"style.css\">\n" + parts[1] + tags + parts[2]).utf8)
    }

    /// JSON that can lie in an HTML file: no tag and no comment can begin or end in it. The escaped
    /// characters occur only inside its strings.
    static func json(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        var escaped: [UInt8] = []
        let data = try encoder.encode(value)
        escaped.reserveCapacity(data.count + data.count / 16)
        for byte in data {
            switch byte {
            case UInt8(ascii: "<"): escaped += Array("\\u003c".utf8)
            case UInt8(ascii: ">"): escaped += Array("\\u003e".utf8)
            case UInt8(ascii: "&"): escaped += Array("\\u0026".utf8)
            default: escaped.append(byte)
            }
        }
        return escaped
    }

    /// 128 random bits as text.
    static func randomText() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
