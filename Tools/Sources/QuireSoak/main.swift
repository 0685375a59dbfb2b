import Foundation
import Quire
import QuireSimulator

// Many threads use one cache for a while: writers that share commits, readers, observers, and threads that
// open and close it. Scripts/soak runs it under a sanitizer; `race` is a data race that a sanitizer must
// detect.
//
//     quire-soak SECONDS SEED FOLDER [sanitized | race]

let words = CommandLine.arguments
guard words.count >= 4, let seconds = Double(words[1]), let seed = UInt64(words[2]) else {
    print("usage: quire-soak SECONDS SEED FOLDER [sanitized | race]")
    exit(2)
}
let mode = words.count > 4 ? words[4] : ""
if mode == "race" { race() }

let folder = words[3] + "/quire-soak-\(getpid())"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
let path = folder + "/soaked.quire"
let soak = Soak(path: path, seconds: seconds)
let cache = try Cache(at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 26))
var threads: [Thread] = []
for i in 0..<3 {
    threads.append(soak.thread("writes", seed: seed &+ UInt64(i)) { try soak.write(cache, &$0) })
}
for i in 3..<6 { threads.append(soak.thread("reads", seed: seed &+ UInt64(i)) { try soak.read(cache, &$0) }) }
for i in 6..<8 {
    nonisolated(unsafe) var mirror = Mirror()
    threads.append(soak.thread("looks", seed: seed &+ UInt64(i)) { _ in try soak.observe(cache, &mirror) })
}
threads.append(soak.thread("opens", seed: seed &+ 8) { try soak.open(&$0) })

var samples: [Resources] = []
while threads.contains(where: { !$0.isFinished }) {
    usleep(200_000)
    samples.append(Resources(of: path))
}
var mistakes = soak.found + Resources.growth(samples, isSlow: mode == "sanitized")
mistakes += try cache.check().map { "\($0)" }
let totals = soak.totals.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
let last = samples[samples.count - 1]
let state = """
    \(last.memory >> 20) MiB of memory, \(last.descriptors) descriptors, \(last.slots) reader slots, \
    a file of \(last.file >> 10) KiB
    """
if let mistake = mistakes.first {
    print("FAILED\tsoak\t\(mistake)\nfiles: \(folder)\nreplay: quire-soak \(seconds) \(seed)")
    exit(1)
}
try FileManager.default.removeItem(atPath: folder)
print("passed\tsoak\t\(Int(seconds)) s\tseed \(seed)\t\(totals); at the end \(state)")
