/// A set of recorded responses and how they are read: one row of the table that FixtureTableTests prints.
struct FixtureSet: Sendable {
    enum Arrangement: Sendable {
        /// The files are pages of one feed, one below the other.
        case chain
        /// Each file is a feed of its own.
        case apart
    }

    var name: String
    /// Files, or a folder, below `../shared/fixtures`. A file belongs to the first set that names it.
    var paths: [String]
    /// The name of a built-in profile, or the JSON of one.
    var profile: String
    var items: String?
    var id: String?
    var key: String?
    var order: String?
    var arrangement: Arrangement = .apart
}

extension FixtureSet {
    /// Every set of JSON responses in the fixtures. What an API's last row reads in vain is no page of it.
    static let all: [FixtureSet] =
        stackExchange + gitHosts + social + talk + [
            FixtureSet(
                name: "bandcamp discography", paths: ["bandcamp/pitch_black_discography.json"],
                profile: #"{"name":"bandcamp","items":"discography","id":{"path":"album_id"}}"#),
            FixtureSet(
                name: "bandcamp", paths: ["bandcamp"],
                profile: #"{"name":"bandcamp","items":"results","id":{"path":"band_id"}}"#),
            FixtureSet(
                name: "itunes songs", paths: ["itunes/rss-js-fixtures"], profile: "itunes",
                items: "feed.entry", id: "id.attributes.im:id"),
            FixtureSet(name: "itunes", paths: ["itunes"], profile: "itunes"),
            FixtureSet(
                name: "rss items", paths: ["rss/elk"],
                profile: #"{"name":"elk","id":{"path":"uuid"},"key":{"path":"updated_on","type":"number"}}"#),
            FixtureSet(name: "json feeds", paths: ["rss"], profile: "jsonfeed"),
        ]

    private static let stackExchange: [FixtureSet] = [
        FixtureSet(
            name: "so-activity 1-60",
            paths: (1...60).map { "stackexchange/so-activity-2018/pages/\($0).json" },
            profile: "stackexchange", key: "last_activity_date", order: "bump", arrangement: .chain),
        FixtureSet(
            name: "so-activity 900-929", paths: ["stackexchange/so-activity-2018/pages"],
            profile: "stackexchange", key: "last_activity_date", order: "bump", arrangement: .chain),
        FixtureSet(
            name: "so-python-tags", paths: ["stackexchange/so-python-tags-2022"], profile: "stackexchange"),
        FixtureSet(name: "so-tags", paths: ["stackexchange/so-tags"], profile: "stackexchange", id: "name"),
        FixtureSet(
            name: "so perceval",
            paths: ["", "_2"].map { "stackexchange/perceval/stackexchange_question_page\($0)" },
            profile: "stackexchange", arrangement: .chain),
        FixtureSet(
            name: "so sites", paths: ["stackexchange/stackapi/test_stackoverflow_exists"],
            profile: "stackexchange", id: "api_site_parameter"),
        FixtureSet(
            name: "so associated", paths: ["stackexchange/stackapi"], profile: "stackexchange",
            id: "site_url"),
        FixtureSet(
            name: "so users", paths: ["stackexchange/ruby-stackoverflow/users.json"],
            profile: "stackexchange", id: "user_id"),
        FixtureSet(
            name: "so comments", paths: ["stackexchange/ruby-stackoverflow/questions_comments.json"],
            profile: "stackexchange", id: "comment_id"),
        collection("answers", "answer_id"), collection("badges", "badge_id"),
        collection("comments", "comment_id"), collection("questions", "question_id"),
        collection("tags", "name"), collection("users", "user_id"),
        FixtureSet(name: "so 1.x, other", paths: ["stackexchange/pilha-api1"], profile: "stackexchange1"),
        FixtureSet(name: "so, other", paths: ["stackexchange"], profile: "stackexchange"),
    ]

    /// API 1.x: the array is named by what is in it; the manifest counts that.
    private static func collection(_ name: String, _ id: String) -> FixtureSet {
        FixtureSet(
            name: "so 1.x \(name)", paths: ["stackexchange/pilha-api1?\(name)"], profile: "stackexchange1",
            items: name, id: id)
    }

    private static let gitHosts: [FixtureSet] = [
        FixtureSet(
            name: "github issues", paths: ["github/octokit/paginate-issues/pages"], profile: "github",
            arrangement: .chain),
        FixtureSet(
            name: "github repos", paths: ["github/pygithub/pages/Search.testSearchRepos"],
            profile: "github-search", arrangement: .chain),
        FixtureSet(
            name: "github users", paths: ["github/pygithub/pages/Search.testPaginateSearchUsers"],
            profile: "github-search", arrangement: .chain),
        FixtureSet(
            name: "github commits", paths: ["github/pygithub/pages/Search.testSearchCommits"],
            profile: "github-search", id: "sha"),
        FixtureSet(
            name: "github events", paths: (1...2).map { "github/perceval/github_events_page_\($0)" },
            profile: "graphql", items: "data.repository.issue.timelineItems.nodes", arrangement: .chain),
        FixtureSet(name: "github, other", paths: ["github"], profile: "github"),
        FixtureSet(
            name: "gitlab issues", paths: (1...2).map { "gitlab/perceval/issue_page_\($0)" },
            profile: "gitlab", arrangement: .chain),
        FixtureSet(
            name: "gitlab merges", paths: (1...2).map { "gitlab/perceval/merge_page_\($0)" },
            profile: "gitlab", arrangement: .chain),
        FixtureSet(name: "gitlab, other", paths: ["gitlab"], profile: "gitlab"),
        connection("issue/list/fixtures/issueList.json", "data.repository.issues.nodes"),
        connection("issue/list/fixtures/issueSearch.json", "data.search.nodes"),
        connection("pr/list/fixtures", "data.repository.pullRequests.nodes"),
        connection(
            "repo/list/fixtures/repoList.json", "data.repositoryOwner.repositories.nodes",
            "nameWithOwner"),
        connection("repo/list/fixtures/repoSearch.json", "data.search.nodes", "nameWithOwner"),
        connection("ruleset/list/fixtures", "data.level.rulesets.nodes", "databaseId"),
        FixtureSet(name: "graphql, other", paths: ["graphql"], profile: "graphql"),
    ]

    private static func connection(_ path: String, _ items: String, _ id: String = "number") -> FixtureSet {
        FixtureSet(
            name: "gh " + path.split(separator: "/").prefix(2).joined(separator: " "),
            paths: ["graphql/cli/\(path)"], profile: "graphql", items: items, id: id)
    }

    private static let social: [FixtureSet] = [
        mastodon("fetch_next_previous"), mastodon("fetch_remaining"), mastodon("get_pagination_info"),
        mastodon("pagination_iterator"),
        mastodon("grouped_notification_pagination", "mastodon-notifications"),
        FixtureSet(
            name: "reddit spez", paths: ["reddit/praw/pages/TestListingGenerator.test_exhaust_items"],
            profile: "reddit", arrangement: .chain),
        FixtureSet(
            name: "reddit comments", paths: ["reddit/praw/pages/TestCommentForest.test_replace__all_large"],
            profile: #"{"name":"more","items":"json.data.things","post":"data","id":{"path":"data.name"}}"#),
        FixtureSet(name: "reddit, other", paths: ["reddit"], profile: "reddit"),
        bluesky("dart/getFollowers", "followers", "did"), bluesky("dart/getFollows", "follows", "did"),
        bluesky("dart/getActorFeeds", "feeds", "uri"), bluesky("dart/getSuggestedFeeds", "feeds", "uri"),
        bluesky("dart/getFeedGenerators", "feeds", "uri"), bluesky("dart/listRecords", "records", "uri"),
        bluesky("dart/getPosts", "posts", "uri"), bluesky("dart/getFeedSkeleton", "feed", "post"),
        bluesky("dart/getLikes", "likes", "actor.did"), bluesky("dart/getRepostedBy", "repostedBy", "did"),
        bluesky("py/get_follows", "follows", "did"),
        FixtureSet(name: "bluesky feeds", paths: ["bluesky"], profile: "bluesky"),
        FixtureSet(
            name: "hn clojure", paths: ["hn/todayinclojure"],
            profile: #"{"name":"hn","id":{"path":"objectID"},"key":{"path":"created_at_i"}}"#),
        FixtureSet(
            name: "hn rows", paths: ["hn/ashwin"],
            profile: #"{"name":"hn","opaque_rows":true,"id":{"path":"id"}}"#),
        FixtureSet(name: "hn stories", paths: ["hn/elarasu"], profile: #"{"name":"hn","id":{"path":"id"}}"#),
        FixtureSet(name: "hn ids", paths: ["hn"], profile: "hackernews"),
        twitter("tweets/dataset"), twitter("users/dataset"), twitter("lists/dataset"), twitter("dms/dataset"),
        FixtureSet(name: "twitter searches", paths: ["twitter/simdjson"], profile: "twitter1"),
        FixtureSet(name: "twitter, other", paths: ["twitter"], profile: "twitter2"),
    ]

    private static func mastodon(_ name: String, _ profile: String = "mastodon") -> FixtureSet {
        FixtureSet(
            name: "mastodon \(name.split(separator: "_").prefix(2).joined(separator: " "))",
            paths: ["mastodon/mastodon.py/pages/test_\(name)"], profile: profile, arrangement: .chain)
    }

    private static func bluesky(_ file: String, _ items: String, _ id: String) -> FixtureSet {
        FixtureSet(
            name: "bluesky \(items)", paths: ["bluesky/atproto.\(file).json"], profile: "bluesky",
            items: items, id: id)
    }

    private static func twitter(_ files: String) -> FixtureSet {
        FixtureSet(
            name: "twitter \(files.prefix { $0 != "/" })",
            paths: (1...4).map { "twitter/dart-pagination/data/\(files)_\($0).json" }, profile: "twitter2",
            arrangement: .chain)
    }

    private static let talk: [FixtureSet] = [
        FixtureSet(
            name: "discourse latest posts",
            paths: ["latest", "before"].map { "discourse/discourse_api/posts_\($0).json" },
            profile: "discourse-posts", arrangement: .chain),
        FixtureSet(
            name: "discourse members",
            paths: (0...2).map { "discourse/discourse_api/members_\($0).json" },
            profile: "discourse", items: "members", id: "id", key: "id",
            arrangement: .chain),
        FixtureSet(name: "discourse topics", paths: ["discourse"], profile: "discourse"),
        FixtureSet(
            name: "wordpress activity",
            paths: (1...3).map { "wordpress/activity-log-success-\($0).json" },
            profile: #"""
                {"name":"activity","items":"current.orderedItems","id":{"path":"activity_id"},
                "next":{"path":"current.next"},"page":{"path":"page"},"pages":{"path":"totalPages"}}
                """#),
        FixtureSet(
            name: "wordpress.com comments", paths: ["wordpress/site-comments-success.json"],
            profile: #"{"name":"site","items":"comments","id":{"path":"ID"},"total":{"path":"found"}}"#),
        FixtureSet(
            name: "wordpress comments",
            paths: ["edit", "view"].map { "wordpress/comments-v2-\($0)-context-success.json" },
            profile: "wordpress"),
        FixtureSet(name: "wordpress", paths: ["wordpress"], profile: "wordpress"),
        FixtureSet(
            name: "askbot", paths: ["", "_2"].map { "askbot/perceval/askbot_api_questions\($0).json" },
            profile: "askbot", arrangement: .chain),
        FixtureSet(name: "askbot, other", paths: ["askbot"], profile: "askbot"),
        FixtureSet(
            name: "mattermost",
            paths: ["", "_next"].map { "mattermost/perceval/mattermost_posts\($0).json" },
            profile: "mattermost", arrangement: .chain),
        FixtureSet(name: "mattermost, other", paths: ["mattermost"], profile: "mattermost"),
        FixtureSet(
            name: "mediawiki pages",
            paths: ["", "_empty"].map { "mediawiki/perceval/mediawiki_pages_all\($0).json" },
            profile: "mediawiki", items: "query.allpages", id: "pageid", key: "pageid"),
        FixtureSet(
            name: "mediawiki revisions",
            paths: ["", "_empty"].map { "mediawiki/perceval/mediawiki_pages_allrevisions\($0).json" },
            profile: "mediawiki", items: "query.allrevisions", id: "pageid", key: "pageid"),
        FixtureSet(name: "mediawiki changes", paths: ["mediawiki"], profile: "mediawiki", id: "revid"),
        FixtureSet(
            name: "meetup", paths: ["", "_next"].map { "meetup/perceval/meetup_events\($0).json" },
            profile: "meetup", arrangement: .chain),
        FixtureSet(
            name: "meetup rsvps", paths: ["meetup/perceval/meetup_rsvps.json"], profile: "meetup",
            id: "member.id"),
        FixtureSet(name: "meetup, other", paths: ["meetup"], profile: "meetup"),
        FixtureSet(name: "matrix", paths: ["matrix"], profile: "matrix"),
        FixtureSet(
            name: "nostr, to relays",
            paths: ["profile-updates", "reactions", "search"].map { "nostr/\($0).json" },
            profile: #"{"name":"nostr1","lines":true,"post":"1","id":{"path":"1.id"}}"#),
        FixtureSet(name: "nostr", paths: ["nostr"], profile: "nostr"),
    ]
}
