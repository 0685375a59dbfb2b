import Quire
import QuireDumps

enum PageFuzzing {
    private static let response = Array(
        #"""
        {"items": [{"id": 7, "key": "2024-01-02T03:04:05Z", "a": {"b": [1, {"c": null}]}}, {"id": "x", "key": 1.5e300},
        {"key": -1}], "next": "https://a.example/?page=2", "has_more": true, "page": 1, "total": 99, "since": "s2", "deleted": [8, "y"], "é": "\ud83d\ude00"}
        """#.utf8)

    static func page(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let profiles = Profile.builtIn
        let parser = PageParser(profile: profiles[Int(first) % profiles.count])
        guard let answer = try? parser.parse(Array(input.dropFirst()), name: "page") else { return }
        for post in answer.posts { precondition(post.body.count <= input.count, "a body from nowhere") }
    }

    static func profile(_ input: [UInt8]) {
        guard let profile = try? Profile(json: input, name: "profile") else { return }
        let parser = PageParser(profile: profile)
        let once = try? parser.parse(response, name: "page")
        let again = try? parser.parse(response, name: "page")
        precondition(once?.posts.map(\.id) == again?.posts.map(\.id), "a profile that changes its mind")
        _ = (profile.options, profile.requestParameters, profile.bodiesRequest)
        if let body = profile.requestBody {
            let values = Dictionary(uniqueKeysWithValues: body.places.map { ($0, "\u{0}\"7") })
            precondition(body.filled(values).first == UInt8(ascii: "{"), "a body that is no object")
            _ = body.filled([:])
        }
    }
}
