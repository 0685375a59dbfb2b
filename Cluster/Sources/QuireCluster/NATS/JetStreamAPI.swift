#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The messages of JetStream's API that are used here, as JSON.
enum JetStream {
    /// Which entries a stream keeps, and which not. A field that a server does not know is left out by it.
    struct StreamConfig: Codable, Sendable {
        struct Republish: Codable, Sendable, Equatable {
            let src: String
            let dest: String
        }

        var name: String
        var subjects: [String]?
        var retention: String? = "limits"
        var discard: String? = "new"
        var max_age: Int64? = 0
        var max_bytes: Int64? = -1
        var max_msgs: Int64? = -1
        var max_msg_size: Int32? = -1
        var max_msgs_per_subject: Int64? = -1
        var storage: String? = "file"
        var num_replicas = 3
        var allow_direct: Bool? = true
        var allow_rollup_hdrs: Bool? = false
        var deny_delete: Bool? = true
        var republish: Republish?
        var metadata: [String: String]?

        /// The version of the server that leads the stream; those before 2.11 do not say.
        var version: String? { metadata?["_nats.ver"] }
    }

    struct StreamState: Codable, Sendable {
        let messages: UInt64
        let bytes: UInt64
        let first_seq: UInt64
        let last_seq: UInt64
    }

    struct StreamCluster: Codable, Sendable {
        struct Peer: Codable, Sendable {
            let name: String
            let current: Bool?
            let offline: Bool?
        }

        let leader: String?
        /// Since when; servers before 2.12 do not say.
        let leader_since: String?
        let replicas: [Peer]?
    }

    struct StreamInfo: Codable, Sendable {
        let config: StreamConfig
        let state: StreamState
        let cluster: StreamCluster?
    }

    struct Failure: Codable, Sendable {
        let code: Int
        let err_code: Int?
        let description: String?

        /// Of streams and messages that are not there.
        var isMissing: Bool { code == 404 }

        func asError(_ subject: String) -> LogError {
            let text = "\(subject): \(description ?? "error \(code)")"
            // 10005: too few servers to keep a stream, as long as they have not found one another
            let isTemporary = code == 503 || err_code == 10008 || err_code == 10005
            return isTemporary ? .unavailable(text) : .refused(text)
        }
    }

    struct Acknowledgement: Codable, Sendable {
        let seq: UInt64?
    }

    struct StoredMessage: Codable, Sendable {
        struct Message: Codable, Sendable {
            let seq: UInt64
            let data: Data?
            let time: String?
        }
        let message: Message
    }

    struct MessageRequest: Codable, Sendable {
        var seq: UInt64?
        var last_by_subj: String?
        var next_by_subj: String?
    }

    struct PurgeRequest: Codable, Sendable {
        var seq: UInt64?
        var filter: String?
    }

    struct Done: Codable, Sendable {
        let success: Bool
    }

    /// Read at once: an answer may have a page in it.
    private struct Answer<Value: Decodable>: Decodable {
        private enum Key: CodingKey { case error }
        let reply: Reply<Value>

        init(from decoder: any Decoder) throws {
            let failure = try? decoder.container(keyedBy: Key.self).decodeIfPresent(
                Failure.self, forKey: .error)
            reply = if let failure { .failure(failure) } else { .value(try Value(from: decoder)) }
        }
    }

    /// What an answer says.
    enum Reply<Value> {
        case value(Value)
        case failure(Failure)
    }

    static func read<Value: Decodable>(
        _ type: Value.Type, _ message: NATSMessage, of subject: String
    ) throws(LogError) -> Reply<Value> {
        guard let answer = try? JSONDecoder().decode(Answer<Value>.self, from: Data(message.body)) else {
            throw .refused("\(subject): the answer is not understood")
        }
        return answer.reply
    }
}

extension NATSConnection {
    /// Calls JetStream's API: `$JS.API.` and a name.
    func call<Value: Decodable>(
        _ name: String, _ body: (any Encodable & Sendable)? = nil, as type: Value.Type
    ) async throws(LogError) -> JetStream.Reply<Value> {
        let bytes: [UInt8]
        do { bytes = try body.map { Array(try JSONEncoder().encode($0)) } ?? [] } catch {
            throw .refused("\(name): \(error)")
        }
        let message = try await request("$JS.API.\(name)", bytes, timeout: .seconds(2))
        return try JetStream.read(type, message, of: name)
    }

    /// The same; a failure is an error.
    func require<Value: Decodable>(
        _ name: String, _ body: (any Encodable & Sendable)? = nil, as type: Value.Type
    ) async throws(LogError) -> Value {
        switch try await call(name, body, as: type) {
        case .value(let value): return value
        case .failure(let failure): throw failure.asError(name)
        }
    }

    /// Appends to a stream. A failure that the server tells means that nothing was stored.
    func publish(
        _ subject: String, _ body: [UInt8], headers: [(name: String, value: String)] = []
    ) async throws(LogError) -> UInt64 {
        let message = try await request(subject, body, headers: headers, timeout: .seconds(5))
        switch try JetStream.read(JetStream.Acknowledgement.self, message, of: subject) {
        case .value(let answer):
            guard let number = answer.seq else {
                throw .refused("\(subject): an acknowledgement without a number")
            }
            return number
        case .failure(let failure): throw failure.asError(subject)
        }
    }

    /// A message of a stream out of any of its servers, which may not have it yet: nil then.
    func directMessage(
        _ stream: String, _ request: JetStream.MessageRequest
    ) async throws(LogError) -> NATSMessage? {
        let body: [UInt8]
        do { body = Array(try JSONEncoder().encode(request)) } catch { throw .refused("\(error)") }
        let message = try await self.request("$JS.API.DIRECT.GET.\(stream)", body, timeout: .seconds(3))
        return message.status == nil ? message : nil
    }
}
