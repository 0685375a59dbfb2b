extension Cache {
    /// Writes the cache anew without free space, in place of the old file, which is removed: the file shrinks
    /// to what it holds, and bodies that were deleted, replaced or pruned are in it no longer.
    ///
    /// This is also how deleted posts are scrubbed, so there is no second operation for that. What it cannot
    /// reach: ids of deleted posts in tombstones and in the log of the last commits, which are part of the
    /// cache; blocks of the old file that the disk has not used again, above all on an SSD or a file system
    /// that copies on writing; backups, and files that a repair kept.
    ///
    /// Needs the space of the copy meanwhile. Whatever happens, the old file or the new one is there.
    /// - Parameters:
    ///   - path: The cache file.
    ///   - progress: Called with 0 to 1 now and then; what it throws stops the compaction, which then has
    ///     changed nothing.
    /// - Returns: By how many bytes the file became smaller.
    /// - Throws: `.badArgument` if this process has the cache open, `.busy` if another process has it open,
    ///   `.corrupt` if it is damaged: repair it first; `.notACache`, `.newerFormat`, `.diskFull`,
    ///   `.noPermission`.
    @discardableResult
    public static func compact(
        at path: String, progress: (Double) throws -> Void = { _ in }
    ) throws -> Int64 {
        let use = try ExclusiveUse(path)
        let drafts = (use.draft("compacted"), use.draft("compacted-2"))
        defer {
            ExclusiveUse.remove(drafts.0)
            ExclusiveUse.remove(drafts.1)
        }
        var draft = drafts.0
        try progress(0)
        try requireSound(path, use) { try progress($0 * 0.3) }
        try progress(0.3)
        try use.copy(path, to: draft)
        try progress(0.5)
        // Bodies that are dead within a record of others are let go in the copy, which then has free space.
        if try dropDeadBodies(at: draft) {
            draft = drafts.1
            try use.copy(drafts.0, to: draft)
        }
        try progress(0.65)
        try requireSound(draft, use) { try progress(0.65 + $0 * 0.3) }
        let (before, after) = try (FileCheck.size(path), FileCheck.size(draft))
        try progress(0.95)
        try use.replace(with: draft)
        return before - after
    }

    private static func requireSound(
        _ path: String, _ use: borrowing ExclusiveUse, progress: (Double) throws -> Void
    ) throws {
        if let finding = try use.findings(at: path, progress: progress).first {
            throw QuireError(.corrupt, "\(path): is damaged: \(finding)")
        }
    }

    /// True if there were any.
    private static func dropDeadBodies(at path: String) throws -> Bool {
        let cache = try Cache(at: path, options: CacheOptions(durability: .relaxed))
        var isChanged = false
        while try cache.reclaim(budget: 8 << 20, where: { $0.live < $0.total }) > 0 { isChanged = true }
        return isChanged
    }
}
