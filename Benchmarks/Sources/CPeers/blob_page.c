// A page as one value, for the engines that keep pages whole.
#include "blob_page.h"
#include <stdlib.h>
#include <string.h>

enum { HEAD = 8, PER_POST = 20 };

static uint32_t half_at(const uint8_t *at) { uint32_t v; memcpy(&v, at, 4); return v; }

bool blob_open(const void *value, size_t size, blob_page *out) {
    if (size < HEAD) return false;
    out->start = value;
    out->count = half_at(out->start);
    out->ids = out->start + HEAD;
    out->ends = out->ids + (size_t)out->count * 16;
    out->bodies = out->ends + (size_t)out->count * 4;
    return size == HEAD + (size_t)out->count * PER_POST + half_at(out->start + 4);
}

uint64_t blob_id(const blob_page *page, uint32_t slot) {
    uint64_t id;
    memcpy(&id, page->ids + (size_t)slot * 8, 8);
    return id;
}

const uint8_t *blob_body(const blob_page *page, uint32_t slot, uint32_t *size) {
    uint32_t start = slot == 0 ? 0 : half_at(page->ends + 4 * ((size_t)slot - 1));
    *size = half_at(page->ends + 4 * (size_t)slot) - start;
    return page->bodies + start;
}

bool blob_slot(const blob_page *page, uint64_t id, uint32_t *slot) {
    for (uint32_t i = 0; i < page->count; i++) {
        if (blob_id(page, i) != id) continue;
        *slot = i;
        return true;
    }
    return false;
}

void blob_sum(const blob_page *page, peer_read *out) {
    uint32_t start = 0;
    for (uint32_t i = 0; i < page->count; i++) {
        uint32_t end = half_at(page->ends + 4 * (size_t)i);
        out->sum += peer_sum(page->bodies + start, end - start);
        start = end;
    }
    out->bytes += start;
    out->posts += page->count;
}

uint8_t *blob_build(const peer_post *posts, uint32_t count, size_t *size) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) bytes += posts[i].size;
    *size = HEAD + (size_t)count * PER_POST + bytes;
    uint8_t *at = bytes > UINT32_MAX ? NULL : malloc(*size);
    if (at == NULL) return NULL;
    uint8_t *ids = at + HEAD, *keys = ids + (size_t)count * 8, *ends = keys + (size_t)count * 8;
    uint8_t *bodies = ends + (size_t)count * 4;
    uint32_t end = 0;
    memcpy(at, &count, 4);
    memcpy(at + 4, &(uint32_t){(uint32_t)bytes}, 4);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(ids + (size_t)i * 8, &posts[i].id, 8);
        memcpy(keys + (size_t)i * 8, &posts[i].key, 8);
        if (posts[i].size > 0) memcpy(bodies + end, posts[i].body, posts[i].size);
        end += posts[i].size;
        memcpy(ends + (size_t)i * 4, &end, 4);
    }
    return at;
}

uint8_t *blob_replace(const blob_page *page, uint32_t slot, const uint8_t *body, uint32_t length, size_t *size) {
    uint32_t old, bytes = half_at(page->start + 4);
    const uint8_t *gone = blob_body(page, slot, &old);
    size_t before = (size_t)(gone - page->start), after = bytes - (size_t)(gone - page->bodies) - old;
    *size = before + length + after;
    uint8_t *at = malloc(*size);
    if (at == NULL) return NULL;
    memcpy(at, page->start, before);
    if (length > 0) memcpy(at + before, body, length);
    memcpy(at + before + length, gone + old, after);
    memcpy(at + 4, &(uint32_t){bytes - old + length}, 4);
    for (uint32_t i = slot; i < page->count; i++) {
        uint32_t end = half_at(page->ends + 4 * (size_t)i) - old + length;
        memcpy(at + (page->ends - page->start) + 4 * (size_t)i, &end, 4);
    }
    return at;
}

uint8_t *arena_copy(arena *a, const uint8_t *bytes, uint32_t size) {
    if (a->count == a->room) {
        size_t room = a->room * 2 + 16;
        void **more = realloc(a->piece, room * sizeof *more);
        if (more == NULL) return NULL;
        a->piece = more;
        a->room = room;
    }
    uint8_t *copy = malloc((size_t)size + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, bytes, size);
    a->piece[a->count++] = copy;
    return copy;
}

void arena_clear(arena *a) {
    while (a->count > 0) free(a->piece[--a->count]);
}

void arena_free(arena *a) {
    arena_clear(a);
    free(a->piece);
}
