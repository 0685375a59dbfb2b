import Foundation
import Testing

@testable import QuireDumps

@Suite struct OrderKeyTests {
    @Test func doublesKeepTheirOrder() {
        let numbers = [
            -Double.greatestFiniteMagnitude, -1e9, -1.5, -1, -Double.leastNonzeroMagnitude, 0,
            Double.leastNonzeroMagnitude, 0.1, 1, 1.5, 2, 1e9, Double.greatestFiniteMagnitude,
        ]
        let keys = numbers.map(OrderKey.number)
        #expect(keys == keys.sorted() && Set(keys).count == numbers.count)
        #expect(OrderKey.number(-0.0) == 0 && OrderKey.number(0) == 0)
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.5Z", -500_000),
        ("2018-03-29T15:04:05Z", 1_522_335_845_000_000),
        ("2018-03-29t15:04:05.1z", 1_522_335_845_100_000),
        ("2018-03-29 15:04:05.123456789Z", 1_522_335_845_123_456),
        ("2018-03-29T17:34:05+02:30", 1_522_335_845_000_000),
        ("2018-03-29T11:04:05.000-04:00", 1_522_335_845_000_000),
        ("2018-03-29T17:04:05+0200", 1_522_335_845_000_000),
        ("2018-03-29T15:04:05", 1_522_335_845_000_000), ("2018-03-29T15:04Z", 1_522_335_840_000_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
        ("2000-02-29T00:00:00Z", 951_782_400_000_000),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ])
    func dates(text: String, key: Int64) { #expect(OrderKey.date(text.utf8) == key) }

    @Test(arguments: [
        "", "2018", "2018-03-29", "2018-3-29T00:00:00Z", "2018-13-01T00:00:00Z", "2018-00-01T00:00:00Z",
        "2018-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2018-04-31T00:00:00Z", "2018-01-01T24:00:00Z",
        "2018-01-01T00:60:00Z", "2018-01-01T00:00:61Z", "2018-01-01T00:00:00.Z", "2018-01-01T00:00:00+",
        "2018-01-01T00:00:00+24:00", "2018-01-01T00:00:00ZZ", "Sun Aug 31 00:29:15 +0000 2014",
        "+018-01-01T00:00:00Z", "2018-01-01T00:00:00+02:", "2018-01-01T00:00:00+02:0",
    ])
    func notDates(text: String) { #expect(OrderKey.date(text.utf8) == nil) }

    /// From 1583 on; Foundation has the Julian calendar before that.
    @Test func daysAgreeWithFoundation() throws {
        let style = Date.ISO8601FormatStyle()
        for days in stride(from: -141_000, through: 2_900_000, by: 997) {
            let text = Date(timeIntervalSince1970: Double(days) * 86_400).formatted(style)
            #expect(OrderKey.date(text.utf8) == Int64(days) * 86_400_000_000, "\(text)")
        }
    }
}
