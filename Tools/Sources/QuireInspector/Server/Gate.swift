/// Who may ask. A page of another site can send requests to this port: it does not know the token, and a
/// browser that it led here by a name of its own says so in `Host`.
struct Gate: Sendable {
    let token: String
    let port: UInt16

    enum Refusal: Equatable, Sendable {
        /// Neither reading nor what a browser of this page would send.
        case method
        case host
        case origin
        case token
    }

    /// Returns the path after the token, or why the request is refused.
    func path(method: String, path: String, host: String?, origin: String?) -> Result {
        let own = ["127.0.0.1:\(port)", "localhost:\(port)"]
        guard let host, own.contains(host) else { return .refused(.host) }
        if let origin, !own.contains(where: { origin == "http://\($0)" }) { return .refused(.origin) }
        guard method == "GET" else { return .refused(.method) }
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, Self.isEqual(parts[1], token) else {
            return .refused(.token)
        }
        return .path(String(parts[2]))
    }

    enum Result: Equatable, Sendable {
        case path(String)
        case refused(Refusal)
    }

    /// Compares in a time that does not depend on where they differ.
    private static func isEqual(_ text: Substring, _ token: String) -> Bool {
        let (given, wanted) = (Array(text.utf8), Array(token.utf8))
        if given.count != wanted.count { return false }
        return zip(given, wanted).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
