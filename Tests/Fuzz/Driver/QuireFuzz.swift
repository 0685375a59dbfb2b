import Glibc

// What libFuzzer's own main calls: `QUIRE_FUZZ_TARGET=calls quire-fuzz [ITS OPTIONS] [FOLDERS OR FILES]`, see
// Scripts/fuzz. The target is no argument: those are libFuzzer's, which hands them on to processes of its
// own. `quire-fuzz seeds FOLDER` writes inputs to begin with.

private let target: FuzzTarget = {
    guard let target = FuzzTarget(rawValue: getenv("QUIRE_FUZZ_TARGET").map { String(cString: $0) } ?? "")
    else {
        print("QUIRE_FUZZ_TARGET is one of: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
        exit(2)
    }
    return target
}()

/// In place of the standard library's: caches have a random secret, and the same seed shall try the same
/// files.
@_cdecl("swift_stdlib_random")
public func notRandom(_ bytes: UnsafeMutableRawPointer, _ count: Int) {
    for i in 0..<count {
        bytes.storeBytes(of: UInt8(truncatingIfNeeded: i &* 37 &+ 11), toByteOffset: i, as: UInt8.self)
    }
}

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    let words = arguments.pointee
    if count.pointee == 3, String(cString: words[1]!) == "seeds" {
        exit(writeSeeds(String(cString: words[2]!)))
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

private func writeSeeds(_ folder: String) -> CInt {
    for (i, seed) in target.seeds().enumerated() {
        guard let file = fopen("\(folder)/seed-\(i)", "w") else { return 1 }
        fwrite(seed, 1, seed.count, file)
        fclose(file)
    }
    return 0
}
