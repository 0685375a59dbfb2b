import CJSON
import Quire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The response around its posts, while it is parsed.
struct Surroundings {
    let document: ArraySlice<UInt8>
    /// Nil if the headers are unknown, which differs from no headers.
    let envelope: Envelope?
}

/// Finds where in the feed a response lies, and how the feed continues.
extension PageParser {
    func addSurroundings(_ around: Surroundings, to response: inout Response) throws(DumpError) {
        response.page = try page(around)
        response.pages = try profile.pages.flatMap { source throws(DumpError) in
            try count(source, around)
        }
        response.total = try total(around)
        try addAdvice(around, to: &response)
        let parameters = around.envelope?.request == nil ? nil : around.envelope?.parameters
        response.asked = asked(response, parameters)
        if response.isBeside(firstPage: profile.firstPage) { response.page = nil }
        response.own = try own(response, around, parameters)
        response.answer.since = try profile.since.flatMap { source throws(DumpError) in
            try text(source, around)
        }
        if let path = profile.deleted { response.answer.deleted = try ids(at: path, in: around.document) }
        if let field = profile.next {
            let last = response.answer.posts.last
            response.answer.next = try link(field, from: last, otherwise: .end, response, around)
            if parameters != nil { response.doubtEnd(of: field) }  // else no link is known to doubt
        } else if profile.paging == .ids {
            response.answer.next = .end  // the list of ids is complete
        }
        if let field = profile.previous {
            let first = response.answer.posts.first
            response.answer.previous = try link(field, from: first, otherwise: .unknown, response, around)
        }
    }

    /// Returns what the headers of an error, or of "not modified", say about asking again. Sets nothing else.
    public func advice(in envelope: Envelope) -> Response {
        var response = Response(Answer())
        let around = Surroundings(document: [], envelope: envelope)
        try? addAdvice(around, to: &response, onlyHeaders: true)
        return response
    }

    private func addAdvice(
        _ around: Surroundings, to response: inout Response, onlyHeaders: Bool = false
    ) throws(DumpError) {
        func number(_ source: Source?) throws(DumpError) -> Double? {
            guard let source, !onlyHeaders || source.path == nil,
                let text = try text(source, around), let number = Double(text), number.isFinite
            else { return nil }
            return max(0, number)
        }
        response.backoff = try number(profile.backoff)
        // Some servers count fractions of requests: "599.0".
        response.quota = try number(profile.quota).map { Int(min($0, 0x1p53)) }
        response.quotaRenewal = try number(profile.quotaRenewal)
    }

    /// Sorts the posts by the list of their ids. Posts that are not in it do not belong to the page: the
    /// server sends them because others refer to them.
    func arrange(
        _ answer: inout Answer, as path: FieldPath, in document: ArraySlice<UInt8>
    ) throws(DumpError) {
        let span = self.document(path)
        guard !span.isAbsent else { throw span.absence(path) }
        let list = Data(document.dropFirst(Int(span.start)).prefix(Int(span.length)))
        guard span.kind == CJSON_ARRAY, let ids = try? JSONDecoder().decode([String].self, from: list)
        else { throw DumpError(.data, "\(path) is not an array of strings") }
        let posts = Dictionary(
            answer.posts.map { ($0.id.description, $0) }, uniquingKeysWith: { first, _ in first })
        var arranged: [Post] = []
        for id in ids {
            guard let post = posts[id] else {
                throw DumpError(.data, "\(profile.items) has no \(printable(id, limit: 40))")
            }
            arranged.append(post)
        }
        answer.opaqueRows += answer.posts.count - Set(ids).count
        answer.posts = arranged
    }

    /// Returns the ids in a list of strings and whole numbers; none if there is no list.
    private func ids(at path: FieldPath, in document: ArraySlice<UInt8>) throws(DumpError) -> [PostID] {
        struct Name: Decodable {
            let id: PostID?
            init(from decoder: any Decoder) throws {
                let value = try decoder.singleValueContainer()
                id = PostID(try (try? value.decode(String.self)) ?? String(value.decode(Int64.self)))
            }
        }
        let span = self.document(path)
        if span.isAbsent { return [] }
        let list = Data(document.dropFirst(Int(span.start)).prefix(Int(span.length)))
        guard span.kind == CJSON_ARRAY, let names = try? JSONDecoder().decode([Name].self, from: list)
        else { throw DumpError(.data, "\(path) is not an array of ids") }
        return names.compactMap(\.id)
    }

    private func page(_ around: Surroundings) throws(DumpError) -> Int? {
        for source in profile.page {
            if let page = try count(source, around) { return page }
            // The first page is requested without a number.
            if case .query = source, around.envelope?.request != nil { return profile.firstPage }
        }
        return nil
    }

    private func own(
        _ response: Response, _ around: Surroundings, _ parameters: [String: String]?
    ) throws(DumpError) -> Link? {
        // An address is only useful to match links, which may not have been recorded.
        let isUseless = profile.own == .request && around.envelope?.hasHeaders == false
        if let source = profile.own, !isUseless { return try text(source, around).map(Link.token) }
        if profile.own == nil, let link = parameters.flatMap(profile.link) { return link }
        guard let page = response.page, isUseless || profile.next?.isNumbered ?? true else { return nil }
        return .token("page=\(page)")
    }

    /// Returns what the request asked for. Without a recorded request, the page number in the response tells.
    private func asked(_ response: Response, _ parameters: [String: String]?) -> Response.Asked? {
        let places = profile.places
        func post(_ names: [String]) -> PostID? {
            names.lazy.compactMap { parameters?[$0] }.first { !$0.isEmpty }.flatMap { PostID($0) }
        }
        if let id = post(places.above) { return .above(id) }
        if let id = post(places.newer) { return .newer(id) }
        if let id = post(places.around) { return .around(id) }
        if post(places.below) != nil { return .below }
        if let page = response.page { return page <= profile.firstPage ? .head : .below }
        return parameters == nil || places.below.isEmpty ? nil : .head
    }

    private func link(
        _ field: LinkField, from post: Post?, otherwise: Link, _ response: Response,
        _ around: Surroundings
    ) throws(DumpError) -> Link {
        if let path = field.more, !isFlagOfOtherSide(field, otherwise, response) {
            switch try document(path).flag(path) {
            case false?: return .end
            case nil: return .unknown
            case true? where field.way == .flag: return .more
            case true?: break
            }
        }
        let token: String?
        switch field.way {
        case .flag:
            return .unknown
        case .counted:
            return try isLast(response, around).map { $0 ? .end : .more } ?? .unknown
        case .template(let template):
            // If the server said that there is more, a page without posts is not the end.
            let none = field.more == nil ? otherwise : .unknown
            return post.map { .token(template.filled(from: $0)) } ?? none
        case .relation(let relation):
            guard let envelope = around.envelope, envelope.hasHeaders else { return .unknown }
            token = envelope["Link"].flatMap { LinkHeader($0).addresses[relation] }
        case .found: return NextLink.shown(in: around, beside: profile.items)
        case .token(.body(let path)):
            let span = document(path)
            if field.absence == .null, span.meansNone { return .end }
            token = try span.token(path, in: around.document)
        case .token(let source):
            guard around.envelope?.hasHeaders == true else { return .unknown }
            token = try text(source, around)
        }
        guard let token else {
            if otherwise == .end, profile.pages != nil, let isLast = try isLast(response, around) {
                return isLast ? .end : profile.paging == .page ? .more : .unknown
            }
            // If the server said that there is more, a missing token cannot mean the end.
            return field.absence != .end || field.more != nil ? .unknown : .end
        }
        return token == field.endToken ? .end : .token(address(token, around))
    }

    /// Returns true if the flag says whether there is more on the other side of the page. Where both links
    /// are templates and have one flag, it speaks of the side to which the request leads.
    private func isFlagOfOtherSide(
        _ field: LinkField, _ otherwise: Link, _ response: Response
    ) -> Bool {
        guard field.isTemplate, profile.next?.more == profile.previous?.more else { return false }
        if case .above = response.asked { return otherwise == .end }
        return otherwise == .unknown
    }

    /// If links are addresses, returns the complete address of each.
    private func address(_ token: String, _ around: Surroundings) -> String {
        guard profile.own == .request, let request = around.envelope?.request,
            let base = URL(string: request), let url = URL(string: token.validAddress, relativeTo: base)
        else { return token }
        return url.scheme == nil || token.contains("://") ? token : url.absoluteString
    }

    private func isLast(_ response: Response, _ around: Surroundings) throws(DumpError) -> Bool? {
        guard let page = response.page else { return nil }
        // Numbers are below 2^53, so nothing here overflows.
        let place = page - profile.firstPage + 1
        // Beside posts, a count of 0 counts nothing.
        let isCount = { $0 > 0 || response.answer.posts.isEmpty }
        if let pages = response.pages { return isCount(pages) ? place >= pages : nil }
        guard let total = response.total, isCount(total),
            let size = try profile.pageSize.flatMap({ source throws(DumpError) in
                try count(source, around)
            }), size > 0
        else { return nil }
        return place >= (total + size - 1) / size
    }

    /// Returns the number of posts. Without a profile it is found by its name, so what is no count says
    /// nothing.
    private func total(_ around: Surroundings) throws(DumpError) -> Int? {
        guard let source = profile.total else { return nil }
        do throws(DumpError) { return try count(source, around) } catch {
            if profile.name != Profile.unknownName { throw error }
            return nil
        }
    }

    private func count(_ source: Source, _ around: Surroundings) throws(DumpError) -> Int? {
        guard let text = try text(source, around) else { return nil }
        guard let number = Int(text), 0...1 << 53 ~= number else {
            throw DumpError(.data, "\(source) is \"\(printable(text, limit: 40))\", not a count")
        }
        return number
    }

    /// Returns the text at a source; nil if there is none, or it is unknown.
    private func text(_ source: Source, _ around: Surroundings) throws(DumpError) -> String? {
        let text =
            switch source {
            case .body(let path): try document(path).token(path, in: around.document)
            case .header(let name): around.envelope?[name]
            case .query(let name): around.envelope?.parameter(name)
            case .request: around.envelope?.request
            }
        return text?.isEmpty == true ? nil : text
    }
}

extension Response {
    /// Takes the end back that a page without posts reports, if the profile doubts it. A row that is no post
    /// shows that the link led somewhere, and nothing can be gone that a request for the head names.
    fileprivate mutating func doubtEnd(of field: LinkField) {
        guard field.emptyEnd == .doubtful, answer.next == .end, asked != .head,
            answer.posts.isEmpty, answer.opaqueRows == 0
        else { return }
        answer.next = .unknown
        isEndDoubtful = true
    }
}

extension cjson_span {
    /// True for null, false and `""`.
    fileprivate var meansNone: Bool {
        kind == CJSON_NULL || kind == CJSON_FALSE || kind == CJSON_STRING && text_length == 0
    }
}

extension Source: CustomStringConvertible {
    /// The source in words, for messages.
    var description: String {
        switch self {
        case .body(let path): path.description
        case .header(let name): "header \(printable(name))"
        case .query(let name): "parameter \(printable(name))"
        case .request: "the request"
        }
    }
}
