// Private to the lmdb-c engine: what lies in the file, and the views through which it is seen.
// The layout and what each choice buys is told at the top of peer_lmdb_c.c.
#ifndef QUIRE_BENCH_LMDB_C_H
#define QUIRE_BENCH_LMDB_C_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE                 // clock_gettime, CLOCK_REALTIME_COARSE
#endif
#include "peer.h"
#include <lmdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

// ---- Records -------------------------------------------------------------------------------------

// Keys of the one INTEGERKEY tree. System records sort below all feeds, so the state and the two tail
// halves fill exactly one leaf. A feed's own record sorts right behind its last page, so that an append
// dirties one leaf for both; a page's overlay sorts right behind the page, so that a read finds it with
// one cursor step.
enum { KEY_STATE = 0, KEY_TAIL = 1 };
#define KEY_CHUNK(number) ((UINT64_C(1) << 30) + (number))
#define KEY_RUN(number) ((UINT64_C(1) << 32) + (number))
#define KEY_PAGE(feed, ord) (((uint64_t)(feed) + 1) << 33 | (uint64_t)(ord) << 1)
#define KEY_OVERLAY(feed, ord) (KEY_PAGE(feed, ord) | 1)
#define KEY_FEED(feed) KEY_OVERLAY(feed, UINT32_MAX)
#define MAX_FEED ((UINT32_C(1) << 24) - 2)
#define FIRST_ORD (UINT32_C(1) << 31)

// Where a post is: feed, page and slot in the page (255: at 255 or later, search).
#define LOC(feed, ord, slot) ((uint64_t)(feed) << 40 | (uint64_t)(ord) << 8 | ((slot) < 255 ? (slot) : 255))
#define LOC_FEED(loc) ((uint32_t)((loc) >> 40))
#define LOC_ORD(loc) ((uint32_t)((loc) >> 8))
#define LOC_SLOT(loc) ((uint32_t)((loc) & 255))
#define NOWHERE UINT64_MAX
#define NO_FEED UINT32_MAX
#define NO_SNAPSHOT (UINT64_MAX - 1)

typedef struct { uint64_t hash, loc; } entry;

// A run: entries in the order of their hash, each in its bucket of 16 slots (hash scaled to `buckets`) or,
// when the buckets before were too full, behind its predecessor; so a search goes from the bucket's start
// to the first empty slot. A tag per slot says empty (0) or the low byte of the hash: one cache line of tags
// settles seven misses of eight without a branch, in an array that the caches hold.
typedef struct {
    uint64_t check, number;
    uint32_t count, buckets, slots, pad;
} run;                              // then a tag per slot, then the slots (whole buckets, the last slot empty)
enum { BUCKET = 16 };

typedef struct { uint64_t number, count; } run_ref;

// With the node headers the state and both tail halves take 4,070 of the 4,080 bytes of a leaf.
enum { MAX_RUNS = 36, HALF_WORDS = 210, TAIL_WORDS = 2 * HALF_WORDS };
typedef struct {
    uint64_t check, generation, next_run, next_chunk, first_chunk, flushes;
    uint32_t used, runs;            // words in the tail, runs in the directory
    uint64_t posts;                 // entries of all feeds
    run_ref run[MAX_RUNS];
} state_record;
typedef struct { uint64_t check, word[HALF_WORDS]; } half_record;

// Change-log records, in the tail or in a chunk: generation; kind, count; place; `count` ids.
enum { LOG_INSERT = 1, LOG_UPDATE = 2, LOG_REMOVE = 3, LOG_HEAD = 3, LOG_KEPT = 1024 };
#define LOG_WORD(kind, count) ((uint64_t)(kind) << 56 | (count))
#define LOG_KIND(word) ((int)((word) >> 56))
#define LOG_COUNT(word) ((uint32_t)(word))
typedef struct { uint64_t check, last, word[]; } chunk_record;  // last: its newest generation

typedef struct { uint32_t first, count; } extent;
typedef struct {
    uint64_t check, generation, pages, posts;
    uint32_t low, next;             // ords are given out downwards below `low` and upwards from `next`
    uint32_t overlays, extents;     // live ords, in page order; ords are never used twice
    uint8_t link[16];               // the open link below the last page
} feed_record;

typedef struct {
    uint64_t check, generation, fetched;
    uint8_t link[16];
    uint32_t count, bytes;
} page_record;                      // then ids, keys, ends of the bodies (u32), bodies

typedef struct { uint64_t check; uint32_t count, bytes; } overlay_record;   // then (slot, end), bodies
enum { MAX_OVERLAID = 8 };

// ---- Views ---------------------------------------------------------------------------------------

typedef struct { entry *slot; size_t mask, count; } table;      // open addressing; a hash may occur often

typedef struct feed feed;
struct feed {
    uint64_t epoch;                 // of the view: otherwise this copy is stale
    feed *next;                     // in the list of those to be written
    bool dirty;
    uint32_t number;
    feed_record record;             // pages == 0 and next == 0: does not exist
    extent *extent;
    size_t room;
};

// What one snapshot looks like, kept from one transaction to the next. A run never changes and an
// overflow value never moves, so a pointer to a run stays good as long as the directory names the run.
typedef struct {
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_dbi dbi;
    uint64_t snapshot, epoch;
    state_record state;
    uint64_t tail[TAIL_WORDS];
    const run *run[MAX_RUNS];       // NULL: not looked up yet
    table recent;                   // the inserted ids of the tail (and of the running commit)
    uint64_t recent_flushes;
    uint32_t recent_used;
    feed **feed;
    uint32_t feeds;
} view;

typedef struct {
    MDB_env *env;
    MDB_dbi dbi;
    atomic_int users;
} store;

// An own post of the page being written; `shared`: its body stands in the scratch.
typedef struct { uint32_t index, size; size_t at; bool shared; } piece;

struct peer {
    store *store;
    view read, write;
    feed *dirty;                    // feeds changed by the running commit
    uint64_t *word;                 // the log of the running commit
    size_t words, word_room;
    uint8_t *scratch;
    size_t scratch_room;
    uint64_t *hash, *here, *there;  // of the page or query in work
    piece *piece;
    size_t hash_room, piece_room;
    uint64_t token;                 // source of the links
    char error[256];
};

// One post's body inside a page as a reader sees it.
typedef struct {
    const uint8_t *ids, *ends, *bodies, *overlay;
    uint32_t count;
} page_view;

static inline uint64_t word_at(const uint8_t *at) { uint64_t v; memcpy(&v, at, 8); return v; }
static inline uint32_t half_at(const uint8_t *at) { uint32_t v; memcpy(&v, at, 4); return v; }
static inline size_t page_head(size_t count) { return sizeof(page_record) + count * 20; }

static inline uint8_t *run_tags(const run *r) { return (uint8_t *)(uintptr_t)(r + 1); }
static inline entry *run_slots(const run *r) { return (entry *)(void *)(run_tags(r) + r->slots); }
static inline size_t run_size(uint64_t slots) { return sizeof(run) + slots * (1 + sizeof(entry)); }
static inline uint8_t tag_of(uint64_t hash) { return (uint8_t)hash != 0 ? (uint8_t)hash : 1; }

// Bijective, so equal hashes are equal ids, and spreads even sequential ids.
static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

#pragma GCC visibility push(hidden)      // private names stay out of the program's dynamic symbols
// store: environment, views, feeds
int fail(peer *, const char *where, int code);
uint64_t checksum(const void *bytes, size_t size);
int get(view *, uint64_t key, MDB_val *value);
int read_begin(peer *);
void read_end(peer *);
int write_begin(peer *);
void write_cancel(peer *);                      // nothing was changed
void write_abort(peer *);
feed *feed_at(view *, uint32_t number);         // NULL: out of memory
bool feed_holds(const feed *, uint32_t ord);
bool feed_ord(const feed *, uint64_t index, uint32_t *ord);
int grow_hashes(peer *, size_t count);
// index
const run *run_at(view *, uint32_t i);
bool table_add(table *, entry);
void table_clear(table *);
int find_all(view *, uint32_t feed, const uint64_t *hash, size_t count, uint64_t *here, uint64_t *there);
int find_places(peer *, uint64_t hash, size_t *count);          // all live ones, into `hash` of the peer
int flush_tail(peer *);
// read
int open_page(view *, uint32_t feed, uint32_t ord, page_view *);
void view_page(MDB_val page, const uint8_t *overlay, page_view *);
const uint8_t *page_body(const page_view *, uint32_t slot, uint32_t *size);
bool page_slot(const page_view *, uint64_t id, uint32_t hint, uint32_t *slot);
int lmdb_read_page(peer *, uint32_t, uint64_t, peer_read *);
int lmdb_scroll(peer *, uint32_t, uint64_t, uint64_t, peer_read *);
int lmdb_contains(peer *, uint32_t, const uint64_t *, size_t, uint8_t *);
int lmdb_post(peer *, uint64_t, peer_read *);
uint64_t lmdb_page_count(peer *, uint32_t);
// write
int put(view *, uint64_t key, MDB_val *value, unsigned flags);
int commit(peer *);                                             // ends the transaction, also when it fails
uint64_t *log_add(peer *, int kind, uint64_t place, size_t count);  // where the ids go; NULL: out of memory
void touch(peer *, feed *);
int need_scratch(peer *, size_t size);
int lmdb_append(peer *, const peer_page *, size_t, peer_written *);
int lmdb_prepend(peer *, const peer_page *, peer_written *);
int lmdb_update(peer *, uint64_t, const uint8_t *, uint32_t);
int lmdb_prune(peer *, uint32_t, uint64_t);
#pragma GCC visibility pop
#endif
