// swift-tools-version: 6.3
import PackageDescription

/// Swift 6, and no warning left.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// For `make test` and CI: what ships, and what judges it, optimised in a build that is otherwise one for
/// debugging. The tests then take less than half of the time, and fuzzing shares the build. Flags of this
/// kind would keep others from depending on the package.
let isOptimized = Context.environment["QUIRE_OPTIMIZED"] != nil
let optimized: [SwiftSetting] = isOptimized ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : []
let optimizedCXX: [CXXSetting] = isOptimized ? [.unsafeFlags(["-O2"], .when(configuration: .debug))] : []

/// The engine also lends bytes out of the memory map; the compiler keeps them inside their snapshot.
let engine: [SwiftSetting] = strict + optimized + [.enableExperimentalFeature("Lifetimes")]

/// Its flags hold a macro, which SwiftPM refuses with a warning. On Linux the compiler finds the header
/// without them.
#if os(Linux)
    let simdjsonFlags: String? = nil
#else
    let simdjsonFlags: String? = "simdjson"
#endif

let package = Package(
    name: "quire",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Quire", targets: ["Quire"]),
        .library(name: "QuireDumps", targets: ["QuireDumps"]),
        .library(name: "QuirePaging", targets: ["QuirePaging"]),
        .library(name: "QuireHTTP", targets: ["QuireHTTP"]),
        // A server that inserts, deletes, reorders and lies, and a judge of what a cache made of it: for
        // tests.
        .library(name: "QuireTesting", targets: ["QuireSimulator", "TestSupport"]),
        // What Packaging/build-library turns into libquire.so.0 and libquire.a.
        .library(name: "QuireC", type: .dynamic, targets: ["QuireC"]),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CSimdjson", pkgConfig: simdjsonFlags,
            providers: [.apt(["libsimdjson-dev"]), .brew(["simdjson"])]),
        .systemLibrary(
            name: "CArchive", pkgConfig: "libarchive",
            providers: [.apt(["libarchive-dev"]), .brew(["libarchive"])]),
        .systemLibrary(
            name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"]), .brew(["expat"])]),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .target(name: "Quire", dependencies: ["CLMDB"], swiftSettings: engine),
        // Path "." lets C, Swift and tests find Include/quire.h, and rebuilds when it changes.
        .target(
            name: "CQuire", path: ".", sources: ["Sources/CQuire"], publicHeadersPath: "Include"),
        .target(name: "QuireC", dependencies: ["Quire", "CQuire"], swiftSettings: strict + optimized),
        .target(
            name: "CJSON", dependencies: ["CSimdjson"],
            cxxSettings: [.define("SIMDJSON_THREADS_ENABLED", to: "1")] + optimizedCXX,
            linkerSettings: [.linkedLibrary("simdjson")]),
        .target(
            name: "QuireDumps", dependencies: ["Quire", "CJSON", "CArchive", "CExpat", "CZlib"],
            resources: [.embedInCode("Profiles/BuiltIn")], swiftSettings: strict + optimized),
        // For libquire-profiles, which Packaging/build-library compiles with the part of QuireDumps that it
        // needs.
        .target(
            name: "QuireProfilesC", dependencies: ["Quire", "QuireDumps", "CQuire", "QuireC"],
            swiftSettings: strict + optimized),
        .target(name: "QuirePaging", dependencies: ["Quire"], swiftSettings: strict),
        .target(
            name: "QuireHTTP", dependencies: ["Quire", "QuireDumps", "QuirePaging"],
            swiftSettings: strict),
        .target(
            name: "QuireSimulator", dependencies: ["Quire"], path: "Tests/Simulator",
            swiftSettings: strict + optimized),
        .target(
            name: "TestSupport", dependencies: ["Quire", "QuireSimulator"], path: "Tests/Support",
            swiftSettings: strict + optimized),
        .testTarget(
            name: "QuireTests", dependencies: ["Quire", "QuireSimulator", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "QuireDumpsTests", dependencies: ["Quire", "QuireDumps", "CArchive"],
            swiftSettings: strict),
        .testTarget(
            name: "QuireCTests",
            dependencies: ["Quire", "CQuire", "QuireC", "QuirePaging", "QuireSimulator", "TestSupport"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

/// Everything about fuzzing is one folder. Its targets run in the tests, on what was found before;
/// Scripts/fuzz builds them as a library instead, and links libFuzzer to it.
let fuzzed: [Target.Dependency] = ["Quire", "QuireDumps", "CQuire", "QuireC"]
if Context.environment["QUIRE_FUZZ"] == nil {
    package.targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["Corpus", "Dictionaries", "Driver", "Unguided"], sources: ["Targets", "Replay"],
            swiftSettings: strict))
} else {
    package.products.append(.library(name: "QuireFuzz", type: .static, targets: ["QuireFuzz"]))
    package.targets.append(
        .target(
            name: "QuireFuzz", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["Corpus", "Dictionaries", "Replay", "Unguided"], sources: ["Targets", "Driver"],
            swiftSettings: strict + optimized))
}
