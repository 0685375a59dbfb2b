// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

func quire(_ names: String...) -> [Target.Dependency] { names.map { .product(name: $0, package: "quire") } }

let arguments: [Target.Dependency] = [.product(name: "ArgumentParser", package: "swift-argument-parser")]

// What needs other packages, so that an app that uses Quire fetches none: the tool, a server for tests, and
// the programs that try the engine hard.
let package = Package(
    name: "quire-tools",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "quire", targets: ["QuireCLI"]),
        // What Scripts/check-cost measures.
        .executable(name: "quire-cost", targets: ["QuireCost"]),
        // What `make torture` runs.
        .executable(name: "quire-torture", targets: ["QuireTorture"]),
    ],
    dependencies: [
        .package(name: "quire", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .executableTarget(
            name: "QuireCLI",
            dependencies: quire("Quire", "QuireDumps", "QuireHTTP", "QuirePaging", "QuireTesting") + arguments
                + ["QuireInspector"],
            swiftSettings: strict),
        // What `quire report` and `quire serve` show. The page is plain files, which the program holds.
        .target(
            name: "QuireInspector",
            dependencies: quire("Quire", "QuirePaging") + [
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ], resources: [.embedInCode("Page")], swiftSettings: strict),
        .executableTarget(name: "QuireCost", dependencies: quire("Quire"), swiftSettings: strict),
        .target(name: "CRecorder"),
        .executableTarget(
            name: "QuireTorture", dependencies: quire("Quire", "QuireTesting") + ["CRecorder"] + arguments,
            swiftSettings: strict),
        .executableTarget(
            name: "QuireSoak", dependencies: quire("Quire", "QuireTesting"), exclude: ["thread.suppressions"],
            swiftSettings: strict),
        // Servers for the tests of what asks over HTTP.
        .target(
            name: "LoopbackServers",
            dependencies: [
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ], path: "Tests/LoopbackServers", swiftSettings: strict),
        .testTarget(
            name: "QuireCLITests",
            dependencies: quire("Quire", "QuirePaging", "QuireTesting") + ["QuireCLI", "LoopbackServers"] + [
                .product(name: "FlyingFox", package: "FlyingFox")
            ], swiftSettings: strict),
        .testTarget(
            name: "QuireInspectorTests",
            dependencies: quire("Quire", "QuirePaging", "QuireTesting") + ["QuireInspector"],
            swiftSettings: strict),
        .testTarget(name: "QuireTortureTests", dependencies: ["QuireTorture"], swiftSettings: strict),
        .testTarget(
            name: "QuirePagingTests",
            dependencies: quire("Quire", "QuireDumps", "QuireHTTP", "QuirePaging", "QuireTesting") + [
                "LoopbackServers",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
