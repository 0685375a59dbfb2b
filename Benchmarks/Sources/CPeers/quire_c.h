// Private to the quire-c engine.
#ifndef QUIRE_BENCH_QUIRE_C_H
#define QUIRE_BENCH_QUIRE_C_H
#include "peer.h"
#include "../../../Include/quire.h"
#include <stdbool.h>

// The functions of quire.h that are used, as the library has them that was loaded.
#define QUIRE_C_FUNCTIONS(X)                                                                                \
    X(batch_run) X(close) X(contains) X(feed_close) X(feed_get_info) X(feed_open) X(ingest) X(last_error)   \
    X(open) X(outcome_free) X(plan) X(post_get_info) X(prune) X(read_page) X(read_pages) X(request_free)    \
    X(snapshot_begin) X(snapshot_end) X(update_body) X(version_string)

typedef struct {
#define QUIRE_C_POINTER(name) __typeof__(&quire_##name) name;
    QUIRE_C_FUNCTIONS(QUIRE_C_POINTER)
} quire_functions;

extern quire_functions quire;

typedef struct {
    quire_feed *handle;
    bool is_filled;             // it has a page, or gets one from what is staged
} quire_c_feed_state;

typedef struct {
    quire_c_feed_state *feed;
    bool is_first;
    quire_answer answer;
    char link[32];
} staged_page;

enum { MOST_FEEDS = 1 << 16 };

struct peer {
    quire_cache *cache;
    bool is_owner;              // of the cache, which readers and further writers borrow
    quire_c_feed_state *feeds[MOST_FEEDS];
    // Staged for append and prepend.
    staged_page *pages;
    quire_post *posts;
    char (*digits)[QUIRE_DIGITS];
    size_t page_count, page_room, post_room;
    // Staged for contains.
    quire_bytes *ids;
    char (*id_digits)[QUIRE_DIGITS];
    size_t id_room;
    // Of the batch that runs.
    bool is_refresh;
    uint64_t duplicates;
    char error[1200];
};

int quire_c_complain(peer *p, const char *format, ...);
int quire_c_check(peer *p, quire_status status);

// The text of a number, which the library keeps as an integer.
quire_bytes quire_c_text(uint64_t id, char digits[QUIRE_DIGITS]);

// The feed with this number; it comes into being if there is none.
quire_c_feed_state *quire_c_feed(peer *p, uint32_t number);

int quire_c_get_info(peer *p, quire_feed *handle, quire_feed_info *out);

int quire_c_stage_pages(peer *p, const peer_page *pages, size_t count);
int quire_c_append(peer *p, const peer_page *pages, size_t count, peer_written *out);
int quire_c_prepend(peer *p, const peer_page *page, peer_written *out);
int quire_c_update(peer *p, uint64_t id, const uint8_t *body, uint32_t size);
int quire_c_prune(peer *p, uint32_t number, uint64_t keep_pages);

int quire_c_number_pages(peer *p, uint32_t number, uint64_t index, uint64_t *numbers, size_t *count);
int quire_c_read_numbered(peer *p, uint32_t number, const uint64_t *numbers, size_t count, peer_read *out);
int quire_c_read_page(peer *p, uint32_t number, uint64_t index, peer_read *out);
int quire_c_scroll(peer *p, uint32_t number, uint64_t index, uint64_t pages, peer_read *out);
int quire_c_stage_ids(peer *p, const uint64_t *ids, size_t count);
int quire_c_contains(peer *p, uint32_t number, const uint64_t *ids, size_t count, uint8_t *found);
int quire_c_post(peer *p, uint64_t id, peer_read *out);
uint64_t quire_c_page_count(peer *p, uint32_t number);
#endif
