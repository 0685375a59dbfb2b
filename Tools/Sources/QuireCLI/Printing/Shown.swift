import Foundation
import Quire

/// Returns foreign text for a terminal, cut after `limit` characters. It cannot move the cursor, end the line
/// or change the direction of writing, except by the characters to keep.
func shown(_ text: some StringProtocol, limit: Int = .max, keeping kept: Set<Unicode.Scalar> = []) -> String {
    if text.utf8.count <= limit, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return String(text) }
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
        if count == limit { return result + "…" }
        count += 1
        if scalar.isHarmless || kept.contains(scalar) {
            result.unicodeScalars.append(scalar)
        } else {
            result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }
    return result
}

extension Unicode.Scalar {
    /// True if a terminal only draws it.
    var isHarmless: Bool {
        if isASCII { return value >= 0x20 && value < 0x7F }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
            .unassigned:
            return false
        default: return true
        }
    }
}

func shown(_ id: PostID) -> String { shown(id.description, limit: 40) }

func shown(_ link: Link) -> String { shown(link.description, limit: 40) }

extension PostRow {
    /// What `quire show` says of a post in the columns before its text: id with its marks, key, page, bytes.
    var cells: [String] {
        let marks = "\(isDetached ? "+" : "")\(isPinned ? "*" : "")\(isPlaceholder ? "?" : "")"
        return [
            marks + shown(id), key.map(String.init) ?? "", page.map { String($0) } ?? "", grouped(bodySize),
        ]
    }
}

/// Formats a number with separators: 1,727.
func grouped(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var groups = ""
    for (place, digit) in digits.enumerated() {
        if place > 0 && (digits.count - place) % 3 == 0 { groups += "," }
        groups.append(digit)
    }
    return number < 0 ? "-" + groups : groups
}

/// Formats a number and what it counts: `1 gap`, `2 gaps`.
func counted(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
}

/// Formats a size: 812 bytes, 3.4 MB.
func sized(_ bytes: some BinaryInteger) -> String {
    if bytes < 1_000 { return "\(bytes) bytes" }
    var size = Double(bytes) / 1_000
    for unit in ["kB", "MB", "GB"] {
        if size < 999.95 { return String(format: "%.1f \(unit)", size) }
        size /= 1_000
    }
    return String(format: "%.1f TB", size)
}

/// Formats a time given in milliseconds since 1970.
func dated(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
}

/// Returns the current time in milliseconds since 1970.
func millisecondsNow() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
