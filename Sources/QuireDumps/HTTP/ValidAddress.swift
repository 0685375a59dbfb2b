extension String {
    /// The address, or a part of one, with what cannot stand in it escaped; escapes stay as they are, and so
    /// does the name of the server.
    ///
    /// Foundation escapes an address itself, but escapes the `%` of escapes again as soon as another
    /// character needs one: `?props=a|b&from=2023%7C10` would ask for `2023%257C10`.
    package var validAddress: String {
        var start = utf8.startIndex
        if let slashes = firstRange(of: "//"),
            !self[..<slashes.lowerBound].contains(where: { "/?#".contains($0) })
        {
            start = self[slashes.upperBound...].firstIndex { "/?#".contains($0) } ?? endIndex
        }
        var bytes = Array(self[..<start].utf8)
        var rest = self[start...].utf8
        while let byte = rest.popFirst() {
            let isEscape = byte == UInt8(ascii: "%") && rest.prefix(2).count(where: \.isHexDigit) == 2
            if isEscape || Self.addressBytes.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
    /// Those of RFC 3986, without the brackets, which stand in the name of a server only.
    private static let addressBytes = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#@!$&'()*+,;=".utf8)
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || 65...70 ~= self & 0xDF
    }
}
