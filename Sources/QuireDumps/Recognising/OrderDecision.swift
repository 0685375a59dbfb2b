import Quire

/// Decides by what the list of a response is ordered.
///
/// A class that promises more than the list keeps costs posts. So a field has to descend on the whole page,
/// and a list whose times do not descend is `ranked`: nothing is promised about it. A list that is sorted by
/// times is `bump` and not `stable`, also if they do not change: two posts may have the same time.
struct OrderDecision {
    /// What was decided, and why.
    struct Verdict {
        var order: OrderClass
        /// The field and its type; nil leaves that of the profile.
        var key: (path: String, type: Profile.KeyType)?
        var reason: String
        var advice: String?
        /// True if the request asks for the oldest post first.
        var asksForOldest = false
    }

    let found: Recognizer.Found
    let wishes: Recognition.Wishes
    let envelope: Envelope?
    let outline: JSONOutline
    /// The items that have a node.
    let items: [Int]

    private static let open = "nothing says by what it is sorted, which --order and --key settle"

    private var profile: Profile { found.profile }
    private var hasFew: Bool { items.count < OrderFinding.least }

    func verdict() -> Verdict {
        if let order = wishes.order { return wished(order) }
        if let key = wishes.key, let path = try? FieldPath(key) { return named(path) }
        if profile.sequence != nil || profile.isLines || profile.name == "jsonfeed" {
            return Verdict(order: profile.order, reason: "as the profile says")
        }
        if let verdict = requested() ?? mentioned() { return verdict }
        if profile.order != .keyless && !found.isUnknown { return promised() }
        return observed()
    }

    private func field(_ path: FieldPath) -> OrderFinding.Field? {
        OrderFinding.field(at: path, items, in: outline)
    }

    /// The caller said the class; a key may have to be found for it.
    private func wished(_ order: OrderClass) -> Verdict {
        var verdict = Verdict(order: order, reason: "as --order says")
        guard [.stable, .bump].contains(order), wishes.key == nil else { return verdict }
        let fitting = OrderFinding(items, in: outline).times.filter(\.isDescending)
        if let key = profile.key, let field = field(key.path), field.isDescending { return verdict }
        if let field = fitting.first(where: { $0.rises == (order == .bump) }) ?? fitting.first {
            verdict.key = (field.path, field.type)
            verdict.reason += ", \(field.path) descends"
        }
        return verdict
    }

    /// The caller named the key.
    private func named(_ path: FieldPath) -> Verdict {
        if let field = field(path), field.isDescending, !hasFew, field.steps * 2 > items.count - 1 {
            return Verdict(order: .bump, reason: "\(field.path) descends")
        }
        if !found.isUnknown { return Verdict(order: profile.order, reason: "as the profile says") }
        return Verdict(
            order: .ranked, reason: hasFew ? tooFew : "it is not sorted by \(path)",
            advice: "--order says what the server promises")
    }

    private var tooFew: String {
        items.count == 1 ? "1 post is too few to tell" : "\(items.count) posts are too few to tell"
    }

    /// The request says by what the list is sorted, in words of the profile.
    func requested() -> Verdict? {
        guard let sort = profile.sort, let parameters = envelope?.parameters,
            envelope?.request != nil
        else { return nil }
        if let ascending = sort.ascending?.split(separator: "="), ascending.count == 2,
            parameters[String(ascending[0])] == String(ascending[1])
        {
            return oldestFirst("the request says \(sort.ascending ?? "")")
        }
        guard let value = parameters[sort.query], let way = sort.ways[value] else { return nil }
        let said = "the request says \(sort.query)=\(printable(value))"
        guard let path = way.key else { return Verdict(order: way.order, reason: said) }
        guard let field = field(path) else {
            return Verdict(order: .ranked, reason: "\(said), but not all items have \(path)")
        }
        guard field.isDescending else {
            return Verdict(order: .ranked, reason: "\(said), but \(path) does not descend")
        }
        return Verdict(order: .bump, key: (field.path, field.type), reason: said)
    }

    /// The request names one of the times by which the list may be sorted, in words that no profile knows.
    private func mentioned() -> Verdict? {
        guard profile.sort == nil, !hasFew, let envelope, envelope.request != nil,
            let sort = RequestedSort(envelope.parameters)
        else { return nil }
        let said = "the request says \(sort.text)"
        if let field = sort.field(of: OrderFinding(items, in: outline).times) {
            if field.isDescending {
                return Verdict(order: .bump, key: (field.path, field.type), reason: said)
            }
            if field.isAscending { return oldestFirst(said) }
            return Verdict(order: .ranked, reason: "\(said), but \(field.path) does not descend")
        }
        return sort.isByMerit ? Verdict(order: .ranked, reason: said) : nil
    }

    private func oldestFirst(_ said: String) -> Verdict {
        Verdict(order: .ranked, reason: "\(said): oldest first", asksForOldest: true)
    }

    /// The API promises an order.
    private func promised() -> Verdict {
        if let key = profile.key, [.stable, .bump].contains(profile.order), items.count > 1 {
            guard let field = field(key.path), field.isDescending else {
                return Verdict(
                    order: .ranked, reason: "\(key.path) does not descend, by which this API sorts others")
            }
        }
        return Verdict(order: profile.order, reason: "as this API promises")
    }

    /// Nothing but the items says it.
    private func observed() -> Verdict {
        let plain = found.isUnknown ? OrderClass.ranked : profile.order
        let times = OrderFinding(items, in: outline).times
        if hasFew {
            return Verdict(order: plain, reason: tooFew, advice: Self.open)
        }
        if times.isEmpty {
            return Verdict(
                order: plain, reason: "no field of its items is a time", advice: Self.open)
        }
        let descending = times.filter { $0.isDescending && $0.steps * 2 > items.count - 1 }
        if let field = preferred(descending) {
            let other = descending.first { $0.rises != field.rises }
            return Verdict(
                order: .bump, key: (field.path, field.type), reason: "\(field.path) descends",
                advice: other.map { "\($0.path) does too; if that is what it is sorted by: --key \($0.path)" }
            )
        }
        if let field = times.first(where: { $0.isAscending && $0.steps > 0 }) {
            return Verdict(order: plain, reason: "\(field.path) ascends: oldest first")
        }
        let names = times.prefix(3).map(\.path).joined(separator: ", ")
        return Verdict(
            order: .ranked, reason: "it is not sorted by \(names)",
            advice: "if its order never changes: --order keyless")
    }

    /// The field by which the API usually sorts, else one that does not change, else any.
    private func preferred(_ fields: [OrderFinding.Field]) -> OrderFinding.Field? {
        let usual = profile.sort.flatMap { sort in sort.usual.flatMap { sort.ways[$0]?.key?.text } }
        for name in [usual, profile.key?.path.text] {
            if let field = fields.first(where: { $0.path == name }) { return field }
        }
        return fields.first { !$0.rises } ?? fields.first
    }
}
