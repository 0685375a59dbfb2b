import Foundation

/// A number with three significant digits, grouped by thousands: `0.0123`, `4.57`, `12.3`, `1,234,567`.
func number(_ value: Double) -> String {
    if value == 0 { return "0" }
    guard value.isFinite else { return "-" }
    let size = abs(value)
    let decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
    if size < 0.001 { return String(format: "%.1e", value) }
    return grouped(String(format: "%.\(decimals)f", value))
}

/// A whole number, grouped by thousands.
func number(_ value: Int) -> String { grouped(String(value)) }

private func grouped(_ text: String) -> String {
    let parts = text.split(separator: ".", maxSplits: 1)
    var digits = Array(parts[0])
    let start = digits.first == "-" ? 1 : 0
    for at in stride(from: digits.count - 3, to: start, by: -3) { digits.insert(",", at: at) }
    return String(digits) + (parts.count > 1 ? "." + parts[1] : "")
}

func pad(_ text: String, _ width: Int, left: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return left ? space + text : text + space
}

/// Rows of cells, as aligned text or as Markdown. The first column is aligned to the left.
struct Table {
    var header: [String]
    var rows: [[String]] = []

    var text: String {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            row.indices.map { pad(row[$0], widths[$0], left: $0 > 0) }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    var markdown: String {
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
        let rule = header.indices.map { $0 == 0 ? "---" : "---:" }
        return ([line(header), line(rule)] + rows.map(line)).joined(separator: "\n")
    }
}
