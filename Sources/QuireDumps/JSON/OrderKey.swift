/// Converts values that servers sort by to integers of the same order.
enum OrderKey {
    /// Returns the bits of a double as an integer that compares like the double. Both zeros are 0.
    static func number(_ value: Double) -> Int64 {
        let bits = Int64(bitPattern: value.bitPattern)
        // A negative double has its sign bit set and grows downwards.
        return bits >= 0 ? bits : Int64.min &- bits
    }

    /// Returns the number that a string consists of; nil for hexadecimal numbers and words.
    static func written(_ text: String) -> Double? {
        guard text.utf8.allSatisfy("+-.0123456789eE".utf8.contains), let number = Double(text),
            number.isFinite
        else { return nil }
        return number
    }

    /// Converts a date and time of RFC 3339 to microseconds since 1970. Returns nil for anything else.
    ///
    /// Beyond the standard it accepts a space for the T, no seconds, an offset without a colon or minutes,
    /// and no offset, which means UTC. Digits beyond microseconds are cut off.
    static func date(_ text: some Collection<UInt8>) -> Int64? {
        guard let first = text.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= first else { return nil }
        return text.withContiguousStorageIfAvailable(parsed) ?? Array(text).withUnsafeBufferPointer(parsed)
    }

    private static func parsed(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var reader = DateReader(text: text)
        guard let year = reader.digits(4), reader.skip("-"),
            let month = reader.digits(2), reader.skip("-"),
            let day = reader.digits(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.digits(2), reader.skip(":"),
            let minute = reader.digits(2), let second = reader.seconds(),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd,
            1...12 ~= month, 1...days(inMonth: month, of: year) ~= day,
            // 60 is a leap second; it counts as the first second of the next minute.
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let minutes = (daysSince1970(year, month, day) * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1_000_000 + fraction
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts in the Gregorian calendar with years from March, so that a leap day is the last day of a year.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year + 399 : year + 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear
        // There are 719,468 days between March of the year 0 and 1970, and 146,097 in 400 years.
        return days - 719_468 - 146_097
    }
}

private struct DateReader {
    let text: UnsafeBufferPointer<UInt8>
    var at = 0

    var isAtEnd: Bool { at == text.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard at < text.count, text[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    mutating func digit() -> Int64? {
        guard at < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[at] else { return nil }
        at += 1
        return Int64(text[at - 1] - UInt8(ascii: "0"))
    }

    mutating func digits(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Reads seconds; 0 if there are none.
    mutating func seconds() -> Int64? { skip(":") ? digits(2) : 0 }

    /// Reads a fraction in microseconds; 0 without a point, nil if no digit follows it.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        guard var value = digit() else { return nil }
        var places = 1
        while let digit = digit() {
            if places < 6 { value = value * 10 + digit }
            places += 1
        }
        for _ in min(places, 6)..<6 { value *= 10 }
        return value
    }

    /// Reads an offset in minutes east of Greenwich.
    mutating func offset() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let isEast = skip("+")
        guard isEast || skip("-"), let hours = digits(2) else { return nil }
        var minutes: Int64 = 0
        if skip(":") || !isAtEnd {
            guard let digits = digits(2) else { return nil }
            minutes = digits
        }
        guard hours < 24, minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (isEast ? 1 : -1)
    }
}
