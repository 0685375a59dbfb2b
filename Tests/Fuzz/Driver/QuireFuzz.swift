import Glibc

// What libFuzzer's own main calls: `quire-fuzz TARGET [ITS OPTIONS] [FOLDERS]`, see Scripts/fuzz.
// `quire-fuzz TARGET seeds FOLDER` writes inputs to begin with.

nonisolated(unsafe) private var target = FuzzTarget.page

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    let words = arguments.pointee
    guard count.pointee > 1, let wanted = FuzzTarget(rawValue: String(cString: words[1]!)) else {
        print("usage: quire-fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) ...")
        exit(2)
    }
    target = wanted
    if count.pointee == 4, String(cString: words[2]!) == "seeds" { exit(writeSeeds(String(cString: words[3]!))) }
    for i in 1..<Int(count.pointee) { words[i] = words[i + 1] }
    count.pointee -= 1
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
