/// What the requests of an API are like, as far as the profile says.
public struct RequestParameters: Sendable, Hashable {
    /// The parameter for the token of the next page.
    public let token: String?
    /// The parameter for the number of a page; `page` if the profile does not say.
    public let page: String
    /// The parameter for the position at which a page begins; `offset` if the profile does not say.
    public let offset: String
    /// The parameter for the number of posts on a page.
    public let size: String?
    /// The parameter for the post below which the page begins.
    public let below: String?
    /// The parameter for the post above which the page ends.
    public let above: String?
}

extension Profile {
    /// The parameters by which a request names a page.
    public var requestParameters: RequestParameters {
        var (token, page): (String?, String?)
        let (below, above, _, _) = places
        if case .query(let name) = own {
            token = name
        } else if case .token = next?.way, own != .request {
            token = below.first
        }
        for case .query(let name) in self.page { page = name }
        let isKeyset = paging == .keyset
        return RequestParameters(
            token: request?.token ?? token, page: request?.page ?? page ?? "page",
            offset: request?.offset ?? "offset", size: request?.size,
            below: isKeyset ? below.first : nil, above: isKeyset ? above.first : nil)
    }

    /// True if the responses say how the list goes on, or the profile searches them for that.
    public var saysNext: Bool { next != nil }

    /// True if each response is searched for what looks like a link to the next page.
    public var searchesNext: Bool { next?.way == .found }

    /// True if the document is the array of items, and nothing is read around it.
    public var readsItemsAlone: Bool { items.keys.isEmpty && sequence == nil && !isLines }

    /// The body of each request for a page, which is then a POST; nil: requests are GET.
    public var requestBody: RequestBody? { request?.body }

    /// The address at which bodies are asked for, with a place `{ids}`, and how the answers are read; nil if
    /// the responses bring the bodies. It is relative to the address of the list, unless it begins with
    /// `https://` or `http://`.
    public var bodiesRequest: (address: String, profile: Profile)? {
        guard let bodies else { return nil }
        var profile = forItems(areLines: false)
        (profile.items, profile.post) = (bodies.items, .here)
        profile.id = IDField(path: bodies.id, type: id.type)
        return (bodies.address, profile)
    }
}
