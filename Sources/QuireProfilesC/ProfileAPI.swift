import CQuire
import Quire
import QuireC
import QuireDumps
import Synchronization

// Section 1 of quire_profiles.h, in the same order.

@_cdecl("quire_profiles_last_error") @implementation
public func quire_profiles_last_error(_ out: UnsafeMutablePointer<quire_error>?) -> quire_status {
    var error = quire_error()
    LastError.get(&error)
    return quire_status(write(error, to: out) ? QUIRE_OK : QUIRE_BAD_ARGUMENT)
}

/// A profile and its parser, which one thread at a time may use.
final class ProfileBox: Handle {
    static let name: StaticString = "profile"
    let profile: Profile
    private let parser: Mutex<PageParser>

    init(_ profile: Profile, limit: Int) {
        self.profile = profile
        parser = Mutex(PageParser(profile: profile, limit: limit))
    }

    func read(_ bytes: [UInt8], _ envelope: Envelope?) -> Result<Response, DumpError> {
        parser.withLock { parser in
            Result { () throws(DumpError) in
                try parser.read(bytes, envelope: envelope, name: "response")
            }
        }
    }

    /// What the headers of an error say about asking again.
    func advice(in envelope: Envelope?) -> Response {
        parser.withLock { $0.advice(in: envelope ?? Envelope()) }
    }
}

@_cdecl("quire_profile_open") @implementation
public func quire_profile_open(
    _ text: quire_bytes, _ options: UnsafePointer<quire_profile_options>?,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        var profile = try Profile(named: try Arguments.bytes(text, atMost: profileLimit, "the profile"))
        var limit = PageParser.defaultLimit
        if options != nil {
            let options = try Arguments.structure(options, "the profile options")
            try profile.override(with: options)
            let size = try Arguments.count(
                options.maximum_size, atMost: Int(QUIRE_BODIES_LIMIT), "maximum_size")
            if size > 0 { limit = size }
        }
        out!.pointee = try Handles.add(ProfileBox(profile, limit: limit))
    }
}

/// No profile is longer.
private let profileLimit = 1 << 20

extension Profile {
    fileprivate init(named text: UnsafeRawBufferPointer) throws(Failure) {
        let start = text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if start == UInt8(ascii: "{") {
            do throws(DumpError) {
                try self.init(json: Array(text), name: "profile")
            } catch { throw Arguments.bad(error.message) }
            return
        }
        guard let known = Self.named(String(decoding: text, as: UTF8.self)) else {
            let names = Self.builtIn.map(\.name).joined(separator: ", ")
            throw Failure(QUIRE_NOT_FOUND, "there is no profile of this name; there are \(names)")
        }
        self = known
    }

    fileprivate mutating func override(with options: quire_profile_options) throws(Failure) {
        func path(_ bytes: quire_bytes, _ name: StaticString) throws(Failure) -> String? {
            try Arguments.bytes(bytes, atMost: Int(QUIRE_TEXT_LIMIT), name).isEmpty
                ? nil : Arguments.text(bytes, atMost: Int(QUIRE_TEXT_LIMIT), name)
        }
        do {
            if let items = try path(options.items, "the path of the items") { try setItems(path: items) }
            if let id = try path(options.id, "the path of the id") { try setID(path: id) }
            if let key = try path(options.key, "the path of the key") { try setKey(path: key) }
        } catch let error as DumpError {
            throw Arguments.bad("the profile options: \(error.message)")
        } catch { throw Failure(error) }
    }
}

@_cdecl("quire_profile_close") @implementation
public func quire_profile_close(_ profile: OpaquePointer?) {
    Handles.release(profile, as: ProfileBox.self)
}

@_cdecl("quire_profile_names") @implementation
public func quire_profile_names(_ out: UnsafeMutablePointer<quire_list>?) -> quire_status {
    attempt(filling: out) { out in
        let arena = Arena()
        let names = arena.list(Profile.builtIn.map(\.name)) { arena.text($0) }
        (out.items, out.count) = (names.items, names.count)
        out.owner = try arena.owner()
    }
}

@_cdecl("quire_profile_names_free") @implementation
public func quire_profile_names_free(_ names: UnsafeMutablePointer<quire_list>?) {
    if let names = take(names) { Arena.free(names.owner) }
}

@_cdecl("quire_profile_get_feed_options") @implementation
public func quire_profile_get_feed_options(
    _ profile: OpaquePointer?, _ out: UnsafeMutablePointer<quire_feed_options>?
) -> quire_status {
    attempt(filling: out) { out in
        let options = try Handles.object(profile, as: ProfileBox.self).profile.options
        out.order = options.order.number
        out.paging = options.paging.number
        out.page_size = UInt32(clamping: options.pageSize)
        out.minimum_run = UInt32(clamping: options.minimumRun)
        out.first_page = UInt32(clamping: options.firstPage)
        (out.sizes, out.rows_per_page) = options.sizes.numbers
    }
}
