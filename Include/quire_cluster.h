/*
 * quire_cluster.h - a cache that several machines share. This file is the manual of what the library quire-cluster
 * has beside all of quire.h: link with it in the place of quire, not beside it.
 *
 * The machines keep one ordered log on NATS JetStream, and each has a replica of the cache on its own disk. A
 * quire_cache from here is used as any other: reading is local, and each write is an entry of the log. It returns
 * when this machine has applied it. Docs/cluster.md says what is promised.
 *
 *     quire_cluster *cluster = NULL;
 *     quire_cluster_open("nats://10.0.0.1:4222,10.0.0.2:4222,10.0.0.3:4222/news", "/var/lib/app", &cluster);
 *     quire_cache *cache = NULL;
 *     quire_bytes shard = {NULL, 0};
 *     quire_cluster_cache(cluster, shard, &cache);
 *     quire_feed_open(cache, name, NULL, &feed);           (and on as in quire.h)
 *
 * What differs from a cache of one machine:
 *   - Writes return QUIRE_UNAVAILABLE if the log cannot be reached and nothing was written, and QUIRE_IN_DOUBT if it
 *     may have been, or may be yet. Reading goes on.
 *   - If the log loses entries that it had acknowledged, the replica is made anew. A snapshot that was begun before
 *     shows the old state; using it with feeds returns QUIRE_BAD_ARGUMENT. Begin another one.
 *   - There are no batches: quire_batch_run() returns QUIRE_BAD_ARGUMENT, and so does a write that is given one.
 *   - The numbers of tickets are good in the process that planned them.
 *   - quire_reclaim() and other upkeep is of this machine's file.
 *
 * The house rules of quire.h hold, with its last error. Every function here may also return QUIRE_MISCONFIGURED: the
 * address does not read, or the servers are set up in a way that would lose entries. The library makes threads.
 */
#ifndef QUIRE_CLUSTER_H
#define QUIRE_CLUSTER_H

#include "quire.h"

#if defined(__clang__) && !defined(__swift__)
#if __has_feature(nullability)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#define QUIRE_POP_DIAGNOSTIC
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* This machine's part of a shared cache. A handle, as those of quire.h are. */
typedef struct quire_cluster quire_cluster;

/*
 * Opens this machine's part: its replicas in a folder, and the connection to the log.
 * address: nats://HOST[:PORT][,HOST...]/NAME, or tls://. A user and a password may stand before the first host.
 * Options follow a question mark: shards=a,b; replicas=1 allows a log that one server keeps; create=no;
 * timeout=SECONDS of a write; credentials, ca, certificate, key are paths; hostname;
 * old-servers=yes allows servers before 2.12, which lose acknowledged writes when one is cut off.
 * folder: one program at a time may use it; else QUIRE_BUSY.
 * That no server answers is no error: what was applied can be read. [any] Since 0.1
 */
quire_status quire_cluster_open(
    const char *QUIRE_NONNULL address, const char *QUIRE_NONNULL folder,
    quire_cluster *QUIRE_NULLABLE *QUIRE_NONNULL out_cluster);

/* Ends following the log. Caches and feeds can be read on; their writes return QUIRE_UNAVAILABLE. [any] Since 0.1 */
void quire_cluster_close(quire_cluster *QUIRE_NULLABLE cluster);

/*
 * The cache of a shard. Close it as any other; the cluster stays open.
 * shard: its name; no bytes if there is only one. Errors: QUIRE_NOT_FOUND. [any] Since 0.1
 */
quire_status quire_cluster_cache(
    quire_cluster *QUIRE_NONNULL cluster, quire_bytes shard, quire_cache *QUIRE_NULLABLE *QUIRE_NONNULL out_cache);

/*
 * The cache of the shard that a feed with this name belongs to: where all machines that do not say otherwise look
 * for it. [any] Since 0.1
 */
quire_status quire_cluster_cache_of_feed(
    quire_cluster *QUIRE_NONNULL cluster, quire_bytes feed, quire_cache *QUIRE_NULLABLE *QUIRE_NONNULL out_cache);

/* How a shard is doing on this machine. */
typedef struct quire_shard_status {
    uint32_t struct_size;
    /* 1: it applies no entries now. */
    int32_t is_stalled;
    /* The newest entry that is applied here, and the digest of the history up to it: two machines with the same
       digest hold the same. */
    uint64_t applied;
    uint64_t digest;
    /* The newest entry of the log that was seen. */
    uint64_t end;
    /* Since it was opened: how many entries were applied, how often the replica was made anew, how many writes of
       this machine, whose effect it was told, are not in the history that stays. */
    uint64_t entries;
    uint64_t rebuilds;
    uint64_t lost;
} quire_shard_status;

#define QUIRE_SHARD_STATUS_INIT { sizeof(quire_shard_status), 0, 0, 0, 0, 0, 0, 0 }

/* shard: as for quire_cluster_cache(). Errors: QUIRE_NOT_FOUND. [any] Since 0.1 */
quire_status quire_cluster_get_status(
    quire_cluster *QUIRE_NONNULL cluster, quire_bytes shard, quire_shard_status *QUIRE_NONNULL out_status);

/*
 * Waits until this machine has applied an entry: what another one wrote with it can be read here then.
 * Errors: QUIRE_UNAVAILABLE if it has not within the timeout; QUIRE_NOT_FOUND for the shard. [any] Since 0.1
 */
quire_status quire_cluster_wait(quire_cluster *QUIRE_NONNULL cluster, quire_bytes shard, uint64_t number);

/* Stores a checkpoint of a shard and trims its log, which happens by itself, too. [any] Since 0.1 */
quire_status quire_cluster_checkpoint(quire_cluster *QUIRE_NONNULL cluster, quire_bytes shard);

#ifdef __cplusplus
}
#endif

#ifdef QUIRE_POP_DIAGNOSTIC
#pragma clang diagnostic pop
#undef QUIRE_POP_DIAGNOSTIC
#endif

#endif
