import Quire
import QuireDumps
import QuireHTTP

/// The first answer of a list that is not known yet: how it is read, and what it holds.
struct FirstAnswer {
    let answer: Answer
    /// What was found, in a line for people.
    let words: String
    let kind: InputPage.Kind

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
            (kind, words) = (.syndication, "read as RSS or Atom")
            do throws(DumpError) {
                answer = try SyndicationParser.read(response.body, envelope: envelope, name: "answer").answer
            } catch {
                throw Failure(
                    .data,
                    "\(shown(place, limit: 200)): \(error.message)"
                        + "; quire pull reads JSON, RSS and Atom")
            }
            return
        }
        kind = .response
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
            answer = try PageParser(profile: profile).read(
                response.body, envelope: envelope, name: profile.name
            )
            .answer
        } catch {
            throw Failure(.data, "\(shown(place, limit: 200)): read as \(error.message)")
        }
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
