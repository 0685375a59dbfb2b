import Foundation
import Quire
import QuirePaging

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What goes out with each request of a pull, and what must not come back in: secrets are sent, and are kept out
/// of the cache and of every message.
struct PullDiscretion: Sendable {
    private let secrets: Secrets
    private let log: PullLog

    init(_ secrets: Secrets, _ log: PullLog) { (self.secrets, self.log) = (secrets, log) }

    /// `quire/0.1.0`, after the name that the caller gave.
    static let agent = "quire/0.1.0"

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

    /// Says which requests failed and are sent again.
    var failures: Interceptor {
        Interceptor { [log, words] request, next in
            do { return try await next(request) } catch let failure as PageFailure where failure.isTransient {
                log.add(.note(words("\(request.place.words): failed: \(failure.message)")))
                throw failure
            }
        }
    }

    /// Says what answers did, and takes the secrets out of their links.
    func telling(_ feed: Feed, keyIsVersion: Bool) -> Interceptor {
        Interceptor { [secrets] request, next in
            var response = try await next(request)
            guard case .page(var answer) = response.content else { return response }
            answer.next = answer.next.without(secrets)
            answer.previous = answer.previous.without(secrets)
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
                log.add(.note("waits \(Int(duration / .seconds(1))) s before it asks again"))
            }
            try await clock.sleep(duration)
        }
        return telling
    }
}

extension Link {
    fileprivate func without(_ secrets: Secrets) -> Link {
        if case .token(let text) = self { .token(secrets.removed(fromLink: text)) } else { self }
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
