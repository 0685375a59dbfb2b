import ArgumentParser
import Foundation

/// Measures.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Measure the engines on the same data, in turn.")

    @Option(help: "Numbers of posts, separated by commas.")
    var posts = "100000"

    @Option(
        help: ArgumentHelp(
            "Engines, separated by commas: \(EngineName.compared.map(\.rawValue).joined(separator: ", "))"))
    var engines: String?

    @Option(
        help: ArgumentHelp(
            "Operations, separated by commas (default: all): "
                + Operation.allCases.map(\.rawValue).joined(separator: ", ")))
    var operations: String?

    @Option(help: "How often each operation is repeated.")
    var rounds = 5

    @Option(help: "Posts to a page.")
    var pageSize = 30

    @Option(help: "How posts are numbered: random or sequential.")
    var ids = IDOrder.random

    @Option(help: "What a commit promises: ordinary or relaxed.")
    var durability = Durability.ordinary

    @Option var seed: UInt64 = 1

    @Option(help: "Where the engines put their files; must be on a real disk.")
    var folder = "/var/tmp/quire-bench"

    @Option(help: "Where the results go.")
    var json = "results.json"

    func run() throws {
        let engines = try list(self.engines, EngineName.init, "engine") ?? EngineName.compared
        let operations = try list(self.operations, Operation.init, "operation") ?? Operation.allCases
        var file = ResultFile(
            machine: .current(folder: folder), date: Date.now.formatted(.iso8601), sizes: [])
        for size in try list(posts, { Int($0) }, "number of posts") ?? [] {
            FileHandle.standardError.write(Data("\(size) posts\n".utf8))
            let workload = Workload(posts: size, pageSize: pageSize, ids: ids, seed: seed)
            var run = SizeRun(
                workload, engines: engines, operations: Set(operations), rounds: max(1, rounds),
                durability: durability, folder: folder + "/\(size)-\(getpid())")
            file.sizes.append(try run.run())
            // After each size, so that a failure of a later one loses nothing.
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(file).write(to: URL(fileURLWithPath: json))
        }
        print(Report(file).text)
    }

    private func list<T>(_ text: String?, _ convert: (String) -> T?, _ what: String) throws -> [T]? {
        try text?.split(separator: ",").map {
            guard let value = convert(String($0)) else {
                throw ValidationError("\($0) is no \(what).")
            }
            return value
        }
    }
}
