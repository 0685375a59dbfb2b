/// A table with aligned columns, for people.
struct Table {
    enum Alignment { case left, right }

    private let columns: [(title: String, alignment: Alignment)]
    /// The rows that are not printed yet.
    private var rows: [Row] = []
    private var widths: [Int] = []
    private static let block = 1_000

    private enum Row {
        case cells([String])
        /// A line across all columns.
        case line(String)
    }

    /// Creates a table. Columns whose titles start with a space are aligned to the right.
    init(_ titles: String...) {
        columns = titles.map {
            $0.hasPrefix(" ") ? (String($0.dropFirst()), .right) : ($0, .left)
        }
    }

    mutating func add(_ cells: String...) { add(cells) }

    mutating func add(_ cells: [String]) { rows.append(.cells(cells)) }

    mutating func addLine(_ text: String) { rows.append(.line(text)) }

    /// Prints the rows that were added since the last call. The first call says how wide the columns are, so
    /// a long table can be printed in blocks; a wider cell of a later block pushes its line to the right.
    mutating func print(to output: Output) throws {
        if widths.isEmpty {
            widths = columns.map(\.title.count)
            for case .cells(let cells) in rows {
                for (column, cell) in cells.enumerated() { widths[column] = max(widths[column], width(cell)) }
            }
            try output.line(aligned(columns.map(\.title)))
        }
        for row in rows {
            switch row {
            case .cells(let cells): try output.line(aligned(cells))
            case .line(let text): try output.line(text)
            }
        }
        rows = []
    }

    /// Prints the rows of a long table if there are enough for a block.
    mutating func printBlock(to output: Output) throws {
        if rows.count >= Self.block { try print(to: output) }
    }

    private func aligned(_ cells: [String]) -> String {
        var line: [UInt8] = []
        for (column, cell) in cells.enumerated() {
            if column > 0 { line += [0x20, 0x20] }
            let space = repeatElement(UInt8(ascii: " "), count: max(0, widths[column] - width(cell)))
            if columns[column].alignment == .right { line += space }
            line += cell.utf8
            if columns[column].alignment == .left { line += space }
        }
        while line.last == 0x20 { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }

    private func width(_ cell: String) -> Int {
        cell.utf8.allSatisfy { $0 < 0x80 } ? cell.utf8.count : cell.count
    }
}
