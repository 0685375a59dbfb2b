extension Array {
    /// Creates an array of equal elements. `init(repeating:count:)` asks the runtime for the type of the
    /// array each time, in 440 instructions; to fill an empty one does not.
    init(filled count: Int, with element: Element) {
        self = []
        append(contentsOf: repeatElement(element, count: count))
    }
}
