// Private to sqlite-blob and rocksdb: a page as one value. Count, bytes, ids, keys, ends of the bodies, bodies:
// ids first, so that they can be had without the bodies; one contiguous scan for the bodies.
#ifndef QUIRE_BENCH_BLOB_PAGE_H
#define QUIRE_BENCH_BLOB_PAGE_H
#include "peer.h"
#include <stdbool.h>

typedef struct {
    const uint8_t *start, *ids, *ends, *bodies;
    uint32_t count;
} blob_page;

#pragma GCC visibility push(hidden)      // private names stay out of the program's dynamic symbols
bool blob_open(const void *value, size_t size, blob_page *out);     // false: not a page
uint64_t blob_id(const blob_page *, uint32_t slot);
const uint8_t *blob_body(const blob_page *, uint32_t slot, uint32_t *size);
bool blob_slot(const blob_page *, uint64_t id, uint32_t *slot);
void blob_sum(const blob_page *, peer_read *out);                   // adds
// Both give a value from malloc; NULL: out of memory.
uint8_t *blob_build(const peer_post *posts, uint32_t count, size_t *size);
uint8_t *blob_replace(const blob_page *, uint32_t slot, const uint8_t *body, uint32_t length, size_t *size);

// A post's own copies of bodies, valid until cleared.
typedef struct { void **piece; size_t count, room; } arena;
uint8_t *arena_copy(arena *, const uint8_t *bytes, uint32_t size);  // NULL: out of memory
void arena_clear(arena *);
void arena_free(arena *);
#pragma GCC visibility pop
#endif
