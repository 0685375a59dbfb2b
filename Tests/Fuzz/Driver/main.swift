import Glibc

/// libFuzzer around one target: `quire-fuzz TARGET [ITS OPTIONS] [FOLDERS]`, see Scripts/fuzz. With `seeds`
/// behind the target, writes the inputs to begin with into a folder.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

nonisolated(unsafe) var target = FuzzTarget.page

func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

let words = CommandLine.arguments
guard words.count > 1, let wanted = FuzzTarget(rawValue: words[1]) else {
    print("usage: quire-fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) ...")
    exit(2)
}
target = wanted
if words.count == 4, words[2] == "seeds" {
    for (i, seed) in target.seeds().enumerated() {
        let file = fopen("\(words[3])/seed-\(i)", "w")
        fwrite(seed, 1, seed.count, file)
        fclose(file)
    }
    Scratch.remove()
    exit(0)
}
var arguments = ([words[0]] + words.dropFirst(2)).map { strdup($0) } + [nil]
var count = CInt(arguments.count - 1)
atexit { Scratch.remove() }
let status = arguments.withUnsafeMutableBufferPointer { buffer in
    var start = buffer.baseAddress!
    return runDriver(&count, &start, { test($0, $1) })
}
exit(status)
