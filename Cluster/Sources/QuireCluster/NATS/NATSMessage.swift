import CNATS

/// A message that came from a server, copied.
struct NATSMessage: Sendable {
    let subject: String
    /// Where an answer goes, nil if none is wanted.
    let reply: String?
    let body: [UInt8]
    /// No program listens where the request went.
    let hasNoResponders: Bool
    /// The numbers of JetStream's headers, nil where the message has none.
    let sequence: UInt64?
    let status: String?
    /// When the stream stored it.
    let time: String?

    init(_ message: OpaquePointer) {
        subject = natsMsg_GetSubject(message).map { String(cString: $0) } ?? ""
        reply = natsMsg_GetReply(message).map { String(cString: $0) }
        let size = Int(natsMsg_GetDataLength(message))
        body =
            natsMsg_GetData(message).map { start in
                start.withMemoryRebound(to: UInt8.self, capacity: size) {
                    Array(UnsafeBufferPointer(start: $0, count: size))
                }
            } ?? []
        hasNoResponders = natsMsg_IsNoResponders(message)
        sequence = Self.header("Nats-Sequence", of: message).flatMap { UInt64($0) }
        status = Self.header("Status", of: message)
        time = Self.header("Nats-Time-Stamp", of: message)
    }

    private static func header(_ name: String, of message: OpaquePointer) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(message, name, &value) == NATS_OK, let value else { return nil }
        return String(cString: value)
    }
}
