import Quire

/// Finds the request parameters that name a place: those of the profile, else those in its links.
extension Profile {
    var places: (below: [String], above: [String], newer: [String], around: [String]) {
        var below = request?.below ?? []
        if case .query(let name) = own { below.append(name) }
        if let name = next?.parameter { below.append(name) }
        let above = request?.above ?? previous?.parameter.map { [$0] } ?? []
        let newer = request?.newer ?? []
        let around = request?.around ?? []
        return (below, above.filter { !newer.contains($0) }, newer, around)
    }

    /// Returns the link that led to a request, in the form of the template: `max_id=7`.
    func link(of parameters: [String: String]) -> Link? {
        for name in places.below {
            if let value = parameters[name], !value.isEmpty { return .token("\(name)=\(value)") }
        }
        return nil
    }
}

extension LinkField {
    /// The parameter that a template fills: `max_id` for `max_id={id}`.
    fileprivate var parameter: String? {
        guard case .template(let template) = way, template.parts.count == 2,
            case .text(let text) = template.parts[0], text.last == "="
        else { return nil }
        return String(text.dropLast())
    }
}
