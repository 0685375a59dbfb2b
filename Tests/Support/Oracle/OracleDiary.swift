import Quire

/// When the client planned, received and deleted what. Two equal requests share a ticket; the first of
/// them decides how old its answer may be.
struct OracleDiary {
    private var now = 0
    private var planned: [Ticket: Int] = [:]
    private var delivered: [PostID: Int] = [:]
    private var placed: [PostID: Int] = [:]
    private var deleted: [PostID: Int] = [:]

    mutating func noteRequest(_ ticket: Ticket) {
        now += 1
        if planned[ticket] == nil { planned[ticket] = now }
    }

    /// An accepted answer showed these posts, and they are cached; some of them it placed, or attached to.
    /// A deleted post that comes back is like any other.
    mutating func noteAnswer(_ cached: [PostID], placed: Set<PostID>) {
        now += 1
        for id in cached {
            delivered[id] = now
            deleted[id] = nil
            if placed.contains(id) { self.placed[id] = now }
        }
    }

    mutating func noteDeletion(_ id: PostID) {
        now += 1
        deleted[id] = now
        delivered[id] = nil
        placed[id] = nil
    }

    /// An answer that showed the post arrived after this ticket was issued.
    func delivered(_ id: PostID, since ticket: Ticket) -> Bool {
        (delivered[id] ?? 0) > (planned[ticket] ?? .max)
    }

    /// An answer that placed the post, or attached to it, arrived after this ticket was issued.
    func placed(_ id: PostID, since ticket: Ticket) -> Bool {
        (placed[id] ?? 0) > (planned[ticket] ?? .max)
    }

    /// The client deleted the post after this ticket was issued.
    func deleted(_ id: PostID, since ticket: Ticket) -> Bool {
        (deleted[id] ?? 0) > (planned[ticket] ?? .max)
    }
}
