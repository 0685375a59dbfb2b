// Reads a feed from the top, 64 rows at a time, as often as told, and adds up the sizes and first bytes of
// the bodies: the same work as read.c. With "fill" it makes the cache first.
import Quire

let arguments = CommandLine.arguments
let cache = try Cache(at: arguments[1])
let feed = try cache.feed(named: "feed")

if arguments[2] == "fill" {
    for page in 0..<100 as Range<UInt64> {
        var answer = Answer(next: .token("p\(page)"))
        for post in 0..<30 as Range<UInt64> {
            answer.append(id: PostID(page * 30 + post), body: [UInt8](repeating: 65, count: 700))
        }
        let request = try feed.plan(page == 0 ? .head : .tail).request!
        _ = try feed.ingest(answer, for: request.ticket)
    }
} else {
    var sum = 0
    for _ in 0..<Int(arguments[2])! {
        try cache.withSnapshot { snapshot in
            var rows = try snapshot.rows(of: feed, limit: 64)
            while let last = rows.last {
                for case .post(let post) in rows {
                    let body = try snapshot.body(of: post)
                    sum += body.byteCount + Int(body.unsafeLoad(fromByteOffset: 0, as: UInt8.self))
                }
                guard case .post(let row) = last else { break }
                rows = try snapshot.rows(of: feed, after: row.position, limit: 64)
            }
        }
    }
    print(sum)
}
