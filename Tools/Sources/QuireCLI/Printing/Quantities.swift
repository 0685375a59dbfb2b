import ArgumentParser

/// A number of bytes on the command line: `1500`, `64KiB`, `1.5MB`.
struct ByteSize: ExpressibleByArgument, CustomStringConvertible {
    let bytes: Int

    init(bytes: Int) { self.bytes = bytes }

    /// Accepts a whole number of bytes, or a number and a unit: kB, MB, GB, TB of 1,000, and KiB, MiB, GiB,
    /// TiB of 1,024, for which K, M, G and T are short. Upper and lower case are the same.
    init?(argument: String) {
        let number = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let factor = Self.factors[argument.dropFirst(number.count).lowercased()],
            number.last != ".", number.first != "."
        else { return nil }
        if let whole = Int(number) {
            let (bytes, overflow) = whole.multipliedReportingOverflow(by: factor)
            if overflow { return nil }
            self.bytes = bytes
        } else {
            guard factor > 1, let part = Double(number), part * Double(factor) < Double(Int.max)
            else { return nil }
            bytes = Int(part * Double(factor))
        }
    }

    private static let factors: [String: Int] = {
        var factors = ["": 1, "b": 1]
        for (power, letter) in ["k", "m", "g", "t"].enumerated() {
            factors[letter + "b"] = (0...power).reduce(1) { product, _ in product * 1_000 }
            factors[letter + "ib"] = 1 << (10 * (power + 1))
            factors[letter] = factors[letter + "ib"]
        }
        return factors
    }()

    /// What the help of an option says about its value.
    static let help = "A size is a number of bytes, or a number and a unit: 1MB, 64KiB, 1.5GB."

    /// For messages.
    var words: String { bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : counted(bytes, "byte") }

    /// In MiB, if it is a whole number of them.
    var description: String { bytes % (1 << 20) == 0 ? "\(bytes >> 20)MiB" : "\(bytes)" }

    /// Accepts a number without a unit as one of MiB.
    static func mebibytes(_ argument: String) throws -> ByteSize {
        if let size = ByteSize(argument: Int(argument) == nil ? argument : argument + "MiB") { return size }
        throw ValidationError("\"\(argument)\" is no size. " + help)
    }
}

/// A duration on the command line: a whole number and a unit, `500ms`, `90s`, `15m`, `12h`, `30d`, `2w`;
/// or 0.
struct Age: ExpressibleByArgument {
    let milliseconds: Int64

    init?(argument: String) {
        let units: [Substring: Int64] = [
            "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
        ]
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits),
            let unit = argument == "0" ? 1 : units[argument.dropFirst(digits.count)]
        else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        self.milliseconds = milliseconds
    }
}
