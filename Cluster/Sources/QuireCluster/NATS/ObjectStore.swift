#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Objects in a bucket, laid out as the object store of NATS is (its design ADR-20), so that `nats object`
/// reads them: chunks of 128 KiB under one subject, then a message that describes them.
struct ObjectStore: Sendable {
    static let chunkSize = 128 << 10

    /// The message that describes an object. It must have these names.
    struct Description: Codable, Sendable {
        struct Options: Codable, Sendable {
            var max_chunk_size = ObjectStore.chunkSize
        }
        let name: String
        let description: String
        let headers: [String: [String]]
        var options = Options()
        let bucket: String
        let nuid: String
        let size: Int
        var mtime = "0001-01-01T00:00:00Z"
        let chunks: Int
        let digest: String
        var deleted: Bool? = nil
    }

    let connection: NATSConnection
    let bucket: String
    var stream: String { "OBJ_\(bucket)" }

    private func chunks(_ nuid: String) -> String { "$O.\(bucket).C.\(nuid)" }

    private func subject(of name: String) -> String { "$O.\(bucket).M.\(Self.text(Array(name.utf8)))" }

    /// Base 64 for addresses, with padding.
    private static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    }

    func configuration(replicas: Int) -> JetStream.StreamConfig {
        JetStream.StreamConfig(
            name: stream, subjects: ["$O.\(bucket).C.>", "$O.\(bucket).M.>"], num_replicas: replicas,
            allow_rollup_hdrs: true, deny_delete: false)
    }

    /// The description of an object, and the number of that message: 0 if there is none.
    func description(of name: String) async throws(LogError) -> (Description?, UInt64) {
        let request = JetStream.MessageRequest(last_by_subj: subject(of: name))
        switch try await connection.call(
            "STREAM.MSG.GET.\(stream)", request, as: JetStream.StoredMessage.self)
        {
        case .failure(let failure) where failure.isMissing && failure.err_code == 10037: return (nil, 0)
        case .failure(let failure): throw failure.asError(stream)
        case .value(let stored):
            guard let data = stored.message.data,
                let description = try? JSONDecoder().decode(Description.self, from: data)
            else { throw .refused("\(stream): the description of \(name) is not understood") }
            return (description.deleted == true ? nil : description, stored.message.seq)
        }
    }

    /// Stores a file under a name, unless another was stored there since message `previous`.
    func put(
        _ path: String, as name: String, nuid: String, headers: [String: [String]], replacing previous: UInt64
    ) async throws(LogError) {
        let file = try await Blocking.run { () throws(LogError) in try FileReader(path) }
        var (hash, size, count) = (SHA256(), 0, 0)
        while true {
            let chunk = try await Blocking.run { () throws(LogError) in try file.next(Self.chunkSize) }
            if chunk.isEmpty { break }
            hash.add(chunk)
            (size, count) = (size + chunk.count, count + 1)
            _ = try await connection.publish(chunks(nuid), chunk)
        }
        let description = Description(
            name: name, description: "a checkpoint of Quire", headers: headers, bucket: bucket, nuid: nuid,
            size: size,
            chunks: count, digest: "SHA-256=" + Self.text(hash.digest()))
        let body: [UInt8]
        do { body = Array(try JSONEncoder().encode(description)) } catch { throw .refused("\(error)") }
        _ = try await connection.publish(
            subject(of: name), body,
            headers: [("Nats-Rollup", "sub"), ("Nats-Expected-Last-Subject-Sequence", String(previous))])
    }

    /// Writes an object to a path where nothing exists yet.
    func get(_ description: Description, to path: String) async throws(LogError) {
        let file = try await Blocking.run { () throws(LogError) in try FileWriter(path) }
        var (hash, size, next) = (SHA256(), 0, UInt64(1))
        for _ in 0..<description.chunks {
            let message = try await chunk(of: description.nuid, from: next)
            next = message.number + 1
            size += message.body.count
            hash.add(message.body)
            try await Blocking.run { () throws(LogError) in try file.write(message.body) }
        }
        try await Blocking.run { () throws(LogError) in try file.finish() }
        guard size == description.size, description.digest == "SHA-256=" + Self.text(hash.digest()) else {
            throw .refused("\(stream): \(description.name) does not read back as it was stored")
        }
    }

    /// One of its servers has the chunk; the leader has it for certain.
    private func chunk(of nuid: String, from number: UInt64) async throws(LogError) -> (
        number: UInt64, body: [UInt8]
    ) {
        let request = JetStream.MessageRequest(seq: number, next_by_subj: chunks(nuid))
        if let message = try await connection.directMessage(stream, request), let number = message.sequence {
            return (number, message.body)
        }
        let stored = try await connection.require(
            "STREAM.MSG.GET.\(stream)", request, as: JetStream.StoredMessage.self)
        return (stored.message.seq, Array(stored.message.data ?? Data()))
    }

    /// Forgets the chunks whose names `isOld` says so of.
    func forgetChunks(where isOld: (String) -> Bool) async throws(LogError) {
        struct Filter: Codable { let subjects_filter: String }
        struct Info: Codable {
            struct State: Codable { let subjects: [String: UInt64]? }
            let state: State
        }
        let info = try await connection.require(
            "STREAM.INFO.\(stream)", Filter(subjects_filter: chunks(">")), as: Info.self)
        for subject in (info.state.subjects ?? [:]).keys {
            guard let nuid = subject.split(separator: ".").last, isOld(String(nuid)) else { continue }
            let request = JetStream.PurgeRequest(filter: subject)
            _ = try await connection.require("STREAM.PURGE.\(stream)", request, as: JetStream.Done.self)
        }
    }
}
