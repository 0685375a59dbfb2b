/// What stands at one position of a feed, by its name.
public enum RowID: Hashable, Sendable {
    case post(PostID)
    case gap(GapID)
}

/// One difference between two states of a feed. Applied in order to the rows before a commit, the
/// changes of that commit give the rows after it.
public enum Change: Hashable, Sendable {
    /// The row is now directly below another one, at the top if that is nil.
    case inserted(RowID, below: RowID?)
    case removed(RowID)
    /// The post's body changed; its place did not.
    case updated(PostID)
    /// The feed was reset, or changed too much to list: read it anew.
    case reset
}

/// Finds the changes between two states.
enum RowChanges {
    /// More than this is not listed.
    static let limit = 10_000

    static func between(_ old: FeedState, _ new: FeedState) -> [Change] {
        if old.generation != new.generation { return [.reset] }
        let before = old.rows.map { name($0, old) }
        let after = new.rows.map { name($0, new) }
        var places: [Name: Int] = [:]
        for (i, name) in before.enumerated() { places[name] = i }
        let common = after.indices.filter { places[after[$0]] != nil }
        let stayed = Set(
            longestIncreasing(common.map { places[after[$0]]! }).map { after[common[$0]] })
        var changes: [Change] = []
        for name in before where !stayed.contains(name) {
            if case .row(let id) = name { changes.append(.removed(id)) }
        }
        for (i, name) in after.enumerated() where !stayed.contains(name) {
            guard case .row(let id) = name else { continue }
            if i == 0 {
                changes.append(.inserted(id, below: nil))
            } else if case .row(let upper) = after[i - 1] {
                changes.append(.inserted(id, below: upper))
            } else {
                return [.reset]
            }
        }
        for entry in new.entries.indices where new.entries[entry].isCached {
            if entry < old.entries.count, old.entries[entry].body != new.entries[entry].body {
                changes.append(.updated(new.entries[entry].id))
            }
        }
        return changes.count > limit ? [.reset] : changes
    }

    private enum Name: Hashable {
        case row(RowID)
        case elided(ClosedRange<UInt64>)
    }

    private static func name(_ row: Row, _ state: FeedState) -> Name {
        if case .elided(let run) = row { return .elided(state.elided[run].pieces) }
        return .row(state.id(of: row)!)
    }
}
