// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// One ordered log for many machines, on NATS JetStream. A package of its own, so that what uses Quire on one
// machine links no libnats.
let package = Package(
    name: "quire-cluster",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "QuireCluster", targets: ["QuireCluster"])
    ],
    dependencies: [.package(name: "quire", path: "..")],
    targets: [
        .systemLibrary(
            name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
        .target(
            name: "QuireCluster", dependencies: ["CNATS", .product(name: "Quire", package: "quire")],
            swiftSettings: strict),
        // Real servers on loopback, and a log that lies.
        .target(
            name: "ClusterTesting",
            dependencies: ["QuireCluster", .product(name: "QuireTesting", package: "quire")],
            path: "Tests/Support", swiftSettings: strict),
        .testTarget(
            name: "QuireClusterTests",
            dependencies: [
                "QuireCluster", "ClusterTesting", .product(name: "QuireTesting", package: "quire"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
