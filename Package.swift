// swift-tools-version: 6.3
import PackageDescription

/// Our own targets are held to Swift 6 with no warning left; dependencies are not.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// The engine also lends bytes out of the memory map; the compiler keeps them inside their snapshot.
let engine: [SwiftSetting] = strict + [.enableExperimentalFeature("Lifetimes")]

let package = Package(
    name: "quire",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Quire", targets: ["Quire"]),
        .library(name: "QuireDumps", targets: ["QuireDumps"]),
        .executable(name: "quire", targets: ["QuireCLI"]),
        // What Scripts/check-cost measures.
        .executable(name: "quire-cost", targets: ["QuireCost"]),
        // What `make torture` runs.
        .executable(name: "quire-torture", targets: ["QuireTorture"]),
        // What Packaging/build-library turns into libquire.so.0 and libquire.a.
        .library(name: "QuireC", type: .dynamic, targets: ["QuireC"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CSimdjson", pkgConfig: "simdjson",
            providers: [.apt(["libsimdjson-dev"]), .brew(["simdjson"])]),
        .target(name: "Quire", dependencies: ["CLMDB"], swiftSettings: engine),
        // Path "." lets C, Swift and tests find Include/quire.h, and rebuilds when it changes.
        .target(
            name: "CQuire", path: ".", sources: ["Sources/CQuire"], publicHeadersPath: "Include"),
        .target(name: "QuireC", dependencies: ["Quire", "CQuire"], swiftSettings: strict),
        .target(
            name: "CJSON", dependencies: ["CSimdjson"],
            cxxSettings: [.define("SIMDJSON_THREADS_ENABLED", to: "1")],
            linkerSettings: [.linkedLibrary("simdjson")]),
        .target(
            name: "QuireDumps", dependencies: ["Quire", "CJSON"],
            resources: [.embedInCode("Profiles/BuiltIn")], swiftSettings: strict),
        .target(name: "QuireSimulator", dependencies: ["Quire"], swiftSettings: strict),
        .executableTarget(
            name: "QuireCLI",
            dependencies: [
                "Quire", "QuireDumps", "QuireSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),
        .executableTarget(name: "QuireCost", dependencies: ["Quire"], swiftSettings: strict),
        .target(name: "CRecorder"),
        .executableTarget(
            name: "QuireTorture",
            dependencies: [
                "Quire", "QuireSimulator", "CRecorder",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),
        .testTarget(
            name: "QuireTests", dependencies: ["Quire", "QuireSimulator"],
            resources: [.copy("Scenarios")], swiftSettings: strict),
        .testTarget(
            name: "QuireDumpsTests", dependencies: ["Quire", "QuireDumps"], swiftSettings: strict),
        .testTarget(
            name: "QuireCTests", dependencies: ["Quire", "CQuire", "QuireC"], swiftSettings: strict),
        .testTarget(
            name: "QuireTortureTests", dependencies: ["QuireTorture"], swiftSettings: strict),
        .testTarget(name: "QuireCLITests", dependencies: ["QuireCLI"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
