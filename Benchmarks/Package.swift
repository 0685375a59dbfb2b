// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let strictC: [CSetting] = [.treatAllWarnings(as: .error), .enableWarning("all")]

let package = Package(
    name: "quire-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "quire-bench", targets: ["QuireBench"]),
        .executable(name: "quire-patterns", targets: ["QuirePatterns"]),
    ],
    dependencies: [
        .package(name: "quire", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .systemLibrary(
            name: "BenchLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "BenchSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(name: "BenchRocksDB", providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])]),
        .target(
            name: "CPeers", dependencies: ["BenchLMDB", "BenchSQLite", "BenchRocksDB"],
            cSettings: strictC,
            linkerSettings: [.linkedLibrary("rocksdb")]),  // it has no pkg-config file
        .target(name: "CPeerTables", dependencies: ["CPeers", "BenchLMDB"], cSettings: strictC),
        .target(name: "CSync", cSettings: strictC),
        .target(name: "CCounts", dependencies: ["BenchLMDB"], cSettings: strictC),
        .executableTarget(
            name: "QuireBench",
            dependencies: [
                "CPeers", "CPeerTables", "CSync", "CCounts",
                .product(name: "Quire", package: "quire"),
                .product(name: "QuireDumps", package: "quire"),
                .product(name: "QuireTesting", package: "quire"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
            // The libraries must find CSync's fsync and open in the executable before libc's, and CCounts'
            // malloc.
            linkerSettings: [.unsafeFlags(["-Xlinker", "--export-dynamic"])]),
        .executableTarget(
            name: "QuirePatterns",
            dependencies: [
                .product(name: "Quire", package: "quire"),
                .product(name: "QuireTesting", package: "quire"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu17
)
