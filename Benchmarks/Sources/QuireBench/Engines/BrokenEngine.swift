/// Quire with a planted bug: one in a hundred reads is a little wrong. A run with it must fail; that is
/// how the checks are checked.
final class BrokenEngine: QuireEngine {
    private var readCount = 0

    override var name: String { "broken" }

    override func readStaged(_ index: Int) throws -> ReadTotal {
        var total = try super.readStaged(index)
        readCount += 1
        if readCount % 100 == 0 { total.sum &+= 1 }
        return total
    }
}
