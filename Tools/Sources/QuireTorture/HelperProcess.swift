#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A process that lives through several steps of a torture and does its work when it is told to.
final class HelperProcess {
    private let child: Child
    private let orders: Int32

    /// How the body hears of orders.
    struct Order {
        fileprivate let input: Int32
        fileprivate let tell: (UInt64) -> Void

        /// Says that what was ordered is done, and waits for the next order; nil when there is none.
        func wait(_ answer: UInt64 = 1) -> UInt8? {
            var order: UInt8 = 0
            tell(answer)
            return read(input, &order, 1) == 1 && order != 0 ? order : nil
        }
    }

    init(_ body: (Order) throws -> Void) {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "no pipe")
        let (input, output) = (ends[0], ends[1])
        child = Child(seconds: 600) { tell in
            close(output)
            do {
                try withoutActuallyEscaping(tell) { try body(Order(input: input, tell: $0)) }
                return 0
            } catch {
                complain("an assistant failed: \(error)")
                return 1
            }
        }
        close(input)
        orders = output
        _ = child.heard()
    }

    /// Has it carry out an order, which is not 0, and returns its answer; nil if it could not.
    func ask(_ order: UInt8 = 1) -> UInt64? {
        var order = order
        return write(orders, &order, 1) == 1 ? child.heard() : nil
    }

    /// Has it do its work once; false if it could not.
    func works() -> Bool { ask() != nil }

    func stop() {
        // Not only by closing the pipe: other children may have inherited this end.
        var order: UInt8 = 0
        _ = write(orders, &order, 1)
        close(orders)
        _ = child.wait()
    }
}
