/// Replaces the standard library's source of random numbers in this program. So the seed of the cache and the
/// secret of post hashes are the same in each run, and their cost too. It is always the same number, so the
/// order of calls does not matter.
@_cdecl("swift_stdlib_random")
public func fixedRandom(_ bytes: UnsafeMutableRawPointer, _ count: Int) {
    let number: UInt64 = 0x9E37_79B9_7F4A_7C15
    for i in 0..<count {
        let byte = UInt8(truncatingIfNeeded: number >> UInt64(i % 8 * 8))
        bytes.storeBytes(of: byte, toByteOffset: i, as: UInt8.self)
    }
}
