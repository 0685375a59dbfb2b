import CNATS
import Dispatch
import Synchronization

/// One connection to the servers, which reconnects for ever. All calls of libnats are made on a queue of its
/// own, or by threads of libnats: some wait for a socket.
final class NATSConnection: Sendable {
    /// An answer is awaited under each token.
    private struct Pending {
        var next: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Result<NATSMessage, LogError>, Never>] = [:]
    }

    private struct Pointer: @unchecked Sendable {
        // libnats locks what it points to
        let value: OpaquePointer
    }

    private struct State {
        var connection: Pointer?
        var inbox: Subscription?
        var isClosed = false
        var interrupted: [UInt64: @Sendable () -> Void] = [:]
        var reconnections: UInt64 = 0
    }

    private let queue = DispatchQueue(label: "quire.nats")
    private let prefix = "_INBOX.quire-" + String(UInt64.random(in: .min ... .max), radix: 36)
    private let pending = Mutex(Pending())
    private let state = Mutex(State())
    let servers: String

    /// Begins to connect, and returns before it has.
    init(_ options: NATSOptions) throws(LogError) {
        servers = options.servers.joined(separator: ", ")
        var made: OpaquePointer?
        guard natsOptions_Create(&made) == NATS_OK, let settings = made else {
            throw .unavailable("libnats cannot be used")
        }
        defer { natsOptions_Destroy(settings) }
        try NATSSettings.apply(options, to: settings)
        // The connection must live as long as its callbacks: it is released when it was closed for good.
        let closure = Unmanaged.passRetained(self).toOpaque()
        NATSSettings.listen(settings, closure)
        var connection: OpaquePointer?
        let status = natsConnection_Connect(&connection, settings)
        guard status == NATS_OK || status == NATS_NOT_YET_CONNECTED, let connection else {
            Unmanaged<NATSConnection>.fromOpaque(closure).release()
            throw .misconfigured(
                "cannot connect to \(servers): \(String(cString: natsStatus_GetText(status)))")
        }
        let held = Pointer(value: connection)
        state.withLock { $0.connection = held }
        do throws(LogError) {
            let inbox = try subscribe("\(prefix).*") { [weak self] in self?.answer($0) }
            state.withLock { $0.inbox = inbox }
        } catch {
            // Servers that refuse the user or the certificate end a connection at any moment, also at this
            // one. It is as one that they ended later: nothing can be sent.
            guard natsConnection_IsClosed(connection) else { throw error }
        }
    }

    /// Others may still use what libnats has of it until then.
    deinit {
        let (connection, inbox) = state.withLock { ($0.connection, $0.inbox) }
        inbox?.end()
        guard let connection else { return }
        queue.async { natsConnection_Destroy(connection.value) }
    }

    /// The connection, nil if it was closed.
    private var open: Pointer? { state.withLock { $0.isClosed ? nil : $0.connection } }

    var isConnected: Bool {
        guard let connection = open else { return false }
        return natsConnection_Status(connection.value) == NATS_CONN_STATUS_CONNECTED
    }

    /// How often it was made.
    var reconnections: UInt64 { state.withLock(\.reconnections) }

    /// Waits until there is a connection.
    /// - Throws: `.unavailable` if there is none in time.
    func connected(within time: Duration) async throws(LogError) {
        let end = ContinuousClock.now + time
        while !isConnected {
            if ContinuousClock.now >= end || Task.isCancelled {
                throw .unavailable("no connection to \(servers)")
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The largest message that the server takes, nil while there is no connection.
    var maximumPayload: Int? {
        guard isConnected, let connection = open else { return nil }
        return Int(natsConnection_GetMaxPayload(connection.value))
    }

    /// Ends it. What waits for an answer fails.
    func close() {
        guard let connection = open else { return }
        state.withLock { $0.isClosed = true }
        queue.async { natsConnection_Close(connection.value) }
    }

    // MARK: Requests

    /// Sends a request and waits for its one answer.
    /// - Throws: `.unavailable` if it was not sent or no server listens, `.unknown` if no answer came.
    func request(
        _ subject: String, _ body: [UInt8] = [], headers: [(name: String, value: String)] = [],
        timeout: Duration
    ) async throws(LogError) -> NATSMessage {
        let answer = await withCheckedContinuation { continuation in
            let token = pending.withLock { pending in
                pending.next += 1
                pending.waiting[pending.next] = continuation
                return pending.next
            }
            queue.async { self.send(subject, body, headers, token) }
            let seconds = Double(timeout.components.seconds) + Double(timeout.components.attoseconds) * 1e-18
            queue.asyncAfter(deadline: .now() + seconds) {
                self.resume(token, .failure(.unknown("\(subject): no answer within \(timeout)")))
            }
        }
        let message = try answer.get()
        if message.hasNoResponders { throw .unavailable("\(subject): no server is in charge of it now") }
        return message
    }

    private func send(
        _ subject: String, _ body: [UInt8], _ headers: [(name: String, value: String)], _ token: UInt64
    ) {
        guard isConnected, let connection = open else {
            return resume(token, .failure(.unavailable("no connection to \(servers)")))
        }
        var message: OpaquePointer?
        let status = body.withUnsafeBytes { bytes in
            natsMsg_Create(
                &message, subject, "\(prefix).\(token)", bytes.bindMemory(to: CChar.self).baseAddress,
                Int32(bytes.count))
        }
        guard status == NATS_OK, let message else {
            return resume(token, .failure(Self.error(subject, status)))
        }
        defer { natsMsg_Destroy(message) }
        for header in headers { natsMsgHeader_Set(message, header.name, header.value) }
        let sent = natsConnection_PublishMsg(connection.value, message)
        if sent != NATS_OK { resume(token, .failure(Self.error(subject, sent))) }
    }

    /// Sends a message whose answers go to a subject that is listened to. It is lost if there is no
    /// connection.
    func publish(_ subject: String, _ body: [UInt8] = [], answersTo reply: String? = nil) {
        queue.async {
            guard self.isConnected, let connection = self.open else { return }
            var message: OpaquePointer?
            let status = body.withUnsafeBytes { bytes in
                natsMsg_Create(
                    &message, subject, reply, bytes.bindMemory(to: CChar.self).baseAddress,
                    Int32(bytes.count))
            }
            guard status == NATS_OK, let message else { return }
            defer { natsMsg_Destroy(message) }
            natsConnection_PublishMsg(connection.value, message)
        }
    }

    private static func error(_ subject: String, _ status: natsStatus) -> LogError {
        let text = "\(subject): \(String(cString: natsStatus_GetText(status)))"
        return status == NATS_MAX_PAYLOAD ? .refused(text) : .unknown(text)
    }

    private func answer(_ message: NATSMessage) {
        guard let token = UInt64(message.subject.dropFirst(prefix.utf8.count + 1)) else { return }
        resume(token, .success(message))
    }

    private func resume(_ token: UInt64, _ result: Result<NATSMessage, LogError>) {
        pending.withLock { $0.waiting.removeValue(forKey: token) }?.resume(returning: result)
    }

    // MARK: Subscriptions

    /// One subject that is listened to.
    struct Subscription: @unchecked Sendable {
        // libnats locks what it points to
        fileprivate let pointer: OpaquePointer
        fileprivate let queue: DispatchQueue

        /// Ends it; a message may still come meanwhile.
        func end() {
            queue.async {
                natsSubscription_Unsubscribe(pointer)
                natsSubscription_Destroy(pointer)
            }
        }
    }

    private final class Listener: Sendable {
        let take: @Sendable (NATSMessage) -> Void
        init(_ take: @escaping @Sendable (NATSMessage) -> Void) { self.take = take }
    }

    /// Calls `take` with each message, on a thread of libnats, one at a time.
    func subscribe(
        _ subject: String, _ take: @escaping @Sendable (NATSMessage) -> Void
    ) throws(LogError) -> Subscription {
        guard let connection = open else {
            throw .unavailable("the connection is closed")
        }
        let listener = Unmanaged.passRetained(Listener(take)).toOpaque()
        var subscription: OpaquePointer?
        let status = natsConnection_Subscribe(
            &subscription, connection.value, subject,
            { _, _, message, closure in
                guard let message, let closure else { return }
                defer { natsMsg_Destroy(message) }
                Unmanaged<Listener>.fromOpaque(closure).takeUnretainedValue().take(NATSMessage(message))
            }, listener)
        guard status == NATS_OK, let subscription else {
            Unmanaged<Listener>.fromOpaque(listener).release()
            throw Self.error(subject, status)
        }
        natsSubscription_SetOnCompleteCB(
            subscription, { closure in if let closure { Unmanaged<Listener>.fromOpaque(closure).release() } },
            listener)
        return Subscription(pointer: subscription, queue: queue)
    }

    /// Calls `body` whenever messages may have been missed, until the returned token is given to
    /// ``ignore(_:)``.
    func onInterruption(_ body: @escaping @Sendable () -> Void) -> UInt64 {
        let token = UInt64.random(in: .min ... .max)
        state.withLock { $0.interrupted[token] = body }
        return token
    }

    func ignore(_ token: UInt64) { state.withLock { _ = $0.interrupted.removeValue(forKey: token) } }

    // MARK: What libnats tells

    /// The connection that a callback of libnats is about.
    static func held(by closure: UnsafeMutableRawPointer?) -> NATSConnection? {
        closure.map { Unmanaged<NATSConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    func didConnect() {
        state.withLock { $0.reconnections += 1 }
        wasInterrupted()
    }

    func wasInterrupted() {
        for body in state.withLock({ Array($0.interrupted.values) }) { body() }
    }

    /// Answers to what was sent over the old connection will not come.
    func didDisconnect() {
        let waiting = pending.withLock { pending in
            defer { pending.waiting = [:] }
            return pending.waiting.values
        }
        for continuation in waiting {
            continuation.resume(returning: .failure(.unknown("the connection to \(servers) was lost")))
        }
    }
}
