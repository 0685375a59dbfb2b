/// A list of ids. Integers are kept as words: copying, comparing and freeing them costs no reference counts.
struct PostIDs: RandomAccessCollection, Equatable {
    /// The number of each id, or its index in `texts`.
    private var words: [UInt64] = []
    /// The ids that are not integers.
    private var texts: [[UInt8]] = []
    /// True for each id of `texts`. Empty as long as there is none.
    private var isText: [Bool] = []

    var startIndex: Int { 0 }
    var endIndex: Int { words.count }

    subscript(i: Int) -> PostID {
        if !isText.isEmpty && isText[i] { return PostID(storage: .bytes(texts[Int(words[i])])) }
        return PostID(words[i])
    }

    /// Returns true if this id is at the index.
    @inline(__always)
    func has(_ id: PostID, at i: Int) -> Bool {
        switch id.storage {
        case .integer(let number): words[i] == number && (isText.isEmpty || !isText[i])
        case .bytes(let bytes): !isText.isEmpty && isText[i] && texts[Int(words[i])] == bytes
        }
    }

    /// Returns the id at an index if it is an integer.
    @inline(__always)
    func number(at i: Int) -> UInt64? { isText.isEmpty || !isText[i] ? words[i] : nil }

    /// The ids, if all of them are integers.
    var numbers: [UInt64]? { isText.isEmpty ? words : nil }

    @inline(__always)
    mutating func append(number: UInt64) {
        words.append(number)
        if !isText.isEmpty { isText.append(false) }
    }

    /// Adds integers, which are words in little-endian order.
    mutating func append(numbers: UnsafeRawPointer, count: Int) {
        let first = words.count
        words.append(contentsOf: repeatElement(0, count: count))
        words.withUnsafeMutableBytes {
            UnsafeMutableRawBufferPointer(rebasing: $0[(first * 8)...])
                .copyMemory(from: UnsafeRawBufferPointer(start: numbers, count: count * 8))
        }
        if UInt64(littleEndian: 1) != 1 { for i in first..<words.count { words[i] = words[i].byteSwapped } }
        if !isText.isEmpty { isText += repeatElement(false, count: count) }
    }

    @inline(__always)
    mutating func append(_ id: PostID) {
        switch id.storage {
        case .integer(let number): append(number: number)
        case .bytes(let bytes): append(bytes)
        }
    }

    @inline(never)
    private mutating func append(_ bytes: [UInt8]) {
        while isText.count < words.count { isText.append(false) }
        isText.append(true)
        words.append(UInt64(texts.count))
        texts.append(bytes)
    }

    /// Returns the ids at these indices.
    subscript(indices: ArraySlice<Int>) -> PostIDs {
        var ids = PostIDs()
        ids.reserveCapacity(indices.count)
        if isText.isEmpty {
            for i in indices { ids.words.append(words[i]) }
        } else {
            for i in indices { ids.append(self[i]) }
        }
        return ids
    }

    mutating func removeAll() {
        words.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        isText.removeAll(keepingCapacity: true)
    }

    mutating func reserveCapacity(_ count: Int) { words.reserveCapacity(count) }

    static func == (a: PostIDs, b: PostIDs) -> Bool {
        if a.isText.isEmpty && b.isText.isEmpty { return a.words == b.words }
        return a.elementsEqual(b)
    }
}

extension PostIDs {
    init(_ ids: some Sequence<PostID>) {
        for id in ids { append(id) }
    }
}
