import ArgumentParser
import CSync
import Foundation
import QuireDumps

/// How quickly the API of a response is recognised: the profile, the order and the key.
struct RecogniseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recognise", abstract: "Measure how quickly the API of a response is recognised.",
        discussion: """
            Each folder is a row: its JSON files as they are, the mean and the longest time of one with less than \
            100 kB, and its largest list repeated until the response has --grown bytes. A response that no \
            profile fits takes the time of being refused. Times are of a process that has recognised a response \
            before; the first one also reads the profiles.
            """)

    @Argument(help: "Folders with responses, one for each API.")
    var folders: [String]

    @Option(help: "The size of a grown response in bytes.")
    var grown = 4_000_000

    @Option(help: "How often each response is recognised; the least time counts.")
    var rounds = 9

    func run() throws {
        let start = nanoseconds()
        _ = try? Recognition(of: Array("[]".utf8), name: "first")
        print("the first call: \(number(Double(nanoseconds() - start) / 1e6)) ms")
        let heads = ["FILES", "MB/s", "us A FILE", "LONGEST us", "GROWN MB/s"]
        print(pad("API", 16) + heads.map { pad($0, 12, left: true) }.joined())
        var lowest = (plain: Double.infinity, grown: Double.infinity)
        for folder in folders {
            let files = Self.files(in: folder)
            if files.isEmpty { continue }
            let times = files.map(seconds)
            let plain = Double(files.reduce(0) { $0 + $1.count }) / 1e6 / times.reduce(0, +)
            let small = zip(files, times).filter { $0.0.count < 100_000 }.map(\.1)
            let large = files.sorted { $0.count > $1.count }.lazy.compactMap { Self.repeated($0, to: grown) }
                .first
            let rate = large.map { Double($0.count) / 1e6 / seconds(for: $0) }
            lowest = (min(lowest.plain, plain), min(lowest.grown, rate ?? .infinity))
            let cells = [
                "\(files.count)", number(plain), number(times.reduce(0, +) / Double(times.count) * 1e6),
                small.max().map { number($0 * 1e6) } ?? "-", rate.map { number($0) } ?? "-",
            ]
            print(
                pad(URL(fileURLWithPath: folder).lastPathComponent, 16)
                    + cells.map { pad($0, 12, left: true) }.joined())
        }
        print(
            "lowest: \(number(lowest.plain)) MB/s, of the grown \(number(lowest.grown)) MB/s (target 200 or more)"
        )
    }

    /// The least seconds to recognise this, of several rounds.
    private func seconds(for response: [UInt8]) -> Double {
        var least = Double.infinity
        for _ in 0..<max(1, rounds) {
            let start = nanoseconds()
            _ = try? Recognition(of: response, name: "response")
            least = min(least, Double(nanoseconds() - start) / 1e9)
        }
        return least
    }

    private static func files(in folder: String) -> [[UInt8]] {
        let walk = FileManager.default.enumerator(atPath: folder)
        let names = (walk?.allObjects as? [String] ?? []).filter {
            !$0.hasSuffix(".xml") && !$0.hasSuffix(".gz")
        }
        return names.sorted().compactMap { name in
            guard let bytes = try? PageFile(path: "\(folder)/\(name)").read(),
                let first = bytes.first(where: { $0 > 0x20 }), [0x5B, 0x7B, 0xEF].contains(first)
            else { return nil }
            return bytes
        }
    }

    /// Returns the response with its largest list of objects repeated; nil if it has none.
    private static func repeated(_ bytes: [UInt8], to size: Int) -> [UInt8]? {
        guard let root = try? JSONSerialization.jsonObject(with: Data(bytes)) else { return nil }
        var best: (path: [String], list: [Any])?
        func visit(_ value: Any, _ path: [String]) {
            if let list = value as? [Any], list.first is [String: Any], list.count > best?.list.count ?? 0 {
                best = (path, list)
            } else if let object = value as? [String: Any], path.count < 5 {
                for (key, value) in object { visit(value, path + [key]) }
            }
        }
        visit(root, [])
        guard let best else { return nil }
        let times = max(1, size / max(1, bytes.count))
        let list = (0..<times).flatMap { _ in best.list }
        func replaced(_ value: Any, _ path: ArraySlice<String>) -> Any {
            guard let key = path.first, var object = value as? [String: Any], let inner = object[key] else {
                return list
            }
            object[key] = replaced(inner, path.dropFirst())
            return object
        }
        return (try? JSONSerialization.data(withJSONObject: replaced(root, best.path[...]))).map { Array($0) }
    }
}
