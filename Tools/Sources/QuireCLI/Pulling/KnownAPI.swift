import Quire

/// What requests of an API are like, where its responses cannot tell.
struct KnownAPI {
    /// The parameter with the number of posts on a page.
    var size: String?
    var page = "page"
    var offset = "offset"
    /// The parameter with the token of the next page, where the profile does not say.
    var token: String?

    /// Returns what is known about the API of a profile; of others, that pages are asked for by `page` and
    /// `offset`.
    static func named(_ profile: String) -> KnownAPI { all[profile] ?? KnownAPI() }

    private static let all: [String: KnownAPI] = [
        "stackexchange": KnownAPI(size: "pagesize"),
        "stackexchange1": KnownAPI(size: "pagesize"),
        "github": KnownAPI(size: "per_page"),
        "github-search": KnownAPI(size: "per_page"),
        "gitlab": KnownAPI(size: "per_page", token: "page"),
        "wordpress": KnownAPI(size: "per_page"),
        "hn-algolia": KnownAPI(size: "hitsPerPage"),
        "mattermost": KnownAPI(size: "per_page"),
        "mastodon": KnownAPI(size: "limit"),
        "mastodon-notifications": KnownAPI(size: "limit"),
        "reddit": KnownAPI(size: "limit"),
        "bluesky": KnownAPI(size: "limit"),
        "matrix": KnownAPI(size: "limit", token: "from"),
        "mediawiki": KnownAPI(size: "rclimit"),
        "twitter2": KnownAPI(size: "max_results"),
        "twitter1": KnownAPI(size: "count"),
        "twitter1-timeline": KnownAPI(size: "count"),
        "itunes": KnownAPI(size: "limit"),
    ]

    /// The parameters that say in which direction, and their values for "the oldest first".
    static let directions: Set = ["order", "direction", "dir", "sort_order", "sortOrder", "sort_dir", "sort"]
    static let upwards: Set = ["asc", "ascending", "oldest"]
}
