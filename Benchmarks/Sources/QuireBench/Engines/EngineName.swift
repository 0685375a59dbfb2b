import CPeerTables

/// The engines that can be compared.
enum EngineName: String, Codable, CaseIterable, Sendable {
    case quire
    case quireC = "quire-c"
    case lmdbC = "lmdb-c"
    case sqliteNorm = "sqlite-norm"
    case sqliteBlob = "sqlite-blob"
    case sqliteArticle = "sqlite-article"
    case grdb
    case rocksdb
    case broken

    /// Those that are compared unless told otherwise.
    static let compared: [EngineName] = allCases.filter { $0 != .broken }

    /// Makes ready what a program has when it starts: a library that is not linked is loaded.
    func load() throws {
        guard let message = peer_named(rawValue)?.pointee.load?() else { return }
        throw EngineFailure(String(cString: message))
    }

    /// Opens the engine, creating its files if there are none.
    func open(in folder: String, durability: Durability) throws -> any Engine {
        switch self {
        case .quire: return try QuireEngine(folder: folder, durability: durability)
        case .broken: return try BrokenEngine(folder: folder, durability: durability)
        case .grdb: return try GRDBEngine(folder: folder, durability: durability)
        case .quireC, .lmdbC, .sqliteNorm, .sqliteBlob, .sqliteArticle, .rocksdb:
            guard let table = peer_named(rawValue) else {
                throw EngineFailure("there is no C engine \(rawValue)")
            }
            return try PeerEngine(table, folder: folder, durability: durability)
        }
    }
}
