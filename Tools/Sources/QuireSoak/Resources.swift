import Foundation

/// Resources that a long-running process must not accumulate.
struct Resources {
    let memory: Int
    let descriptors: Int
    /// The largest number of reader slots in use at a time.
    let slots: Int
    let file: Int

    init(of path: String) {
        let pages =
            (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        memory = (pages.count > 1 ? Int(pages[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        // LMDB 0.9 on Linux: magic, format, a mutex of 40 bytes, the newest transaction, the number of slots.
        let lock = (try? Data(contentsOf: URL(fileURLWithPath: path + "-lock"))) ?? Data()
        slots = lock.count < 60 ? 0 : lock[56..<60].reversed().reduce(0) { $0 << 8 | Int($1) }
        file = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// Returns what grew from the second quarter of a run to the last. A little more memory may be due to the
    /// allocator. Under a sanitizer memory is not compared, and the feeds are not full yet.
    static func growth(_ samples: [Resources], isSlow: Bool) -> [String] {
        let quarter = samples.count / 4
        let quarters = (samples.dropFirst(quarter).prefix(quarter), samples.suffix(quarter))
        func most(_ value: KeyPath<Resources, Int>) -> (Int, Int) {
            (
                quarters.0.map { $0[keyPath: value] }.max() ?? 0,
                quarters.1.map { $0[keyPath: value] }.max() ?? 0
            )
        }
        var grown: [String] = []
        func test(_ name: String, _ value: KeyPath<Resources, Int>, _ slack: (Int) -> Int) {
            let (early, late) = most(value)
            if late > early + slack(early) { grown.append("\(name) grew from \(early) to \(late)") }
        }
        test("descriptors", \.descriptors) { _ in 2 }
        test("reader slots", \.slots) { _ in 1 }
        if isSlow { return grown }
        test("memory", \.memory) { $0 / 10 + (4 << 20) }
        test("the file", \.file) { $0 / 4 }
        return grown
    }
}
