/// A table with aligned columns, for people.
struct Table {
    enum Alignment { case left, right }

    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [Row] = []

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

    func print(to output: Output) throws {
        var widths = columns.map(\.title.count)
        for case .cells(let cells) in rows {
            for (column, cell) in cells.enumerated() { widths[column] = max(widths[column], cell.count) }
        }
        try output.line(aligned(columns.map(\.title), widths))
        for row in rows {
            switch row {
            case .cells(let cells): try output.line(aligned(cells, widths))
            case .line(let text): try output.line(text)
            }
        }
    }

    private func aligned(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            if column > 0 { line += "  " }
            let space = String(repeating: " ", count: widths[column] - cell.count)
            line += columns[column].alignment == .right ? space + cell : cell + space
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
