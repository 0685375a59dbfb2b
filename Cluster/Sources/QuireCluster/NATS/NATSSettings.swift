import CNATS

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What libnats is told before it connects.
enum NATSSettings {
    static func apply(_ options: NATSOptions, to settings: OpaquePointer) throws(LogError) {
        func require(_ status: natsStatus, _ what: String) throws(LogError) {
            if status != NATS_OK {
                throw .misconfigured("\(what): \(String(cString: natsStatus_GetText(status)))")
            }
        }
        var servers = options.servers.map { Optional(UnsafePointer(strdup($0)!)) }
        defer { for server in servers { free(UnsafeMutablePointer(mutating: server)) } }
        let status = servers.withUnsafeMutableBufferPointer {
            natsOptions_SetServers(settings, $0.baseAddress, Int32($0.count))
        }
        try require(status, "the servers \(options.servers.joined(separator: ", "))")
        try require(natsOptions_SetIgnoreDiscoveredServers(settings, options.staysThere), "the servers")
        try require(natsOptions_SetName(settings, options.name), "the name")
        if let path = options.credentials {
            try require(
                natsOptions_SetUserCredentialsFromFiles(settings, path, nil), "the credentials \(path)")
        }
        if options.isSecure || options.certificateAuthority != nil {
            try require(natsOptions_SetSecure(settings, true), "TLS")
        }
        if let path = options.certificateAuthority {
            try require(natsOptions_LoadCATrustedCertificates(settings, path), "the certificates \(path)")
        }
        if let certificate = options.certificate, let key = options.key {
            try require(
                natsOptions_LoadCertificatesChain(settings, certificate, key),
                "the certificate \(certificate) with the key \(key)")
        }
        if let hostname = options.hostname {
            try require(natsOptions_SetExpectedHostname(settings, hostname), "the name \(hostname)")
        }
        // A dead server is noticed after 6 s at the latest, and the next one is tried at once.
        try require(natsOptions_SetPingInterval(settings, 2000), "pings")
        try require(natsOptions_SetMaxPingsOut(settings, 2), "pings")
        try require(natsOptions_SetMaxReconnect(settings, -1), "reconnecting")
        try require(natsOptions_SetReconnectWait(settings, 100), "reconnecting")
        try require(natsOptions_SetReconnectJitter(settings, 50, 50), "reconnecting")
        try require(natsOptions_SetTimeout(settings, 2000), "the timeout")
        // No answer waits for a flusher.
        try require(natsOptions_SetSendAsap(settings, true), "sending")
    }

    /// Tells the connection, whose reference `closure` is given up when it was closed.
    static func listen(_ settings: OpaquePointer, _ closure: UnsafeMutableRawPointer) {
        natsOptions_SetDisconnectedCB(
            settings,
            { _, closure in
                NATSConnection.held(by: closure)?.didDisconnect()
            }, closure)
        natsOptions_SetReconnectedCB(
            settings,
            { _, closure in
                NATSConnection.held(by: closure)?.didConnect()
            }, closure)
        natsOptions_SetRetryOnFailedConnect(
            settings, true,
            { _, closure in
                NATSConnection.held(by: closure)?.didConnect()
            }, closure)
        natsOptions_SetErrorHandler(
            settings,
            { _, _, _, closure in
                // a subscription was too slow and lost messages
                NATSConnection.held(by: closure)?.wasInterrupted()
            }, closure)
        natsOptions_SetClosedCB(
            settings,
            { _, closure in
                if let closure { Unmanaged<NATSConnection>.fromOpaque(closure).release() }
            }, closure)
    }
}
