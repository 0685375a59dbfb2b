import CPeerTables

/// The engines that can be compared.
enum EngineName: String, Codable, CaseIterable, Sendable {
    case quire
    case lmdbC = "lmdb-c"
    case sqliteNorm = "sqlite-norm"
    case sqliteBlob = "sqlite-blob"
    case sqliteArticle = "sqlite-article"
    case grdb
    case rocksdb
    case broken

    /// Those that are compared unless told otherwise.
    static let compared: [EngineName] = allCases.filter { $0 != .broken }

    /// Opens the engine, creating its files if there are none.
    func open(in folder: String, durability: Durability) throws -> any Engine {
        switch self {
        case .quire: return try QuireEngine(folder: folder, durability: durability)
        case .broken: return try BrokenEngine(folder: folder, durability: durability)
        case .grdb: return try GRDBEngine(folder: folder, durability: durability)
        case .lmdbC, .sqliteNorm, .sqliteBlob, .sqliteArticle, .rocksdb:
            guard let table = peer_named(rawValue) else {
                throw EngineFailure("there is no C engine \(rawValue)")
            }
            return try PeerEngine(table, folder: folder, durability: durability)
        }
    }
}
