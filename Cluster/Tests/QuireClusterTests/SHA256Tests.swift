import Testing

@testable import QuireCluster

/// The digest of objects, against the examples of FIPS 180-4 and those of `sha256sum`.
@Suite struct SHA256Tests {
    @Test func digestOfObjects() {
        func hex(_ text: String) -> String {
            var hash = SHA256()
            for part in text.utf8.chunks(of: 37) { hash.add(part) }
            return hash.digest().map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        }
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        #expect(
            hex(String(repeating: "a", count: 1000))
                == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
    }
}

extension Collection {
    fileprivate func chunks(of size: Int) -> [SubSequence] {
        var rest = self[...]
        var parts: [SubSequence] = []
        while !rest.isEmpty {
            parts.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return parts
    }
}
