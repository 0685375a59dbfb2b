// lmdb-c: updates and prunes.
#include "lmdb_c.h"
#include <errno.h>

enum { PRUNE_PAGES = 256 };

// ---- Update --------------------------------------------------------------------------------------

// Rewrites the page with the new body and all overlaid ones in it; its overlay goes.
static int fold(peer *p, const page_view *page, uint64_t key, uint32_t slot, const uint8_t *body, uint32_t size) {
    view *v = &p->write;
    page_record head;
    memcpy(&head, page->ids - sizeof head, sizeof head);
    size_t ids = (size_t)head.count * 16, most = page_head(head.count) + size;
    uint32_t part, end = 0;
    for (uint32_t i = 0; i < head.count; i++) most += (page_body(page, i, &part), part);
    int code = need_scratch(p, most);
    if (code != 0) return code;
    uint8_t *at = p->scratch, *ends = at + sizeof head + ids, *bodies = ends + (size_t)head.count * 4;
    memcpy(at + sizeof head, page->ids, ids);
    for (uint32_t i = 0; i < head.count; i++) {
        const uint8_t *from = page_body(page, i, &part);
        if (i == slot) {
            from = body;
            part = size;
        }
        if (part > 0) memcpy(bodies + end, from, part);
        end += part;
        memcpy(ends + (size_t)i * 4, &end, 4);
    }
    head.bytes = end;
    memcpy(at, &head, sizeof head);
    MDB_val value = {page_head(head.count) + end, at};
    head.check = checksum(at + 8, value.mv_size - 8);
    memcpy(at, &head.check, 8);
    bool overlaid = page->overlay != NULL;
    if ((code = put(v, key, &value, 0)) != 0 || !overlaid) return code;
    uint64_t overlay_key = key | 1;
    MDB_val k = {sizeof overlay_key, &overlay_key};
    return mdb_del(v->txn, v->dbi, &k, NULL);
}

// The page's overlay with one more, or one other, body.
static int overlay(peer *p, const page_view *page, uint64_t key, uint32_t slot, const uint8_t *body, uint32_t size) {
    uint32_t slots[MAX_OVERLAID + 1], count = 0, end = 0, part;
    const uint8_t *old = page->overlay;
    uint32_t olds = old == NULL ? 0 : half_at(old + offsetof(overlay_record, count));
    size_t most = sizeof(overlay_record) + (olds + 1) * 8 + size;
    if (old != NULL) most += half_at(old + offsetof(overlay_record, bytes));
    int code = need_scratch(p, most);
    if (code != 0) return code;
    for (uint32_t i = 0; i < olds; i++) {
        uint32_t s = half_at(old + sizeof(overlay_record) + 8 * i);
        if (s != slot) slots[count++] = s;
    }
    slots[count++] = slot;
    uint8_t *dir = p->scratch + sizeof(overlay_record), *bodies = dir + count * 8;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *from = i + 1 == count ? body : page_body(page, slots[i], &part);
        if (i + 1 == count) part = size;
        if (part > 0) memcpy(bodies + end, from, part);
        end += part;
        memcpy(dir + 8 * i, &slots[i], 4);
        memcpy(dir + 8 * i + 4, &end, 4);
    }
    overlay_record head = {0, count, end};
    MDB_val value = {sizeof head + count * 8 + end, p->scratch};
    memcpy(p->scratch, &head, sizeof head);
    head.check = checksum(p->scratch + 8, value.mv_size - 8);
    memcpy(p->scratch, &head.check, 8);
    return put(&p->write, key | 1, &value, 0);
}

static int change(peer *p, uint64_t loc, uint64_t id, const uint8_t *body, uint32_t size) {
    view *v = &p->write;
    page_view page;
    uint32_t slot, held = 0;
    feed *f = feed_at(v, LOC_FEED(loc));
    if (f == NULL) return ENOMEM;
    int code = open_page(v, LOC_FEED(loc), LOC_ORD(loc), &page);
    if (code != 0) return code;
    if (!page_slot(&page, id, LOC_SLOT(loc), &slot)) return MDB_CORRUPTED;
    uint64_t key = KEY_PAGE(LOC_FEED(loc), LOC_ORD(loc)), bytes = size;
    if (page.overlay != NULL) {
        held = half_at(page.overlay + offsetof(overlay_record, count));
        bytes += half_at(page.overlay + offsetof(overlay_record, bytes));
    }
    touch(p, f);
    // A fold costs the page's bytes once; an overlay costs its own at every update of the page.
    bool full = held >= MAX_OVERLAID || bytes * 2 > half_at(page.ends + 4 * (page.count - 1));
    if (full) {
        if (held > 0) f->record.overlays--;
        return fold(p, &page, key, slot, body, size);
    }
    if (held == 0) f->record.overlays++;
    return overlay(p, &page, key, slot, body, size);
}

int lmdb_update(peer *p, uint64_t id, const uint8_t *body, uint32_t size) {
    size_t count = 0;
    if (write_begin(p) != 0) return -1;
    int code = find_places(p, mix(id), &count);
    for (size_t i = 0; code == 0 && i < count; i++) code = change(p, p->hash[i], id, body, size);
    if (code == 0 && count == 0) {
        write_cancel(p);
        return 0;
    }
    uint64_t *logged = code == 0 ? log_add(p, LOG_UPDATE, 0, 1) : NULL;
    if (logged != NULL) *logged = id;
    else if (code == 0) code = ENOMEM;
    if (code != 0) write_abort(p);
    else code = commit(p);
    return fail(p, "update", code);
}

// ---- Prune ---------------------------------------------------------------------------------------

// Deletes the page under the cursor and its overlay; leaves the cursor on the next key.
static int drop_page(peer *p, feed *f, MDB_val *k, MDB_val *value) {
    view *v = &p->write;
    uint64_t key = word_at(k->mv_data);
    page_view page;
    view_page(*value, NULL, &page);
    uint32_t ord = (uint32_t)(key >> 1);
    uint64_t *ids = log_add(p, LOG_REMOVE, LOC(f->number, ord, 0), page.count);
    if (ids == NULL) return ENOMEM;
    memcpy(ids, page.ids, (size_t)page.count * 8);
    f->record.posts -= page.count;
    v->state.posts -= page.count;
    int code = mdb_cursor_del(v->cursor, 0);
    if (code == 0) code = mdb_cursor_get(v->cursor, k, value, MDB_NEXT);
    if (code != 0 || word_at(k->mv_data) != (key | 1)) return code;
    f->record.overlays--;
    code = mdb_cursor_del(v->cursor, 0);
    return code != 0 ? code : mdb_cursor_get(v->cursor, k, value, MDB_NEXT);
}

// One transaction's share: the lowest pages, so that every commit leaves a whole feed.
static int drop_pages(peer *p, feed *f, uint64_t count) {
    view *v = &p->write;
    uint32_t ord;
    MDB_val k, value;
    feed_ord(f, f->record.pages - count, &ord);
    uint64_t key = KEY_PAGE(f->number, ord);
    k = (MDB_val){sizeof key, &key};
    int code = mdb_cursor_get(v->cursor, &k, &value, MDB_SET_KEY);
    for (uint64_t i = 0; code == 0 && i < count; i++) code = drop_page(p, f, &k, &value);
    f->record.pages -= count;
    while (count > 0) {
        extent *last = &f->extent[f->record.extents - 1];
        uint32_t part = last->count < count ? last->count : (uint32_t)count;
        last->count -= part;
        count -= part;
        if (last->count == 0) f->record.extents--;
    }
    touch(p, f);
    return code;
}

int lmdb_prune(peer *p, uint32_t number, uint64_t keep_pages) {
    if (number > MAX_FEED) return 0;
    for (;;) {
        if (write_begin(p) != 0) return -1;
        feed *f = feed_at(&p->write, number);
        uint64_t extra = f == NULL || f->record.pages <= keep_pages ? 0 : f->record.pages - keep_pages;
        if (extra == 0) {
            write_cancel(p);
            return f == NULL ? fail(p, "prune", ENOMEM) : 0;
        }
        bool more = extra > PRUNE_PAGES;
        int code = drop_pages(p, f, more ? PRUNE_PAGES : extra);
        if (code != 0) write_abort(p);
        else code = commit(p);
        if (code != 0 || !more) return fail(p, "prune", code);
    }
}
