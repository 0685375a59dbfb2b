// Checks R28: posts with several ids.

extension Check {
    /// Checks that aliases and names refer to each other, that no feed holds a post by an alias, and that the
    /// collection exists.
    mutating func checkAliases() throws {
        var count: UInt64 = 0
        let known = Set(collections.values).union([0])
        try each(.aliases) { check, record in
            let alias = try AliasRecord(record.value, "the ids of a post")
            let collection = PostKey.collection(record.key) ?? 0
            let place = "post \(alias.id)"
            if !known.contains(collection) {
                check.find(.orphan, place, "has other ids in a collection without feeds")
            }
            if alias.isName {
                for other in alias.others
                where try check.transaction.aliasRecord(other, in: collection)?.name != alias.id {
                    check.find(.missing, place, "its other id \(other) does not lead to it")
                }
                return
            }
            count += 1
            let name = try check.transaction.aliasRecord(alias.name, in: collection)
            if name?.others.contains(alias.id) != true {
                check.find(.orphan, place, "leads to \(alias.name), which does not know it")
            }
            if !check.index.of(collection).positions(of: alias.id).isEmpty {
                check.find(.orphan, place, "is another id of a post, but a feed holds it")
            }
        }
        if count != counters.aliases, !context.isStopped {
            find(.count, "counters", "say \(counters.aliases) other ids, there are \(count)")
        }
    }
}
