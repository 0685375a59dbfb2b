import Quire
import QuireCluster
import QuirePaging

/// A pager, a reading state and a model of a screen run on a feed of a cluster as on one of this machine:
///
///     let pager = Pager(try await cluster.feed(named: "home"), source: Questions())
///
/// A caller that needs a page waits, if another node is asking for the same page already.
extension ClusterFeed: FeedWriting {}
