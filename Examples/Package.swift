// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let quire: [Target.Dependency] = ["Quire", "QuireDumps", "QuireHTTP", "QuirePaging"].map {
    .product(name: $0, package: "quire")
}

/// One of the programs of README.md.
func example(_ name: String) -> Target {
    .executableTarget(name: name, dependencies: ["Stage"] + quire, swiftSettings: strict)
}

// A package of its own, so that a build of Quire does not build a web server.
let package = Package(
    name: "quire-examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "quire", path: ".."),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        // What is around the examples: a server on loopback, a cache in a folder of its own, pictures.
        .target(
            name: "Stage", dependencies: quire + [.product(name: "FlyingFox", package: "FlyingFox")],
            swiftSettings: strict),
        example("StackOverflowFeed"), example("LimitOffsetFeed"), example("MusicStore"),
        example("RepositorySearch"), example("NewsStore"), example("ReaderTimeline"),
        example("ChatHistory"),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "StackOverflowFeed", "LimitOffsetFeed", "MusicStore", "RepositorySearch", "NewsStore",
                "ReaderTimeline", "ChatHistory",
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
