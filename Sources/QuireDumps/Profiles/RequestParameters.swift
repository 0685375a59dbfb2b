/// The parameters by which a request of an API names a page, as far as the profile says.
public struct RequestParameters: Sendable, Hashable {
    /// The parameter for the token of the next page.
    public let token: String?
    /// The parameter for the number of a page.
    public let page: String?
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
            token: token, page: page, below: isKeyset ? below.first : nil,
            above: isKeyset ? above.first : nil)
    }
}
