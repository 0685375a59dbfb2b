extension OrderKey {
    /// Converts a date of RFC 822, as in RSS, to microseconds since 1970: `Tue, 10 Jun 2003 04:00:00 GMT`.
    /// The weekday and the seconds may be missing. Returns nil for anything else.
    static func mailDate(_ text: String) -> Int64? {
        var words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "\t" })[...]
        if let first = words.first, first.first?.isLetter == true { words.removeFirst() }
        guard words.count >= 4, words.count <= 5, let zone = offset(words.dropFirst(4).first),
            let month = months.firstIndex(of: words[words.startIndex + 1].prefix(3).lowercased())
        else { return nil }
        let time = words[words.startIndex + 3].split(separator: ":")
        let year = words[words.startIndex + 2]
        guard time.count == 2 || time.count == 3,
            let date = digits(year, upTo: 4), let day = digits(words[words.startIndex], upTo: 2),
            let hour = digits(time[0], upTo: 2), let minute = digits(time[1], upTo: 2),
            let second = time.count == 3 ? digits(time[2], upTo: 2) : 0
        else { return nil }
        let full = year.utf8.count > 2 ? date : date < 50 ? 2_000 + date : 1_900 + date
        func padded(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        let date822 = "\(padded(full, 4))-\(padded(month + 1, 2))-\(padded(day, 2))"
        let time822 = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
        return self.date("\(date822)T\(time822)\(zone)".utf8)
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// In hours west of Greenwich. Military letters were often used wrongly and count as UTC.
    private static let zones = [
        "EST": 5, "EDT": 4, "CST": 6, "CDT": 5, "MST": 7, "MDT": 6, "PST": 8, "PDT": 7,
    ]

    /// Returns the zone in the form of RFC 3339; nil if it is unknown.
    private static func offset(_ zone: Substring?) -> String? {
        guard let zone else { return "Z" }
        if ["GMT", "UT", "UTC", "Z"].contains(zone.uppercased()) { return "Z" }
        if let hours = zones[zone.uppercased()] { return "-0\(hours):00" }
        guard zone.first == "+" || zone.first == "-", zone.utf8.count == 5 else { return nil }
        return String(zone)
    }

    private static func digits(_ text: Substring, upTo count: Int) -> Int? {
        guard (1...count).contains(text.utf8.count), text.utf8.allSatisfy({ 48...57 ~= $0 }) else {
            return nil
        }
        return Int(text)
    }
}
