import Foundation
import Quire
import QuireDumps

/// Recorded responses, which lie beside the package and are not part of it.
enum Fixtures {
    /// `../shared/fixtures` from the root of the package, nil where there is none.
    static let folder: String? = {
        var root = URL(filePath: #filePath)
        while root.lastPathComponent != "Tests" && root.path != "/" { root.deleteLastPathComponent() }
        let folder = root.appending(path: "../../shared/fixtures").standardizedFileURL.path
        return FileManager.default.fileExists(atPath: folder) ? folder : nil
    }()

    static var areThere: Bool { folder != nil }

    static func path(_ name: String) -> String { (folder ?? "") + "/" + name }

    static func bytes(_ name: String) throws -> [UInt8] { try PageFile(path: path(name)).read() }

    /// The page of a fixture, read with a built-in profile or one in JSON.
    static func page(_ name: String, _ profile: String) throws -> Answer {
        let profile = try Profile.named(profile) ?? Profile(json: Array(profile.utf8), name: "profile")
        return try PageParser(profile: profile).parse(bytes(name), name: name)
    }
}

/// The error that `action` throws, or nil.
func dumpError(of action: () throws -> Void) -> DumpError? {
    do { try action() } catch { return error as? DumpError }
    return nil
}

extension Answer {
    /// The body of each post as text.
    var bodies: [String] { posts.map { String(decoding: bytes[$0.body], as: UTF8.self) } }
    var ids: [String] { posts.map(\.id.description) }
}

/// The first 16 hexadecimal digits of the SHA-256 of a text.
func shortHash(_ text: String) -> String {
    let primes = (2...311).filter { n in !(2..<n).contains { n % $0 == 0 } }
    func fraction(_ x: Double) -> UInt32 { UInt32((x - x.rounded(.down)) * 4_294_967_296) }
    let constants = primes.map { fraction(cbrt(Double($0))) }
    var state = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
    var data = Array(text.utf8)
    let bits = UInt64(data.count) * 8
    data.append(0x80)
    while data.count % 64 != 56 { data.append(0) }
    data += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
    func turn(_ x: UInt32, _ n: UInt32) -> UInt32 { x >> n | x << (32 - n) }
    for block in stride(from: 0, to: data.count, by: 64) {
        var w = (0..<16).map { i in data[(block + 4 * i)...].prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
        for i in 16..<64 {
            let s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3
            let s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10
            w.append(w[i - 16] &+ s0 &+ w[i - 7] &+ s1)
        }
        var v = state
        for i in 0..<64 {
            let s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)
            let t1 = v[7] &+ s1 &+ (v[4] & v[5] ^ ~v[4] & v[6]) &+ constants[i] &+ w[i]
            let s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)
            let t2 = s0 &+ (v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2])
            v = [t1 &+ t2, v[0], v[1], v[2], v[3] &+ t1, v[4], v[5], v[6]]
        }
        state = zip(state, v).map { $0 &+ $1 }
    }
    return state.prefix(2).map { word in
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
}
