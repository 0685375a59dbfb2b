import ArgumentParser
import Foundation
import Quire

/// A cache just before an accident. Each accident happens to a copy of it.
struct Stage {
    enum Act: Hashable, CustomStringConvertible {
        /// There is no file yet.
        case creation
        /// The file is opened and closed.
        case opening
        case operation(Operation)

        var description: String {
            switch self {
            case .creation: "creation"
            case .opening: "opening"
            case .operation(let operation): operation.rawValue
            }
        }

        /// True if it writes to an open cache, and to nothing else.
        var isCommit: Bool { if case .operation(let operation) = self { operation != .copy } else { false } }

        static let all = [.creation, .opening] + Operation.allCases.map(Self.operation)
    }

    /// The acts that a torture covers.
    struct Choice: ParsableArguments {
        @Option(help: "One of creation, opening and the operations; all if there is none.")
        var act: [String] = []

        var acts: [Act] { act.isEmpty ? Act.all : Act.all.filter { act.contains($0.description) } }
    }

    let act: Act
    /// The state of the cache.
    let state: UInt64
    private let prepared: String
    /// The path where the accident happens.
    let path: String
    var durability = CacheOptions.Durability.full

    /// Prepares the cache before an act for the n-th time, from 0.
    init(_ act: Act, round: Int, in folder: String) throws {
        let kinds = Operation.allCases.count
        let place =
            switch act {
            case .operation(let operation): Operation.allCases.firstIndex(of: operation)!
            case .opening: round % kinds
            case .creation: 0
            }
        (self.act, state) = (act, act == .creation ? 0 : UInt64(round * kinds + place))
        (prepared, path) = (folder + "/prepared.quire", folder + "/staged.quire")
        for name in [prepared, prepared + "-lock", prepared + "-open", CommitHistory.copyPath(of: prepared)] {
            unlink(name)
        }
        if act == .creation { return }
        let state = state
        let path = prepared
        let child = Child { _ in
            guard let history = try? CommitHistory(at: path, durability: .relaxed) else { return 1 }
            for _ in 0..<state where (try? history.next()) == nil { return 1 }
            return 0
        }
        if child.wait().ending != .exited(0) { throw Violation(what: "no cache to begin with") }
    }

    /// Restores the cache.
    func reset() throws {
        let name = URL(fileURLWithPath: path).lastPathComponent
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // also removes drafts of killed processes
        for file in try FileManager.default.contentsOfDirectory(atPath: folder)
        where file.hasPrefix(name) { unlink(folder + "/" + file) }
        if act != .creation { try FileManager.default.copyItem(atPath: prepared, toPath: path) }
    }

    /// Returns the contents before the act.
    func contents() throws -> [UInt8] {
        act == .creation ? [] : [UInt8](try Data(contentsOf: URL(fileURLWithPath: prepared)))
    }

    /// Opens the cache, unless that is part of the act.
    func open() throws -> CommitHistory? {
        guard case .operation = act else { return nil }
        return try CommitHistory(at: path, durability: durability)
    }

    /// Performs the act, and returns the state of the cache afterwards.
    func perform(on history: inout CommitHistory?) throws -> UInt64 {
        if let history { return try history.next() }
        let opened = try CommitHistory(at: path, durability: durability)
        history = opened
        return try opened.state()
    }
}
