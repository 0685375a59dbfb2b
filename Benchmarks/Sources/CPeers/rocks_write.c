// rocksdb: writing. Each call collects one WriteBatch; what it needs to see of its own doings (posts and
// feeds of earlier pages of the call) it keeps beside it.
#include "rocks_common.h"
#include <stdlib.h>
#include <string.h>

static int no_memory(peer *p) { return rocks_complain(p, "out of memory"); }

// ---- The call's own doings -----------------------------------------------------------------------

static void clear(peer *p) {
    rocksdb_writebatch_clear(p->batch);
    arena_clear(&p->bodies);
    p->feeds = 0;
}

static int expect(peer *p, size_t posts) {
    size_t room = 64;
    while (room < posts * 2 + 1) room *= 2;
    if (room > p->pending_room) {
        pending *more = realloc(p->pending, room * sizeof *more);
        if (more == NULL) return no_memory(p);
        p->pending = more;
        p->pending_room = room;
    }
    p->pending_mask = room - 1;
    memset(p->pending, 0, room * sizeof *p->pending);
    return 0;
}

static size_t pending_start(const peer *p, uint64_t id) {
    return (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & p->pending_mask;
}

static void note(peer *p, const peer_post *post, uint32_t feed) {
    size_t at = pending_start(p, post->id);
    while (p->pending[at].used) at = (at + 1) & p->pending_mask;
    p->pending[at] = (pending){post->id, feed, post->size, post->body, true};
}

static feed_record *feed_of(peer *p, uint32_t number) {
    for (size_t i = 0; i < p->feeds; i++)
        if (p->feed[i].feed == number) return &p->feed[i];
    if (p->feeds == p->feed_room) {
        feed_record *more = realloc(p->feed, (p->feed_room * 2 + 8) * sizeof *more);
        if (more == NULL) {
            no_memory(p);
            return NULL;
        }
        p->feed = more;
        p->feed_room = p->feed_room * 2 + 8;
    }
    if (get_feed(p, p->read, number, &p->feed[p->feeds]) != 0) return NULL;
    return &p->feed[p->feeds++];
}

static int finish(peer *p, int failed) {
    char *error = NULL;
    for (size_t i = 0; failed == 0 && i < p->feeds; i++) {
        char key[PAGE_KEY];
        page_key(key, p->feed[i].feed, 0);
        rocksdb_writebatch_put_cf(p->batch, p->store->family[FEEDS], key, FEED_KEY, (const char *)&p->feed[i],
                                  sizeof p->feed[i]);
    }
    if (failed == 0) rocksdb_write(p->store->db, p->write, p->batch, &error);
    clear(p);
    return failed != 0 ? -1 : rocks_fail(p, error);
}

// ---- Append and prepend --------------------------------------------------------------------------

static int take_over(peer *p, uint32_t feed, uint32_t ord, peer_post *post) {
    blob_page page;
    uint32_t slot, size;
    rocksdb_pinnableslice_t *slice = get_page(p, p->read, feed, ord, &page);
    if (slice == NULL) return -1;
    bool there = blob_slot(&page, post->id, &slot);
    const uint8_t *body = there ? blob_body(&page, slot, &size) : NULL;
    post->body = there ? arena_copy(&p->bodies, body, size) : NULL;
    if (there) post->size = size;
    rocksdb_pinnableslice_destroy(slice);
    return post->body != NULL ? 0 : rocks_complain(p, there ? "out of memory" : "index names a wrong page");
}

// Does this feed hold the post? If only others do, theirs is the body.
static int look(peer *p, rocksdb_iterator_t *i, uint32_t feed, peer_post *post, bool *held) {
    bool other = false;
    uint32_t other_feed = 0, other_ord = 0;
    const pending *mine = NULL;
    *held = false;
    for (size_t at = pending_start(p, post->id); p->pending[at].used; at = (at + 1) & p->pending_mask) {
        if (p->pending[at].id != post->id) continue;
        mine = &p->pending[at];
        if (mine->feed == feed) *held = true;
    }
    if (*held) return 0;
    char key[ID_KEY];
    size_t size;
    id_key(key, post->id, 0);
    for (rocksdb_iter_seek(i, key, 8); rocksdb_iter_valid(i); rocksdb_iter_next(i)) {
        other_feed = key_half(rocksdb_iter_key(i, &size) + 8);
        if (other_feed == feed) *held = true;
        if (*held) return 0;
        other = true;
        other_ord = key_half(rocksdb_iter_value(i, &size));
    }
    if (mine != NULL) {
        post->body = mine->body;
        post->size = mine->size;
        return 0;
    }
    return other ? take_over(p, other_feed, other_ord, post) : 0;
}

static int add_posts(peer *p, rocksdb_iterator_t *i, const peer_page *page, uint32_t ord, uint32_t *count) {
    char key[ID_KEY], place[PAGE_KEY];
    page_key(place, page->feed, ord);
    *count = 0;
    if (page->count > p->own_room) {
        peer_post *more = realloc(p->own, page->count * sizeof *more);
        if (more == NULL) return no_memory(p);
        p->own = more;
        p->own_room = page->count;
    }
    for (uint32_t k = 0; k < page->count; k++) {
        peer_post *own = &p->own[*count];
        bool held;
        *own = page->posts[k];
        if (look(p, i, page->feed, own, &held) != 0) return -1;
        if (held) continue;
        note(p, own, page->feed);
        id_key(key, own->id, page->feed);
        rocksdb_writebatch_put_cf(p->batch, p->store->family[IDS], key, sizeof key, place + 4, 4);
        ++*count;
    }
    return 0;
}

static int add_page(peer *p, rocksdb_iterator_t *i, const peer_page *page, bool top, peer_written *out) {
    feed_record *feed = feed_of(p, page->feed);
    uint32_t count;
    size_t size;
    char key[PAGE_KEY];
    if (feed == NULL) return -1;
    uint32_t ord = top ? feed->head - 1 : feed->head + feed->pages;
    if (add_posts(p, i, page, ord, &count) != 0) return -1;
    uint8_t *value = blob_build(p->own, count, &size);
    if (value == NULL) return no_memory(p);
    page_key(key, page->feed, ord);
    rocksdb_writebatch_put_cf(p->batch, p->store->family[PAGES], key, sizeof key, (const char *)value, size);
    free(value);
    if (top) feed->head--;
    feed->pages++;
    out->duplicates += page->count - count;
    return 0;
}

static int add_pages(peer *p, const peer_page *pages, size_t count, bool top, peer_written *out) {
    size_t posts = 0;
    char *error = NULL;
    *out = (peer_written){0};
    for (size_t i = 0; i < count; i++) posts += pages[i].count;
    if (count == 0) return 0;
    if (expect(p, posts) != 0) return -1;
    rocksdb_iterator_t *i = rocksdb_create_iterator_cf(p->store->db, p->seek, p->store->family[IDS]);
    int failed = 0;
    for (size_t k = 0; failed == 0 && k < count; k++) failed = add_page(p, i, &pages[k], top, out);
    rocksdb_iter_get_error(i, &error);
    rocksdb_iter_destroy(i);
    if (rocks_fail(p, error) != 0) failed = -1;
    return finish(p, failed);
}

int rocks_append(peer *p, const peer_page *pages, size_t count, peer_written *out) {
    return add_pages(p, pages, count, false, out);
}

int rocks_prepend(peer *p, const peer_page *page, peer_written *out) { return add_pages(p, page, 1, true, out); }

// ---- Update and prune ----------------------------------------------------------------------------

static int change(peer *p, uint32_t feed, uint32_t ord, uint64_t id, const uint8_t *body, uint32_t size) {
    blob_page page;
    uint32_t slot;
    size_t total = 0;
    char key[PAGE_KEY];
    rocksdb_pinnableslice_t *slice = get_page(p, p->read, feed, ord, &page);
    if (slice == NULL) return -1;
    bool there = blob_slot(&page, id, &slot);
    uint8_t *value = there ? blob_replace(&page, slot, body, size, &total) : NULL;
    rocksdb_pinnableslice_destroy(slice);
    if (value == NULL) return there ? no_memory(p) : rocks_complain(p, "index names a wrong page");
    page_key(key, feed, ord);
    rocksdb_writebatch_put_cf(p->batch, p->store->family[PAGES], key, sizeof key, (const char *)value, total);
    free(value);
    return 0;
}

int rocks_update(peer *p, uint64_t id, const uint8_t *body, uint32_t size) {
    char key[ID_KEY], *error = NULL;
    size_t length;
    int failed = 0;
    id_key(key, id, 0);
    rocksdb_iterator_t *i = rocksdb_create_iterator_cf(p->store->db, p->seek, p->store->family[IDS]);
    for (rocksdb_iter_seek(i, key, 8); failed == 0 && rocksdb_iter_valid(i); rocksdb_iter_next(i)) {
        uint32_t feed = key_half(rocksdb_iter_key(i, &length) + 8);
        failed = change(p, feed, key_half(rocksdb_iter_value(i, &length)), id, body, size);
    }
    rocksdb_iter_get_error(i, &error);
    rocksdb_iter_destroy(i);
    if (rocks_fail(p, error) != 0) failed = -1;
    return finish(p, failed);
}

static int drop_page(peer *p, uint32_t feed, uint32_t ord) {
    blob_page page;
    char key[ID_KEY];
    rocksdb_pinnableslice_t *slice = get_page(p, p->read, feed, ord, &page);
    if (slice == NULL) return -1;
    for (uint32_t i = 0; i < page.count; i++) {
        id_key(key, blob_id(&page, i), feed);
        rocksdb_writebatch_delete_cf(p->batch, p->store->family[IDS], key, sizeof key);
    }
    rocksdb_pinnableslice_destroy(slice);
    return 0;
}

int rocks_prune(peer *p, uint32_t number, uint64_t keep_pages) {
    char from[PAGE_KEY], to[PAGE_KEY];
    feed_record *feed = feed_of(p, number);
    int failed = feed == NULL ? -1 : 0;
    if (failed != 0 || feed->pages <= keep_pages) {
        clear(p);
        return failed;
    }
    uint32_t first = feed->head + (uint32_t)keep_pages, end = feed->head + feed->pages;
    for (uint32_t ord = first; failed == 0 && ord < end; ord++) failed = drop_page(p, number, ord);
    page_key(from, number, first);
    page_key(to, number, end);
    rocksdb_writebatch_delete_range_cf(p->batch, p->store->family[PAGES], from, sizeof from, to, sizeof to);
    feed->pages = (uint32_t)keep_pages;
    return finish(p, failed);
}
