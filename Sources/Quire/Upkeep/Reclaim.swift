extension Cache {
    /// Writes body records again if less than a quarter of their bytes is in use, without the unused rest.
    /// Starts with the lowest record numbers and stops after moving `budget` bytes. Returns the number of
    /// bytes that became free for reuse; 0 means that nothing was left to do.
    @discardableResult
    public func reclaim(budget: Int = 1 << 20) throws -> Int {
        try reclaim(budget: budget) { $0.live < $0.total / 4 }
    }

    func reclaim(budget: Int, where isSparse: (BodyUse) -> Bool) throws -> Int {
        try write(isOfLog: true) { session in  // what the cache holds stays
            var freed = 0
            var moved = 0
            let sparse = try session.bodyRecords(atMost: 64, where: isSparse).sparse
            for (number, use) in sparse where moved < budget {
                moved += use.live
                freed += use.total - use.live
                try session.rewriteBodies(of: number)
            }
            return freed
        }
    }
}
