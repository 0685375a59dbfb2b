// R31: which body of a post is shown.

extension Entry {
    /// Updates the known versions and detail of an entry from a post of an answer (R31.1 to R31.4). Returns
    /// true if the entry should show the post's body, unless it is the same.
    mutating func meets(version new: Int64?, detail: Detail, hasBody: Bool) -> Bool {
        let known = newest ?? version
        if body.record == 0 {
            (version, newest) = (Self.maximum(known, new), nil)
            if !hasBody { return false }
            self.detail = detail
            // one that comes late is outdated from the beginning
            if let new, let known, new < known { (version, newest) = (new, known) }
            return true
        }
        if !hasBody || detail < self.detail {  // no body is less than each
            if let new, let known, new > known { newest = new }
            return false
        }
        let isOlder = new.flatMap { new in version.map { new < $0 } } ?? false
        if detail == self.detail && isOlder { return false }
        // without a version from the server, the body counts as the newest
        version = new ?? known
        newest = known.flatMap { known in version.flatMap { known > $0 ? known : nil } }
        self.detail = detail
        return true
    }

    private static func maximum(_ a: Int64?, _ b: Int64?) -> Int64? {
        guard let a, let b else { return a ?? b }
        return max(a, b)
    }
}

extension Post {
    /// Returns true if its body is shown, and not that of a row of the same answer above it.
    func hasBetterBody(than other: Post) -> Bool {
        if body.isEmpty || other.body.isEmpty { return !body.isEmpty && other.body.isEmpty }
        if detail != other.detail { return detail > other.detail }
        guard let known = other.version else { return false }
        return version.map { $0 > known } ?? true
    }
}
