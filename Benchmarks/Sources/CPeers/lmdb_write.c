// lmdb-c: commits, append and prepend.
#include "lmdb_c.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

// ---- Commits -------------------------------------------------------------------------------------

int put(view *v, uint64_t key, MDB_val *value, unsigned flags) {
    MDB_val k = {sizeof key, &key};
    return mdb_cursor_put(v->cursor, &k, value, flags);
}

uint64_t *log_add(peer *p, int kind, uint64_t place, size_t count) {
    size_t need = p->words + LOG_HEAD + count;
    if (need > p->word_room) {
        uint64_t *more = realloc(p->word, 2 * need * sizeof *more);
        if (more == NULL) return NULL;
        p->word = more;
        p->word_room = 2 * need;
    }
    uint64_t *log = p->word + p->words;
    log[0] = p->write.state.generation + 1;
    log[1] = LOG_WORD(kind, count);
    log[2] = place;
    p->words = need;
    return log + LOG_HEAD;
}

void touch(peer *p, feed *f) {
    f->record.generation = p->write.state.generation + 1;
    if (f->dirty) return;
    f->dirty = true;
    f->next = p->dirty;
    p->dirty = f;
}

int need_scratch(peer *p, size_t size) {
    if (size <= p->scratch_room) return 0;
    uint8_t *more = realloc(p->scratch, 2 * size);
    if (more == NULL) return ENOMEM;
    p->scratch = more;
    p->scratch_room = 2 * size;
    return 0;
}

static int put_feed(view *v, feed *f) {
    size_t extents = f->record.extents * sizeof(extent);
    MDB_val value = {sizeof(feed_record) + extents, NULL};
    int code = put(v, KEY_FEED(f->number), &value, MDB_RESERVE);
    if (code != 0) return code;
    uint8_t *at = value.mv_data;
    memcpy(at, &f->record, sizeof(feed_record));
    if (extents > 0) memcpy(at + sizeof(feed_record), f->extent, extents);
    f->record.check = checksum(at + 8, value.mv_size - 8);
    memcpy(at, &f->record.check, 8);
    f->dirty = false;
    return 0;
}

static int put_half(view *v, uint32_t half) {
    half_record record;
    MDB_val value = {sizeof record, &record};
    memcpy(record.word, v->tail + half * HALF_WORDS, sizeof record.word);
    record.check = checksum(record.word, sizeof record.word);
    return put(v, KEY_TAIL + half, &value, 0);
}

// The log goes into the tail, or with the whole tail into a chunk and a run. State and both halves are
// written at the first commit already: so they get a leaf of their own, and always rewrite it in place.
static int put_state(peer *p) {
    view *v = &p->write;
    state_record *s = &v->state;
    bool first = s->generation == 0;
    uint32_t from = s->used, until = s->used + (uint32_t)p->words;
    int code = 0;
    s->generation++;
    if (p->words > TAIL_WORDS - s->used) {
        code = flush_tail(p);
        from = until = 0;
    } else {
        memcpy(v->tail + from, p->word, p->words * 8);
        s->used = until;
    }
    for (uint32_t half = 0; code == 0 && half < 2; half++) {
        uint32_t start = half * HALF_WORDS, end = start + HALF_WORDS;
        if (first || (from < end && until > start)) code = put_half(v, half);
    }
    if (code != 0) return code;
    s->check = checksum(&s->generation, sizeof *s - 8);
    MDB_val value = {sizeof *s, s};
    return put(v, KEY_STATE, &value, 0);
}

int commit(peer *p) {
    view *v = &p->write;
    int code = 0;
    for (feed *f = p->dirty; code == 0 && f != NULL; f = f->next) code = put_feed(v, f);
    if (code == 0 && p->words == 0) log_add(p, LOG_INSERT, 0, 0);      // every commit has its record
    if (code == 0) code = put_state(p);
    if (code != 0) {
        write_abort(p);
        return code;
    }
    mdb_cursor_close(v->cursor);
    v->cursor = NULL;
    code = mdb_txn_commit(v->txn);
    v->txn = NULL;
    if (code != 0) {
        v->snapshot = NO_SNAPSHOT;
        return code;
    }
    if (v->recent_flushes != v->state.flushes) table_clear(&v->recent);
    v->recent_flushes = v->state.flushes;
    v->recent_used = v->state.used;
    return 0;
}

// ---- Pages ---------------------------------------------------------------------------------------

static int new_extent(feed *f, uint32_t at, uint32_t ord) {
    if (f->record.extents == f->room) {
        size_t room = f->room < 2 ? 2 : f->room * 2;
        extent *more = realloc(f->extent, room * sizeof *more);
        if (more == NULL) return ENOMEM;
        f->extent = more;
        f->room = room;
    }
    memmove(f->extent + at + 1, f->extent + at, (f->record.extents - at) * sizeof(extent));
    f->extent[at] = (extent){ord, 1};
    f->record.extents++;
    return 0;
}

// Gives out the next ord at the top or at the bottom. Usually this widens an extent; below a prune, where
// ords were used up, it opens a new one.
static int new_ord(feed *f, bool top, uint32_t *ord) {
    feed_record *r = &f->record;
    int code = 0;
    if (r->next == 0) r->low = r->next = FIRST_ORD;
    if (r->low == 0 || r->next == UINT32_MAX) return MDB_MAP_FULL;
    extent *last = r->extents > 0 ? &f->extent[r->extents - 1] : NULL;
    if (top) {
        *ord = --r->low;
        if (last != NULL && f->extent[0].first == *ord + 1) {
            f->extent[0].first--;
            f->extent[0].count++;
        } else {
            code = new_extent(f, 0, *ord);
        }
    } else {
        *ord = r->next++;
        if (last != NULL && last->first + last->count == *ord) last->count++;
        else code = new_extent(f, r->extents, *ord);
    }
    r->pages++;
    return code;
}

static bool in_page(const table *t, uint64_t hash, uint64_t place) {
    if (t->slot == NULL) return false;
    for (size_t at = hash & t->mask; t->slot[at].loc != NOWHERE; at = (at + 1) & t->mask)
        if (t->slot[at].hash == hash && t->slot[at].loc >> 8 == place >> 8) return true;
    return false;
}

// Another feed holds this post: its body is the body. Copied out at once, as the next write may move it.
static int share(peer *p, uint64_t loc, uint64_t id, size_t *used, piece *out) {
    page_view page;
    uint32_t slot, size;
    int code = open_page(&p->write, LOC_FEED(loc), LOC_ORD(loc), &page);
    if (code != 0) return code;
    if (!page_slot(&page, id, LOC_SLOT(loc), &slot)) return MDB_CORRUPTED;
    const uint8_t *body = page_body(&page, slot, &size);
    if ((code = need_scratch(p, *used + size)) != 0) return code;
    if (size > 0) memcpy(p->scratch + *used, body, size);
    *out = (piece){out->index, size, *used, true};
    *used += size;
    return 0;
}

// Picks the page's own posts and notes their places among the recent ones.
static int pick(peer *p, const peer_page *page, uint64_t place, uint32_t *count, uint64_t *bytes) {
    view *v = &p->write;
    size_t used = 0;
    *count = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < page->count; i++) {
        if (p->here[i] != NOWHERE || in_page(&v->recent, p->hash[i], place)) continue;
        piece *own = &p->piece[*count];
        *own = (piece){i, page->posts[i].size, 0, false};
        if (p->there[i] != NOWHERE) {
            int code = share(p, p->there[i], page->posts[i].id, &used, own);
            if (code != 0) return code;
        }
        entry e = {p->hash[i], place | (*count < 255 ? *count : 255)};
        if (!table_add(&v->recent, e)) return ENOMEM;
        *bytes += own->size;
        ++*count;
    }
    return *bytes > UINT32_MAX ? MDB_BAD_VALSIZE : 0;
}

static void fill_page(peer *p, const peer_page *page, page_record head, size_t size, uint8_t *at) {
    uint8_t *ids = at + sizeof head, *keys = ids + (size_t)head.count * 8;
    uint8_t *ends = keys + (size_t)head.count * 8, *bodies = ends + (size_t)head.count * 4;
    uint32_t end = 0;
    memcpy(at, &head, sizeof head);
    for (uint32_t i = 0; i < head.count; i++) {
        const piece *own = &p->piece[i];
        const peer_post *post = &page->posts[own->index];
        memcpy(ids + (size_t)i * 8, &post->id, 8);
        memcpy(keys + (size_t)i * 8, &post->key, 8);
        if (own->size > 0) memcpy(bodies + end, own->shared ? p->scratch + own->at : post->body, own->size);
        end += own->size;
        memcpy(ends + (size_t)i * 4, &end, 4);
    }
    head.check = checksum(at + 8, size - 8);
    memcpy(at, &head.check, 8);
}

static int need_pieces(peer *p, size_t count) {
    if (count <= p->piece_room) return 0;
    piece *more = realloc(p->piece, count * sizeof *more);
    if (more == NULL) return ENOMEM;
    p->piece = more;
    p->piece_room = count;
    return 0;
}

static int put_page(peer *p, const peer_page *page, feed *f, uint32_t ord, uint32_t count, uint64_t bytes) {
    view *v = &p->write;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    uint64_t link[2] = {mix(p->token++), mix(p->token++)}, place = LOC(page->feed, ord, 0);
    page_record head = {.generation = v->state.generation + 1, .count = count, .bytes = (uint32_t)bytes};
    head.fetched = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    memcpy(head.link, link, sizeof head.link);
    memcpy(f->record.link, link, sizeof head.link);
    f->record.posts += count;
    v->state.posts += count;
    touch(p, f);
    uint64_t *ids = log_add(p, LOG_INSERT, place, count);
    if (ids == NULL) return ENOMEM;
    for (uint32_t i = 0; i < count; i++) ids[i] = page->posts[p->piece[i].index].id;
    MDB_val value = {page_head(count) + bytes, NULL};
    int code = put(v, KEY_PAGE(page->feed, ord), &value, MDB_RESERVE);
    if (code == 0) fill_page(p, page, head, value.mv_size, value.mv_data);
    return code;
}

static int add_page(peer *p, const peer_page *page, bool top, peer_written *out) {
    view *v = &p->write;
    uint32_t ord, count;
    uint64_t bytes;
    feed *f = feed_at(v, page->feed);
    if (f == NULL) return page->feed > MAX_FEED ? MDB_BAD_VALSIZE : ENOMEM;
    if (grow_hashes(p, page->count) != 0 || need_pieces(p, page->count) != 0) return ENOMEM;
    for (uint32_t i = 0; i < page->count; i++) p->hash[i] = mix(page->posts[i].id);
    int code = find_all(v, page->feed, p->hash, page->count, p->here, p->there);
    if (code == 0) code = new_ord(f, top, &ord);
    if (code == 0) code = pick(p, page, LOC(page->feed, ord, 0), &count, &bytes);
    if (code == 0) code = put_page(p, page, f, ord, count, bytes);
    if (code == 0) out->duplicates += page->count - count;
    return code;
}

static int add_pages(peer *p, const peer_page *pages, size_t count, bool top, peer_written *out) {
    int code = 0;
    *out = (peer_written){0};
    if (count == 0) return 0;
    if (write_begin(p) != 0) return -1;
    for (size_t i = 0; code == 0 && i < count; i++) code = add_page(p, &pages[i], top, out);
    if (code != 0) write_abort(p);
    else code = commit(p);
    return fail(p, "write", code);
}

int lmdb_append(peer *p, const peer_page *pages, size_t count, peer_written *out) {
    return add_pages(p, pages, count, false, out);
}

int lmdb_prepend(peer *p, const peer_page *page, peer_written *out) {
    return add_pages(p, page, 1, true, out);
}
