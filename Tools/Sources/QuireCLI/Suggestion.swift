import ArgumentParser

/// Finds what somebody meant who mistyped a name.
enum Suggestion {
    /// `; did you mean X?` for the nearest of these names, empty if none is near.
    static func words(for typed: String, in names: [String]) -> String {
        let reach = max(1, typed.count / 3)
        let nearest = names.map { (name: $0, distance: distance(typed.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= reach else { return "" }
        return "; did you mean \(nearest.name)?"
    }

    /// The number of letters to add, remove, replace or swap with their neighbour.
    private static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a.prefix(64)), Array(b.prefix(64)))
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}

/// The names of the commands.
enum CommandNames {
    private static var all: [String] {
        // no key path: the compiler (6.3.1) crashes on one of a metatype
        QuireTool.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0.name }
    }

    /// Throws if the arguments name a command that does not exist, also after `help`. The parser would take
    /// it for an argument that is too many, or print the help of the whole tool.
    static func require(_ arguments: [String]) throws {
        guard var name = arguments.first, !name.hasPrefix("-") else { return }
        if name == "help" {
            guard let topic = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }) else { return }
            name = topic
        }
        if name == "help" || QuireTool.configuration.subcommands.contains(where: { $0.name == name }) {
            return
        }
        let hint = Suggestion.words(for: name, in: all)
        throw Failure(
            .usage, "there is no command \(name)\(hint.isEmpty ? "; quire help lists all" : hint)")
    }
}

/// Letters after one hyphen, which the parser takes for options of a letter each.
enum OptionLetters {
    /// Throws if a name that begins with a hyphen would be taken for a request for help, because of an `h` in
    /// it. The parser itself refuses the other ones.
    static func require(_ arguments: [String]) throws {
        let taken = arguments.prefix { $0 != "--" }.first {
            $0.wholeMatch(of: /-[A-Za-z]\w*/) != nil && $0.count > 2 && $0.contains("h")
        }
        guard let taken else { return }
        throw Failure(
            .usage, "there is no option \(shown(taken, limit: 60)); a name that begins with - goes after --")
    }
}

extension ParsableCommand {
    /// The word for it on the command line.
    fileprivate static var name: String { configuration.commandName ?? "\(Self.self)".lowercased() }
}
