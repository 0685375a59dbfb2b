// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

func quire(_ names: String...) -> [Target.Dependency] { names.map { .product(name: $0, package: "quire") } }

// One ordered log for many machines, on NATS JetStream. A package of its own, so that what uses Quire on one machine
// links no libnats.
let package = Package(
    name: "quire-cluster",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "QuireCluster", targets: ["QuireCluster"])
    ],
    dependencies: [
        .package(name: "quire", path: "..")
    ],
    targets: [
        .systemLibrary(
            name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
        .target(
            name: "QuireCluster", dependencies: quire("Quire") + ["CNATS"], swiftSettings: strict),
        // Real servers on loopback, and a log in memory that lies.
        .target(
            name: "ClusterTesting", dependencies: quire("Quire", "QuireTesting") + ["QuireCluster"],
            path: "Tests/Support", swiftSettings: strict),
        .testTarget(
            name: "QuireClusterTests",
            dependencies: quire("Quire", "QuireTesting") + ["QuireCluster", "ClusterTesting"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
