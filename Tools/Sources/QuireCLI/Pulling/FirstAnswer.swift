import Quire
import QuireDumps
import QuireHTTP

/// The first answer of a list that is not known yet: how it is read, and what it holds.
struct FirstAnswer {
    let answer: Answer
    /// What was found, in a line for people.
    let words: String
    let kind: InputPage.Kind
    /// How a feed (RSS, Atom, JSON Feed) is divided into pages; nil for an API, whose profile says it.
    private(set) var paging: Paging?

    /// Reads the response as the destination does, which takes over what is found where nothing was said.
    /// Throws if the response cannot be read, or the list begins with its oldest post.
    /// - Parameter firstPage: The number of the first page, if it is known.
    init(
        _ response: RawResponse, from address: PullAddress, to destination: Destination,
        firstPage: Int? = nil
    ) throws {
        let (place, envelope) = (address.first, response.envelope(of: address.first))
        if let name = Self.directions.sorted().first(where: address.isUpwards), !destination.saysOrder {
            throw Self.oldestFirst("\(shown(name))=\(shown(address[name] ?? "")): oldest first")
        }
        if response.isXML && destination.recognises {
            kind = .syndication
            do throws(DumpError) {
                let page = try SyndicationParser.read(response.body, envelope: envelope, name: "answer")
                answer = page.answer
                let (paging, found) = Self.links(of: page, address)
                self.paging = paging
                words = "read as RSS or Atom" + found
            } catch {
                throw Failure(
                    .data,
                    "\(shown(place, limit: 200)): \(error.message)"
                        + "; quire pull reads JSON, RSS and Atom")
            }
            return
        }
        kind = .response
        var words: String
        if var wishes = destination.wishes {
            (wishes.paging, wishes.firstPage) = (address.paging, firstPage)
            wishes.mayLinkLater = true
            wishes.unseen = Set(address.secretParameters.map(\.name))
            let found = try Recognition(of: response.body, envelope: envelope, name: place, wishes: wishes)
            words = try Self.taken(found, to: destination)
        } else if !destination.saysClass, destination.feed == nil,
            let found = Recognition(
                of: response.body, as: destination.profile, envelope: envelope, key: destination.key)
        {
            words = try Self.taken(found, to: destination)
        } else {
            words = "read as \(destination.profile.name), as was said"
        }
        let profile = destination.profile
        do throws(DumpError) {
            let page = try PageParser(profile: profile).read(
                response.body, envelope: envelope, name: profile.name)
            answer = page.answer
            if profile.name == "jsonfeed" {
                let (paging, found) = Self.links(of: page, address)
                self.paging = paging
                words += found
            }
            self.words = words
        } catch {
            throw Failure(.data, "\(shown(place, limit: 200)): read as \(error.message)")
        }
    }

    /// Returns how a feed goes on, and what is to be said of it. Any server has such feeds, so their format
    /// does not tell whether links are positions. Where there is no link yet, nothing says that later ones
    /// are cursors.
    private static func links(of page: Response, _ address: PullAddress) -> (Paging, words: String) {
        if page.answer.next == .unknown { return (.pages, "") }
        let unseen = Set(address.secretParameters.map(\.name))
        let words = page.position(of: address.first, unseen: unseen)
        return (words == nil ? .cursor : .pages, words.map { "; \($0)" } ?? "")
    }

    /// Reads all answers as the first one was found to be. Returns that in a line for people.
    private static func taken(_ found: Recognition, to destination: Destination) throws -> String {
        if found.asksForOldest && !destination.saysOrder { throw oldestFirst(found.orderReason) }
        try destination.adopt(found)
        return found.sentence
    }

    private static func oldestFirst(_ reason: String) -> Failure {
        Failure(
            .usage,
            "\(reason): new posts would come at the end of the list, where nothing is asked again: ask for "
                + "the newest first, or say --order")
    }
}

extension FirstAnswer {
    /// The parameters that say in which direction a list goes, in the requests of most APIs.
    private static let directions: Set = [
        "order", "direction", "dir", "sort_order", "sortOrder", "sort_dir", "sort",
    ]
    /// Their values for "the oldest first".
    fileprivate static let upwards: Set = ["asc", "ascending", "oldest"]
}

extension PullAddress {
    fileprivate func isUpwards(_ parameter: String) -> Bool {
        self[parameter].map { FirstAnswer.upwards.contains($0.lowercased()) } ?? false
    }
}
