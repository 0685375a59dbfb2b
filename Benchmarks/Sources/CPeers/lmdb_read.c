// lmdb-c: reading. A page is one descent (the feed's record is remembered while nothing is committed),
// one step to its overlay if the feed has any, and one scan.
#include "lmdb_c.h"
#include <errno.h>

// ---- Pages ---------------------------------------------------------------------------------------

void view_page(MDB_val page, const uint8_t *overlay, page_view *out) {
    const uint8_t *at = page.mv_data;
    out->count = half_at(at + offsetof(page_record, count));
    out->ids = at + sizeof(page_record);
    out->ends = out->ids + (size_t)out->count * 16;
    out->bodies = out->ends + (size_t)out->count * 4;
    out->overlay = overlay;
}

static int take_page(view *v, MDB_val page, uint64_t key, bool overlaid, page_view *out) {
    const uint8_t *overlay = NULL;
    if (page.mv_size < sizeof(page_record)) return MDB_CORRUPTED;
    if (overlaid) {
        MDB_val k, value;
        int code = mdb_cursor_get(v->cursor, &k, &value, MDB_NEXT);
        if (code != 0) return code == MDB_NOTFOUND ? MDB_CORRUPTED : code;     // the feed's record follows
        if (word_at(k.mv_data) == (key | 1)) overlay = value.mv_data;
    }
    view_page(page, overlay, out);
    return page.mv_size < page_head(out->count) ? MDB_CORRUPTED : 0;
}

int open_page(view *v, uint32_t number, uint32_t ord, page_view *out) {
    uint64_t key = KEY_PAGE(number, ord);
    MDB_val k = {sizeof key, &key}, page;
    feed *f = feed_at(v, number);
    if (f == NULL) return ENOMEM;
    int code = mdb_cursor_get(v->cursor, &k, &page, MDB_SET);
    if (code != 0) return code;
    return take_page(v, page, key, f->record.overlays > 0, out);
}

const uint8_t *page_body(const page_view *page, uint32_t slot, uint32_t *size) {
    if (page->overlay != NULL) {
        uint32_t count = half_at(page->overlay + offsetof(overlay_record, count));
        const uint8_t *dir = page->overlay + sizeof(overlay_record), *bodies = dir + count * 8;
        for (uint32_t i = 0; i < count; i++) {
            if (half_at(dir + 8 * i) != slot) continue;
            uint32_t start = i == 0 ? 0 : half_at(dir + 8 * i - 4);
            *size = half_at(dir + 8 * i + 4) - start;
            return bodies + start;
        }
    }
    uint32_t start = slot == 0 ? 0 : half_at(page->ends + 4 * (slot - 1));
    *size = half_at(page->ends + 4 * slot) - start;
    return page->bodies + start;
}

bool page_slot(const page_view *page, uint64_t id, uint32_t hint, uint32_t *slot) {
    for (uint32_t i = hint; i < page->count; i++) {
        if (word_at(page->ids + (size_t)i * 8) != id) continue;
        *slot = i;
        return true;
    }
    return false;
}

static void sum_page(const page_view *page, peer_read *out) {
    uint32_t start = 0, size;
    uint64_t sum = 0;
    out->posts += page->count;
    if (page->overlay == NULL) {
        for (uint32_t i = 0; i < page->count; i++) {
            uint32_t end = half_at(page->ends + (size_t)i * 4);
            sum += peer_sum(page->bodies + start, end - start);
            start = end;
        }
        out->bytes += start;
    } else {
        for (uint32_t i = 0; i < page->count; i++) {
            const uint8_t *body = page_body(page, i, &size);
            sum += peer_sum(body, size);
            out->bytes += size;
        }
    }
    out->sum += sum;
}

// ---- The engine's reads --------------------------------------------------------------------------

static int scroll(peer *p, uint32_t number, uint64_t index, uint64_t pages, peer_read *out) {
    view *v = &p->read;
    uint32_t ord;
    page_view page;
    feed *f = feed_at(v, number);
    if (f == NULL) return ENOMEM;
    if (!feed_ord(f, index, &ord)) return 0;
    int code = open_page(v, number, ord, &page);
    if (code != 0) return code;
    sum_page(&page, out);
    uint64_t end = pages < f->record.pages - index ? index + pages : f->record.pages;
    for (index++; index < end; index++) {       // neighbours: the cursor steps, over overlays if need be
        MDB_val k, value;
        bool known = page.overlay != NULL || f->record.overlays == 0;
        code = mdb_cursor_get(v->cursor, &k, &value, known ? MDB_NEXT : MDB_GET_CURRENT);
        if (code != 0) return code;
        code = take_page(v, value, word_at(k.mv_data), f->record.overlays > 0, &page);
        if (code != 0) return code;
        sum_page(&page, out);
    }
    return 0;
}

int lmdb_scroll(peer *p, uint32_t feed, uint64_t index, uint64_t pages, peer_read *out) {
    *out = (peer_read){0};
    if (pages == 0 || feed > MAX_FEED) return 0;
    if (read_begin(p) != 0) return -1;
    int code = scroll(p, feed, index, pages, out);
    read_end(p);
    return fail(p, "read", code);
}

int lmdb_read_page(peer *p, uint32_t feed, uint64_t index, peer_read *out) {
    return lmdb_scroll(p, feed, index, 1, out);
}

int lmdb_contains(peer *p, uint32_t feed, const uint64_t *ids, size_t count, uint8_t *found) {
    memset(found, 0, count);
    if (count == 0 || feed > MAX_FEED) return 0;
    if (grow_hashes(p, count) != 0 || read_begin(p) != 0) return -1;
    for (size_t i = 0; i < count; i++) p->hash[i] = mix(ids[i]);
    int code = find_all(&p->read, feed, p->hash, count, p->here, NULL);
    for (size_t i = 0; code == 0 && i < count; i++) found[i] = p->here[i] != NOWHERE;
    read_end(p);
    return fail(p, "contains", code);
}

int lmdb_post(peer *p, uint64_t id, peer_read *out) {
    uint64_t hash = mix(id), here, there;
    uint32_t slot, size;
    page_view page;
    *out = (peer_read){0};
    if (read_begin(p) != 0) return -1;
    view *v = &p->read;
    int code = find_all(v, NO_FEED, &hash, 1, &here, &there);
    if (code == 0 && there != NOWHERE) {
        code = open_page(v, LOC_FEED(there), LOC_ORD(there), &page);
        if (code == 0 && !page_slot(&page, id, LOC_SLOT(there), &slot)) code = MDB_CORRUPTED;
        if (code == 0) {
            const uint8_t *body = page_body(&page, slot, &size);
            *out = (peer_read){peer_sum(body, size), 1, size};
        }
    }
    read_end(p);
    return fail(p, "post", code);
}

uint64_t lmdb_page_count(peer *p, uint32_t feed_number) {
    if (feed_number > MAX_FEED || read_begin(p) != 0) return 0;
    feed *f = feed_at(&p->read, feed_number);
    uint64_t pages = f == NULL ? 0 : f->record.pages;
    read_end(p);
    return pages;
}
