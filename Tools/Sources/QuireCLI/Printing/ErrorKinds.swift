/// Errors counted by kind: those whose messages differ only in numbers and in the place.
struct ErrorKinds {
    private struct Kind {
        let message: String
        let place: String
        var count = 1
    }

    /// Kinds beyond these are counted together.
    private static let limit = 20

    private var kinds: [Kind] = []
    private var indices: [String: Int] = [:]
    private var others = 0
    private(set) var count = 0

    mutating func add(_ message: String, at place: String) {
        count += 1
        let text = Self.kind(of: message, at: place)
        if let index = indices[text] {
            kinds[index].count += 1
        } else if kinds.count < Self.limit {
            indices[text] = kinds.count
            kinds.append(Kind(message: text, place: place))
        } else {
            others += 1
        }
    }

    /// The message without the place that it begins with, and with N in the place of numbers.
    private static func kind(of message: String, at place: String) -> String {
        var text = Substring(message)
        if text.hasPrefix(place) { text = text.dropFirst(place.count) }
        while let first = text.first, first == ":" || first == " " { text = text.dropFirst() }
        return String(text).replacing(#/[0-9]+/#, with: "N")
    }

    /// How many errors there are of each kind, the most frequent first, with the place of its first.
    var summary: [(count: Int, message: String, place: String)] {
        let sorted = kinds.sorted { $0.count > $1.count }
        let lines = sorted.map { (count: $0.count, message: $0.message, place: $0.place) }
        return others == 0 ? lines : lines + [(count: others, message: "of other kinds", place: "")]
    }
}
