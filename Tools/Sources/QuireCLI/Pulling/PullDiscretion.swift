import Foundation
import Quire
import QuirePaging

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What goes out with each request of a pull, and what must not come back in: secrets are sent, and are kept
/// out of the cache and of every message.
struct PullDiscretion: Sendable {
    private let secrets: Secrets
    private let log: PullLog
    /// True if links that name another server are asked for at the one of the list.
    private let linksHere: Bool

    init(_ secrets: Secrets, _ log: PullLog, linksHere: Bool) {
        (self.secrets, self.log, self.linksHere) = (secrets, log, linksHere)
    }

    /// The name of this program, after the one that the caller gave.
    static let agent = "quire/\(QuireTool.configuration.version)"

    /// Adds headers and secret parameters to a request.
    var prepare: PullWork.Prepare {
        { [secrets] request in
            request.setValue(Self.agent, forHTTPHeaderField: "User-Agent")
            for (name, value) in secrets.headers {
                let isAgent = name.lowercased() == "user-agent"
                request.setValue(isAgent ? "\(value) \(Self.agent)" : value, forHTTPHeaderField: name)
            }
            guard !secrets.parameters.isEmpty, let address = request.url?.absoluteString else { return }
            let separator = address.contains("?") ? "&" : "?"
            request.url = URL(string: address + separator + secrets.query)
        }
    }

    /// A message without secrets.
    var words: @Sendable (String) -> String { { [secrets] in secrets.removed(from: $0) } }

    /// Says which requests failed and are sent again, and names the request in each failure.
    var failures: Interceptor {
        Interceptor { [log, words] request, next in
            do { return try await next(request) } catch var failure as PageFailure {
                let (attempt, attempts) = (request.attempt, RetryPolicy().attempts)
                var tries = ""
                if failure.isTransient {
                    let note = "\(request.words): try \(attempt) of \(attempts) failed: \(failure.message)"
                    log.add(.note(words(note)))
                    tries = "tried \(counted(attempt, "time")): "
                    failure.message += "; the next call asks again"
                }
                failure.message = "\(request.words): \(tries)\(failure.message)"
                throw failure
            }
        }
    }

    /// Says what answers did, and takes the secrets out of their links.
    func telling(_ feed: Feed, keyIsVersion: Bool) -> Interceptor {
        Interceptor { [secrets, linksHere] request, next in
            var response = try await next(request)
            guard case .page(var answer) = response.content else { return response }
            answer.next = answer.next.without(secrets, isHere: linksHere)
            answer.previous = answer.previous.without(secrets, isHere: linksHere)
            answer.since = answer.since.map { secrets.removed(from: $0) }
            for index in answer.posts.indices where keyIsVersion && answer.posts[index].version == nil {
                answer.posts[index].version = answer.posts[index].key
            }
            response.content = .page(answer)
            return response
        } observe: { [log] request, result in
            guard let result = try? result.get(), let line = PageResultLine(result),
                let info = try? feed.cache.withSnapshot({ try $0.info(of: feed) })
            else { return }
            log.add(.answer(AnswerLine(line, place: request.place.words, info)))
        }
    }

    /// Says how long a wait takes that the server asked for.
    func clock(_ clock: PagerClock) -> PagerClock {
        var telling = clock
        telling.sleep = { [log] duration in
            if duration >= .seconds(2) {
                let seconds = Int((duration / .seconds(1)).rounded(.up))
                log.add(.note("waits \(seconds) s before it asks again"))
            }
            try await clock.sleep(duration)
        }
        return telling
    }
}

extension Link {
    /// - Parameter isHere: True if an address becomes one without a server.
    fileprivate func without(_ secrets: Secrets, isHere: Bool) -> Link {
        guard case .token(let text) = self else { return self }
        let link = secrets.removed(fromLink: text)
        guard isHere, let start = link.range(of: "://"), let parts = URLComponents(string: link),
            parts.host != nil
        else { return .token(link) }
        let path = link[start.upperBound...].firstIndex { "/?".contains($0) }
        return .token(path.map { link[$0] == "/" ? String(link[$0...]) : "/" + link[$0...] } ?? "/")
    }
}

extension PageResultLine {
    /// Nil for a result without an answer.
    init?(_ result: PageResult) {
        switch result {
        case .loaded(let outcome):
            self.init(
                new: outcome.new.count, known: outcome.duplicates.count, removed: outcome.removed.count,
                verdict: outcome.verdict.rawValue)
        case .notModified: self.init(verdict: "not modified")
        default: return nil
        }
    }
}
