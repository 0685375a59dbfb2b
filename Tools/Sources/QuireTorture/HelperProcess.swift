#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A process that takes part in several steps of a torture and works on command.
final class HelperProcess {
    private let child: Child
    private let orders: Int32

    /// How the body receives orders.
    struct Order {
        fileprivate let input: Int32
        fileprivate let tell: (UInt64) -> Void

        /// Reports that the last order is done, and waits for the next one; nil if there is none.
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

    /// Sends an order, which is not 0, and returns its answer; nil if it failed.
    func ask(_ order: UInt8 = 1) -> UInt64? {
        var order = order
        return write(orders, &order, 1) == 1 ? child.heard() : nil
    }

    /// Lets the process do its work once. Returns false if it failed.
    func works() -> Bool { ask() != nil }

    func stop() {
        // Send an order, because closing the pipe is not enough: other children may have inherited this end.
        var order: UInt8 = 0
        _ = write(orders, &order, 1)
        close(orders)
        _ = child.wait()
    }
}
