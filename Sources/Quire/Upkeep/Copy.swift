extension Cache {
    /// Writes a compact copy of the cache's current state to a path where nothing exists yet. Others may read
    /// and write meanwhile. The copy has no free space, and appears only when it is complete and on disk;
    /// until then it is `<path>.copying`, which only this user may read. The next copy to the path removes
    /// one that a killed process left.
    /// - Throws: `.badArgument` if something exists at the path, `.busy` if another copy to it is being made,
    ///   `.diskFull`, `.noPermission`, `.io`.
    public func copy(to path: String) throws {
        if try !FileCheck.isMissing(path) {
            throw QuireError(.badArgument, "\(path): exists already")
        }
        let draft = try DraftFile(Environment.copyDraft(of: path))
        defer { draft.remove() }
        try environment.copyCompactly(to: draft)
        try draft.sync()
        try FileCheck.name(draft.path, path, isNew: true)
    }
}
