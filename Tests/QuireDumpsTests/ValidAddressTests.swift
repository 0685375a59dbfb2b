import Quire
import Testing

@testable import QuireDumps

@Suite("Addresses with characters that cannot stand in one")
struct ValidAddressTests {
    @Test(
        "they are escaped, and escapes stay",
        arguments: [
            ("https://a/b?c=d|e&f=2023%7C10", "https://a/b?c=d%7Ce&f=2023%7C10"),
            ("https://a/b?page[size]=5&c=x%3d%3D", "https://a/b?page%5Bsize%5D=5&c=x%3d%3D"),
            ("https://a/b c/é?d=\"e\"&f=%C3%A9", "https://a/b%20c/%C3%A9?d=%22e%22&f=%C3%A9"),
            ("https://a/?b=50%&c=%zz&d=%4", "https://a/?b=50%25&c=%25zz&d=%254"),
            ("http://[::1]:80/a[1]?b=[2]", "http://[::1]:80/a%5B1%5D?b=%5B2%5D"),
            ("http://é.example/é", "http://é.example/%C3%A9"),
            ("http://é.example?a|b", "http://é.example?a%7Cb"),
            ("//é.example/é", "//é.example/%C3%A9"),
            ("/a?b=//é|", "/a?b=//%C3%A9%7C"),
            ("a=b|c&d=~!$'()*+,;:@/?", "a=b%7Cc&d=~!$'()*+,;:@/?"),
            ("", ""), ("%", "%25"), ("https://", "https://"),
        ])
    func escaping(address: String, valid: String) {
        #expect(address.validAddress == valid)
        #expect(valid.validAddress == valid)
    }

    @Test("a recorded request tells its parameters as they were meant")
    func parameters() {
        let envelope = Envelope(request: "https://a:443/b?page[size]=5&from=2023%7C10&c=d|e")
        #expect(envelope.request == "https://a/b?page%5Bsize%5D=5&from=2023%7C10&c=d%7Ce")
        #expect(envelope.parameters == ["page[size]": "5", "from": "2023|10", "c": "d|e"])
    }
}
