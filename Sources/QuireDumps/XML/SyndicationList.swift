import Quire

/// Reads the items of RSS 0.9 to 2.0 and the entries of Atom. The id of a post is its guid, its `rdf:about`
/// or its Atom id, else its link. Its key is the publication date, if all posts of a page have one.
///
/// A link that is relative starts at the `xml:base` in force, else at the link of the RSS channel, if that
/// stands before the item, else at the address of the document.
///
/// A document is the top of its list, unless it says that it lies below another one.
final class SyndicationList: XMLList {
    let kind = InputPage.Kind.syndication
    private let options: InputOptions
    private let place: String
    private var posts: [Item] = []
    private var bytes = 0
    private var count = 0
    /// The last item of the previous page, unless something was missing after it.
    private var above: Item?
    private var pages: [InputPage] = []

    private struct Item {
        let id: PostID
        let date: Int64?
        let body: [UInt8]
    }

    /// The id of the current item, from the element itself.
    private var id: String?
    private var link: String?
    private var published: String?
    private var updated: String?
    /// The `xml:base` of the current link.
    private var base: String?
    /// The address of the document; then that of the site, as an RSS channel says it.
    private var site: String?
    private let origin: String?
    private(set) var links = SyndicationLinks()
    /// True once a page or a broken item came: what follows is not the start of the document.
    private var hasBegun = false
    private var isInChannel = false
    /// The current field and its text so far.
    private var field: Field?
    private var value: [UInt8] = []

    private enum Field { case id, link, published, updated, site }

    /// Creates a list; `origin` is the address of the document, if it is known.
    init(_ options: InputOptions, place: String, origin: String? = nil) {
        (self.options, self.place) = (options, place)
        (self.origin, site) = (origin, origin)
    }

    func isRecord(_ name: String, depth: Int) -> Bool {
        (2...3).contains(depth) && ["item", "entry"].contains(name.split(separator: " ").last)
    }

    func startRecord(_ attributes: XMLParser.Attributes) {
        id = attributes["http://www.w3.org/1999/02/22-rdf-syntax-ns# about"]
        (link, published, updated, field) = (nil, nil, nil, nil)
    }

    func startField(_ name: String, _ attributes: XMLParser.Attributes, depth: Int) {
        if depth != 1 { return }
        value = []
        switch name.split(separator: " ").last {
        case "guid", "id": field = .id
        case "link":
            (field, base) = (.link, attributes.base)
            let relation = attributes["rel"] ?? "alternate"
            if let target = attributes["href"], relation == "alternate" { link = link ?? complete(target) }
        case "pubDate", "published", "issued": field = .published
        case "date", "updated", "modified": field = .updated
        default: field = nil
        }
    }

    func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if field != nil && value.count <= PostID.byteLimit { value += bytes }
    }

    func endField(depth: Int) {
        if depth == 1 { endField() }
    }

    func startOther(_ name: String, _ attributes: XMLParser.Attributes, depth: Int) {
        if links.read(name, attributes, origin: origin) { return (field, value) = (nil, []) }
        // Of RSS without a namespace, and of RSS 1.0, but not of Atom.
        let isSite = depth == 3 && isInChannel && ["link", "http://purl.org/rss/1.0/ link"].contains(name)
        if depth == 2 { isInChannel = name.split(separator: " ").last == "channel" }
        (field, value) = (isSite ? .site : nil, [])
    }

    func endOther(depth: Int) { endField() }

    /// Returns a link of the current item as a complete address, if it can be one.
    private func complete(_ link: String) -> String { resolved(link, against: base ?? site) }

    private func endField() {
        guard let field else { return }
        self.field = nil
        let spaces = { (byte: UInt8) in isJSONSpace(byte) }
        let text = value.drop(while: spaces).reversed().drop(while: spaces).reversed()
        if text.isEmpty { return }
        let string = String(decoding: Array(text), as: UTF8.self)
        switch field {
        case .site: site = resolved(string, against: site)
        case .id: id = id ?? string
        case .link: link = link ?? complete(string)
        case .published: published = published ?? string
        case .updated: updated = updated ?? string
        }
    }

    func endRecord(_ body: UnsafeBufferPointer<UInt8>) {
        count += 1
        guard let text = id ?? link else { return skip("neither an id nor a link") }
        guard let id = PostID(text) else {
            return skip("an id of more than \(PostID.byteLimit) bytes")
        }
        let date = (published ?? updated).flatMap { OrderKey.date($0.utf8) ?? OrderKey.mailDate($0) }
        posts.append(Item(id: id, date: date, body: Array(body)))
        bytes += body.count
        if posts.count >= options.pageItems || bytes >= options.pageBytes { endPage() }
    }

    /// Notes that an item is missing, so the following items are not contiguous with those before.
    private func skip(_ reason: String) {
        endPage()
        let message = "\(printable(place, limit: 400)): item \(count): \(reason)"
        pages.append(InputPage(.failure(DumpError(.data, message)), kind: kind, place: place))
        (above, hasBegun) = (nil, true)
    }

    private func endPage() {
        if posts.isEmpty { return }
        let all = [above].compactMap(\.self) + posts
        let haveDates = all.allSatisfy { $0.date != nil }
        var answer = Answer()
        answer.bytes.reserveCapacity(bytes + (above?.body.count ?? 0))
        for item in all {
            answer.append(id: item.id, key: haveDates ? item.date : nil, body: item.body)
        }
        var response = Response(answer)
        if !hasBegun {
            response.asked = links.isBelow ? .below : .head
            response.own = links.own.map(Link.token)
        }
        hasBegun = true
        var page = InputPage(.response(response), kind: kind, place: place)
        page.repeated = above == nil ? 0 : 1
        pages.append(page)
        above = posts.last
        (posts, bytes) = ([], 0)
    }

    func takePages() -> [InputPage] {
        defer { pages = [] }
        return pages
    }

    func finish(isWhole: Bool) -> [InputPage] {
        endPage()
        if case .response(var response)? = pages.last?.content, isWhole {
            response.answer.next = links.next
            pages[pages.count - 1].content = .response(response)
        }
        if count == 0 && isWhole {
            pages = [InputPage(.response(Response(Answer())), kind: kind, place: place)]
        }
        return takePages()
    }
}
