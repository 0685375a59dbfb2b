import QuireSimulator
import Testing

@testable import Quire

@Suite("The hash of an id")
struct IDHashTests {
    /// What OpenSSL 3.0 says for the same bytes: `openssl mac -macopt hexkey:000102…0f -macopt size:16
    /// -macopt c-rounds:1 -macopt d-rounds:3 -in FILE SIPHASH`.
    @Test(
        "it is SipHash-1-3 with 128 bits",
        arguments: [
            (0, 0xBEA5_8827_B2BC_7EE7, 0x0130_30DD_6ADB_62FD),
            (1, 0x1A9B_A676_45DF_0430, 0xF763_A301_41C6_1ECB),
            (7, 0x9960_C9DB_4845_2114, 0xE741_385F_58BF_3848),
            (8, 0x8A71_1E3C_E440_2E0B, 0x5646_A9A7_08EF_294C),
            (11, 0x05F0_06DF_B2D6_A843, 0xA788_FE54_6EA5_C055),
            (36, 0x35AC_E2CF_17A2_53DA, 0xEC32_4BE8_0B07_5B18),
            (64, 0x5880_5203_700D_D04F, 0x57CC_8F4A_75EF_C7DD),
            (100, 0x93F0_9276_D17B_33F2, 0xB051_2325_2C50_A6DA),
        ] as [(Int, UInt64, UInt64)])
    func asElsewhere(count: Int, first: UInt64, second: UInt64) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
        let key: IDHash.Key = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
        let hash = bytes.withUnsafeBytes { IDHash.of($0, key: key) }
        #expect(hash == (first, second))
    }

    /// Ids that count, as servers give them: in decimal and in base 36, behind texts of all lengths, so that
    /// the digits that change are in all places of a word, and in two words. Until format 8 two such ids
    /// could have the same address, and whole blocks of ids with them.
    @Test("no two ids that count have the same address", arguments: 0..<UInt64(24))
    func idsThatCount(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for length in 0..<24 {
            let text = String("urn:example:feeds/posts?id=".suffix(length)) + "-"
            for radix in [10, 36] {
                let secret = random.next()
                let numbers =
                    Array(0..<1000)
                    + [radix, radix * radix].flatMap { step in (1000..<2000).map { $0 * step } }
                let addresses = numbers.map { number in
                    PostAddress(PostID(text + String(number, radix: radix))!, in: 0, seed: secret)
                }
                #expect(Set(addresses).count == Set(numbers).count, "\(text), radix \(radix)")
            }
        }
    }
}
