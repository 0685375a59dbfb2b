// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

// One ordered log for many machines, on NATS JetStream. A package of its own, so that what uses Quire on one
// machine links no libnats.
let package = Package(
    name: "quire-cluster",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "QuireCluster", targets: ["QuireCluster"]),
        // Pagers and reading states that write through the log.
        .library(name: "QuireClusterPaging", targets: ["QuireClusterPaging"]),
        .executable(name: "quire-node", targets: ["QuireNode"]),
        // What `make cluster-demo` runs.
        .executable(name: "quire-cluster-demo", targets: ["QuireClusterDemo"]),
        .executable(name: "quire-cluster-torture", targets: ["QuireClusterTorture"]),
    ],
    dependencies: [
        .package(name: "quire", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
        .target(
            name: "QuireCluster", dependencies: ["CNATS", .product(name: "Quire", package: "quire")],
            swiftSettings: strict),
        .target(
            name: "QuireClusterPaging",
            dependencies: ["QuireCluster", .product(name: "QuirePaging", package: "quire")],
            swiftSettings: strict),
        // A node as a program, with its figures over HTTP.
        .executableTarget(
            name: "QuireNode",
            dependencies: [
                "QuireCluster", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "QuireClusterDemo",
            dependencies: [
                "QuireCluster", "ClusterTesting", .product(name: "QuireTesting", package: "quire"),
            ], swiftSettings: strict),
        // What `make torture-cluster` runs.
        .executableTarget(
            name: "QuireClusterTorture",
            dependencies: ["QuireCluster", "ClusterTesting", .product(name: "Quire", package: "quire")],
            swiftSettings: strict),
        // Real servers on loopback, and a log that lies.
        .target(
            name: "ClusterTesting",
            dependencies: ["QuireCluster", .product(name: "QuireTesting", package: "quire")],
            path: "Tests/Support", swiftSettings: strict),
        .testTarget(
            name: "QuireClusterTests",
            dependencies: [
                "QuireCluster", "QuireClusterPaging", "ClusterTesting",
                .product(name: "QuireTesting", package: "quire"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
