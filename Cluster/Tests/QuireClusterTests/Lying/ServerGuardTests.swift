import ClusterTesting
import Foundation
import Quire
import Testing

@testable import QuireCluster

/// The guard against servers that keep different entries under one number.
@Suite struct ServerGuardTests {
    /// Three nodes that have applied four entries of the first.
    private func world() async throws -> ClusterWorld {
        let world = try ClusterWorld(seed: 3, faults: LyingLog.Faults())
        for i in 0..<4 as Range<UInt8> {
            _ = try await world.write([.setAttribute("a", to: [i])], through: 0)
        }
        try await world.settle()
        return world
    }

    /// A server that leads anew keeps another entry in the middle, and the same at the end. No node may go on
    /// with what it has from the old one.
    @Test func aLeaderWithOthersInTheMiddleIsNoticed() async throws {
        let world = try await world()
        world.log.diverge(0, 2...2)
        _ = try await world.write([.setAttribute("b", to: [1])], through: 1)
        _ = try await world.write([.setAttribute("b", to: [2])], through: 0)
        try await world.settle()
        #expect(await world.nodes.map { $0.shard.status.rebuilds } == [1, 1, 1])
        // what follows the other entry was written for a history that is lost
        #expect(await world.nodes[0].shard.lost.count == 3)
        let cache = await world.nodes[2].shard.cache
        #expect(try cache.withSnapshot { try $0.attribute("b") } == [2])
    }

    /// Nodes that are answered by servers with different entries have different histories as long as that
    /// lasts. One of them is that of the log in the end: the others say what they lost.
    @Test func serversThatKeepOthersAreToldApart() async throws {
        let world = try await world()
        world.log.diverge(1, 2...3)
        world.log.change(1, to: 1)
        world.log.change(2, to: 2)
        _ = try await world.write([.setAttribute("b", to: [1])], through: 1)
        _ = try await world.write([.setAttribute("c", to: [1])], through: 2)
        _ = try await world.write([.setAttribute("b", to: [2])], through: 1)
        // it has no effect where others stand under 2 and 3
        #expect(try await world.nodes[1].shard.cache.withSnapshot { try $0.attribute("c") } == nil)
        try await world.settle()
        #expect(await world.nodes.map { $0.shard.status.rebuilds } == [0, 2, 0])
        #expect(await world.nodes.map { $0.shard.status.lost } == [0, 2, 0])
    }
}
