extension Profile {
    /// The profiles that come with Quire.
    ///
    /// The tests read every one of them, so none is broken.
    public static let builtIn: [Profile] = texts.map { text in
        // The text contains its name.
        try! Profile(json: text, name: "built-in profile")
    }.sorted { $0.name < $1.name }

    /// Returns the built-in profile with this name, or nil.
    public static func named(_ name: String) -> Profile? { builtIn.first { $0.name == name } }

    private typealias Files = PackageResources

    private static let texts: [[UInt8]] = [
        Files.askbot_json, Files.bluesky_json, Files.discord_json, Files.discourse_json,
        Files.discourse_posts_json, Files.github_json, Files.github_search_json, Files.gitlab_json,
        Files.graphql_json, Files.graphql_edges_json, Files.hackernews_json, Files.hn_algolia_json,
        Files.itunes_json, Files.jsonfeed_json, Files.mastodon_json, Files.mastodon_notifications_json,
        Files.matrix_json, Files.mattermost_json, Files.mediawiki_json, Files.meetup_json,
        Files.nostr_json, Files.reddit_json, Files.slack_json, Files.stackexchange_json,
        Files.stackexchange1_json, Files.stripe_json, Files.twitter1_json, Files.twitter1_timeline_json,
        Files.twitter2_json, Files.wordpress_json, Files.youtube_json, Files.zendesk_json,
    ]
}
