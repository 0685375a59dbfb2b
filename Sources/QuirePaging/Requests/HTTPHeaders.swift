import Foundation
import Quire

extension PageResponse {
    /// A page, and what the headers of its HTTP response say: `ETag`, `Last-Modified`, `Cache-Control`,
    /// `Retry-After`, `X-RateLimit-Remaining`, `X-RateLimit-Reset`, `X-RateLimit-Reset-After`, the same
    /// without `X-`, and `RateLimit`. Status 304 is "not modified", whatever the answer is.
    /// - Parameters:
    ///   - answer: The page that the body of the response is.
    ///   - status: The status of the response.
    ///   - headers: Its headers by name, in any case.
    public init(_ answer: Answer, status: Int, headers: [String: String]) {
        let headers = HTTPHeaders(headers)
        self.init(
            status == 304 ? .notModified : .page(answer), validators: headers.validators,
            lifetime: headers.lifetime, pause: headers.pause, quota: headers.quota)
    }
}

extension PageFailure {
    /// What an HTTP response that is no success means. 408, 425, 429 and 5xx (without 501) may pass. So may
    /// 403 if it says when, or that the quota is used up: GitHub refuses too many requests so.
    /// - Parameters:
    ///   - message: What the error says.
    ///   - status: The status of the response.
    ///   - headers: Its headers by name, in any case.
    public init(_ message: String, status: Int, headers: [String: String]) {
        let headers = HTTPHeaders(headers)
        self.init(message, isTransient: false, pause: headers.pause, quota: headers.quota)
        let passes = [408, 425, 429].contains(status) || (500...599).contains(status) && status != 501
        isTransient = passes || status == 403 && saysWhenToAsk
    }

    /// True if the server asks for a pause, or permits no more requests for now.
    package var saysWhenToAsk: Bool { pause != nil || quota?.remaining == 0 }
}

/// Reads the headers that concern further requests (RFC 9110, RFC 9111).
private struct HTTPHeaders {
    private let values: [String: String]

    init(_ headers: [String: String]) {
        values = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    var validators: Validators? {
        let validators = Validators(etag: values["etag"], lastModified: values["last-modified"])
        return validators == Validators() ? nil : validators
    }

    /// The lifetime. `no-cache` and `no-store` mean that the page must be requested each time.
    var lifetime: Duration? {
        guard let control = values["cache-control"] else { return nil }
        var lifetime: Duration?
        for directive in control.lowercased().split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            switch parts.first {
            case "no-cache", "no-store": return .zero
            case "max-age": lifetime = parts.count == 2 ? Self.seconds(parts[1]) : nil
            default: continue
            }
        }
        return lifetime
    }

    /// The pause: a number of seconds, or a date relative to the server's own `Date`, because clocks differ.
    var pause: Duration? {
        guard let text = values["retry-after"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Self.seconds(text) { return seconds }
        guard let end = Self.date(text), let now = values["date"].flatMap(Self.date) else { return nil }
        return .seconds(max(0, end.timeIntervalSince(now)))
    }

    /// The quota. A server may name several limits: a spent one counts, and of these the last to be renewed.
    var quota: Quota? {
        let all = [quota("x-ratelimit"), quota("ratelimit")].compactMap(\.self) + quotas
        let spent = all.filter { $0.remaining == 0 }
        return spent.max { $0.renewsIn ?? .zero < $1.renewsIn ?? .zero } ?? all.first
    }

    /// The quota as GitHub and many others send it: the requests left, and when there are new ones, in
    /// seconds since 1970 by the server's clock. Small numbers, as Reddit sends them, are seconds from now.
    /// Discord also says the seconds from now by themselves. Newer servers leave `X-` out.
    private func quota(_ name: String) -> Quota? {
        func number(_ name: String) -> Duration? {
            values[name].flatMap { Self.seconds($0.trimmingCharacters(in: .whitespaces)) }
        }
        guard let remaining = number("\(name)-remaining") else { return nil }
        let quota = Quota(remaining: Int(remaining.components.seconds))
        if let rest = number("\(name)-reset-after") {
            return Quota(remaining: quota.remaining, renewsIn: rest)
        }
        guard let reset = number("\(name)-reset") else { return quota }
        if reset < .seconds(1_000_000_000) { return Quota(remaining: quota.remaining, renewsIn: reset) }
        guard let now = values["date"].flatMap(Self.date) else { return quota }
        let rest = reset - .seconds(now.timeIntervalSince1970)
        return Quota(remaining: quota.remaining, renewsIn: max(.zero, rest))
    }

    /// The quotas of the header `RateLimit` of the IETF's drafts: `"burst";r=0;t=12, "day";r=99;t=3600`; in
    /// older ones `limit=100, remaining=0, reset=12`.
    private var quotas: [Quota] {
        // The name of a limit may hold any character.
        guard let text = values["ratelimit"]?.replacing(/"(?:[^"\\]|\\.)*"/, with: "") else { return [] }
        let isOld = text.contains("remaining")
        let limits = isOld ? [text.replacing(",", with: ";")[...]] : text.split(separator: ",")
        return limits.compactMap { limit in
            var numbers: [String: Duration] = [:]
            for parameter in limit.split(separator: ";") {
                let parts = parameter.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
                if parts.count == 2 { numbers[parts[0].lowercased()] = Self.seconds(parts[1]) }
            }
            guard let remaining = numbers["r"] ?? numbers["remaining"] else { return nil }
            return Quota(
                remaining: Int(remaining.components.seconds), renewsIn: numbers["t"] ?? numbers["reset"])
        }
    }

    /// Reads seconds, limited to a century. Some servers send fractions: "372.5", and "598.0" for a count.
    private static func seconds(_ text: String) -> Duration? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }) else {
            return nil
        }
        let whole = Duration.seconds(min(Int64(parts[0]) ?? .max, 3_155_760_000))
        guard parts.count == 2, let fraction = Double("0.\(parts[1])") else { return whole }
        return whole + .seconds(fraction)
    }

    private static func date(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }
}
