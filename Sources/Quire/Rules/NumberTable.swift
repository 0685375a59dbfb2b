/// Values by numbers, in ascending order: pages, chunks. The newest mostly has the highest number, so it
/// comes last.
struct NumberTable<Value>: Sequence {
    typealias Element = (number: UInt64, value: Value)

    private var elements: [Element] = []

    init() {}

    /// No number may occur twice.
    init(_ elements: [Element]) { self.elements = elements.sorted { $0.number < $1.number } }

    func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

    /// Returns the number at an index, in ascending order, and its value.
    func number(at i: Int) -> UInt64 { elements[i].number }
    subscript(at i: Int) -> Value { elements[i].value }

    func reversed() -> ReversedCollection<[Element]> { elements.reversed() }

    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }

    subscript(number: UInt64) -> Value? {
        get {
            let at = position(of: number)
            return at < elements.count && elements[at].number == number ? elements[at].value : nil
        }
        set {
            let at = position(of: number)
            let isKnown = at < elements.count && elements[at].number == number
            guard let value = newValue else {
                if isKnown { elements.remove(at: at) }
                return
            }
            if isKnown {
                elements[at].value = value
            } else if at == elements.count {
                append(number, value)
            } else {
                elements.insert((number, value), at: at)
            }
        }
    }

    /// Adds a value. Its number must be above all others.
    mutating func append(_ number: UInt64, _ value: Value) { elements.append((number, value)) }

    func contains(_ number: UInt64) -> Bool {
        let at = position(of: number)
        return at < elements.count && elements[at].number == number
    }

    /// Returns the index of the number, or where it belongs.
    private func position(of number: UInt64) -> Int {
        if let last = elements.last, last.number < number { return elements.count }
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension NumberTable<Int> {
    /// Adds to the value of a number, which is 0 if it has none.
    mutating func add(_ value: Int, to number: UInt64) {
        let at = position(of: number)
        if at == elements.count {
            append(number, value)
        } else if elements[at].number == number {
            elements[at].value += value
        } else {
            elements.insert((number, value), at: at)
        }
    }
}
