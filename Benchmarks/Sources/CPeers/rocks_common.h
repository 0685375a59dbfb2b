// Private to the rocksdb engine: its store, keys and small look-ups.
#ifndef QUIRE_BENCH_ROCKS_COMMON_H
#define QUIRE_BENCH_ROCKS_COMMON_H
#include "blob_page.h"
#include <rocksdb/c.h>
#include <stdatomic.h>

enum { PAGES, IDS, FEEDS, FAMILIES };
enum { PAGE_KEY = 8, ID_KEY = 12, FEED_KEY = 4 };

typedef struct {
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family[FAMILIES];
    rocksdb_options_t *options[FAMILIES];
    rocksdb_cache_t *cache;
    atomic_int users;
} store;

typedef struct { uint32_t feed, head, pages; } feed_record;     // pages lie at the ords head .. head + pages - 1

// What the running call has added: the batch cannot be asked.
typedef struct { uint64_t id; uint32_t feed, size; const uint8_t *body; bool used; } pending;

struct peer {
    store *store;
    rocksdb_readoptions_t *read, *seek;
    rocksdb_writeoptions_t *write;
    rocksdb_writebatch_t *batch;
    pending *pending;
    size_t pending_mask, pending_room;
    feed_record *feed;              // of the running call
    size_t feeds, feed_room;
    peer_post *own;
    uint32_t own_room;
    arena bodies;
    char error[400];
};

#pragma GCC visibility push(hidden)      // private names stay out of the program's dynamic symbols
int rocks_fail(peer *, char *error);        // frees the library's message; 0 if there is none
int rocks_complain(peer *, const char *text);
int get_feed(peer *, const rocksdb_readoptions_t *, uint32_t feed, feed_record *out);
void page_key(char *key, uint32_t feed, uint32_t ord);
void id_key(char *key, uint64_t id, uint32_t feed);
uint32_t key_half(const char *at);
// NULL with an error noted, if the page is missing or damaged. The slice is the caller's to destroy.
rocksdb_pinnableslice_t *get_page(peer *, const rocksdb_readoptions_t *, uint32_t feed, uint32_t ord, blob_page *);

int rocks_append(peer *, const peer_page *, size_t, peer_written *);
int rocks_prepend(peer *, const peer_page *, peer_written *);
int rocks_update(peer *, uint64_t, const uint8_t *, uint32_t);
int rocks_prune(peer *, uint32_t, uint64_t);
#pragma GCC visibility pop
#endif
