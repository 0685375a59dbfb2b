// What every engine of the benchmark must do. One logical model, so that all of them can be held to the
// same checksums:
//
//   A feed is a list of distinct posts, cut into pages. A page is given whole, top first; of its posts
//   the feed takes those it does not hold yet (they are the page's own posts); the others count as
//   duplicates and stay where they are. A post that several feeds hold has one body: an update is seen
//   in every feed. Pages have an index in their feed: 0 is the topmost, `append` adds below the last,
//   `prepend` adds on top (and so shifts the indexes, which no engine may renumber if it can help it).
//
// Functions return 0, or -1 with a message in `error`. One thread writes; reads may come from several
// threads, each with a reader of its own.
#ifndef QUIRE_BENCH_PEER_H
#define QUIRE_BENCH_PEER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t id;
    int64_t key;            // sort key, descends within a feed
    const uint8_t *body;
    uint32_t size;
} peer_post;

typedef struct {
    uint32_t feed;          // 0, 1, 2 ...; feeds come into being with their first page
    uint32_t count;
    const peer_post *posts;
    int64_t following;      // what the request for the page below would name
} peer_page;

typedef struct {
    uint64_t sum;           // sum over all bodies, by peer_sum, wrapping
    uint32_t posts;
    uint64_t bytes;
} peer_read;

typedef struct {
    uint64_t duplicates;    // posts of the pages that their feed held already
} peer_written;

enum { PEER_ORDINARY = 0, PEER_RELAXED = 1 };  // RELAXED: may lose the last commits in a power cut, never consistency

typedef struct peer peer;
typedef struct {
    const char *name;       // "lmdb-c", "sqlite-norm", ...
    const char *version;    // of the library, filled by `open`
    const char *about;      // one line: layout and settings
    int (*open)(const char *folder, int durability, peer **out);   // creates or opens
    void (*close)(peer *);
    const char *(*error)(peer *);
    // Each call is one transaction, durable when it returns.
    int (*append)(peer *, const peer_page *pages, size_t count, peer_written *out);
    int (*prepend)(peer *, const peer_page *page, peer_written *out);
    int (*update)(peer *, uint64_t id, const uint8_t *body, uint32_t size);
    int (*prune)(peer *, uint32_t feed, uint64_t keep_pages);      // drops all pages below the first `keep_pages`;
                                                                   // posts that no feed holds any longer are gone
    // Each call is one snapshot.
    int (*read_page)(peer *, uint32_t feed, uint64_t index, peer_read *out);          // every byte touched, by peer_sum
    int (*scroll)(peer *, uint32_t feed, uint64_t index, uint64_t pages, peer_read *out);
    int (*contains)(peer *, uint32_t feed, const uint64_t *ids, size_t count, uint8_t *found);  // exact answers
    int (*post)(peer *, uint64_t id, peer_read *out);                                 // posts = 0 if no feed holds it
    uint64_t (*page_count)(peer *, uint32_t feed);
    // For reads on another thread beside a writer: another handle on the same files.
    int (*open_reader)(peer *writer, peer **out);

    // What follows is left out by engines that take arguments as they are.
    const char *(*load)(void);  // what a program has when it starts, not timed; returns a message if it failed
    bool readers_write;     // handles of `open_reader` may write, several at a time; else threads take turns
    // The arguments of the next call in the form in which a program has them in hand. Making it is not timed.
    int (*stage_pages)(peer *, const peer_page *pages, size_t count);   // for `append` and `prepend`
    int (*stage_ids)(peer *, const uint64_t *ids, size_t count);        // for `contains`
    // Pages have numbers that last, and programs read by these. Finding those of pages at an index on is not timed.
    int (*number_pages)(peer *, uint32_t feed, uint64_t index, uint64_t *numbers, size_t *count);   // count: the most
    int (*read_numbered)(peer *, uint32_t feed, const uint64_t *numbers, size_t count, peer_read *out);
} peer_engine;

// 64-bit sum over every byte, eight at a time, the rest as one number. Not inline: the same instructions at the
// same place for each engine. Where a loop begins in a cache line made a tenth of a read.
uint64_t peer_sum(const uint8_t *bytes, size_t size);

extern const peer_engine peer_lmdb_c;        // the practical limit
extern const peer_engine peer_sqlite_norm;   // normalised
extern const peer_engine peer_sqlite_blob;   // page blobs
extern const peer_engine peer_sqlite_article;// as the source articles do it: one query per id, re-index on refresh
extern const peer_engine peer_rocksdb;
extern const peer_engine peer_quire_c;       // Quire's C API
#endif
