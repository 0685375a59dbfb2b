import Quire

/// What requests of an API are like, where its responses cannot tell.
struct KnownAPI {
    /// The parameter with the number of posts on a page.
    var size: String?
    var page = "page"
    var offset = "offset"
    /// The parameter with the token of the next page, where the profile does not say.
    var token: String?
    /// The parameter by which the list is sorted, and the field for each of its values.
    var sort: (parameter: String, fields: [String: String])?
    /// The value of that parameter in requests without it.
    var usualSort: String?
    /// The last part of the path, if only such a list is sorted as usual.
    var sortedList: String?

    /// Returns what is known about the API of a profile; of others, that pages are asked for by `page` and
    /// `offset`.
    static func named(_ profile: String) -> KnownAPI { all[profile] ?? KnownAPI() }

    private static let questions = (
        parameter: "sort", fields: ["activity": "last_activity_date", "creation": "creation_date"]
    )
    private static let dates = ["created": "created_at", "updated": "updated_at", "pushed": "pushed_at"]

    private static let all: [String: KnownAPI] = [
        "stackexchange": KnownAPI(
            size: "pagesize", sort: questions, usualSort: "activity", sortedList: "questions"),
        "stackexchange1": KnownAPI(
            size: "pagesize", sort: questions, usualSort: "activity", sortedList: "questions"),
        "github": KnownAPI(size: "per_page", sort: ("sort", dates)),
        "github-search": KnownAPI(size: "per_page"),
        "gitlab": KnownAPI(
            size: "per_page", token: "page",
            sort: ("order_by", ["created_at": "created_at", "updated_at": "updated_at"])),
        "wordpress": KnownAPI(
            size: "per_page", sort: ("orderby", ["date": "date_gmt", "modified": "modified_gmt", "id": "id"])),
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

    /// The parameters of requests for a list that is sorted in some way.
    static let sortings: Set = ["sort", "order", "order_by", "orderby", "sort_by", "sortBy", "t"]
    /// Their values for lists whose posts move up and down.
    static let rankings: Set = [
        "best", "comments", "controversial", "hot", "month", "popular", "popularity", "reactions",
        "relevance",
        "rising", "score", "stars", "top", "trending", "views", "votes", "week",
    ]
    /// Lists of Reddit that are ranked.
    static let rankedListings: Set = ["best", "controversial", "hot", "rising", "top"]
    /// The parameters that say in which direction, and their values for "the oldest first".
    static let directions: Set = ["order", "direction", "dir", "sort_order", "sortOrder", "sort_dir", "sort"]
    static let upwards: Set = ["asc", "ascending", "oldest"]
}
