/// Returns the positions of a longest increasing subsequence, in O(n log n). Among several, it prefers the
/// smallest last value, then the smallest one before that, and so on (R6).
func longestIncreasing(_ values: [Int]) -> [Int] {
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: values.count)
    for (i, value) in values.enumerated() {
        var low = 0
        var high = tails.count
        while low < high {
            let middle = (low + high) / 2
            if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
        }
        if low > 0 { previous[i] = tails[low - 1] }
        if low == tails.count { tails.append(i) } else { tails[low] = i }
    }
    var chain: [Int] = []
    var at = tails.last ?? -1
    while at >= 0 {
        chain.append(at)
        at = previous[at]
    }
    return chain.reversed()
}

extension Array {
    /// Returns how many elements both arrays share at the beginning, and how many after these at the end.
    func commonEnds(
        _ other: [Element], _ isSame: (Element, Element) -> Bool
    ) -> (prefix: Int, suffix: Int) {
        var (prefix, suffix) = (0, 0)
        let limit = Swift.min(count, other.count)
        while prefix < limit, isSame(self[prefix], other[prefix]) { prefix += 1 }
        while suffix < limit - prefix,
            isSame(self[count - 1 - suffix], other[other.count - 1 - suffix])
        { suffix += 1 }
        return (prefix, suffix)
    }
}
