// quire-c: reading.
#include "quire_c.h"
#include <stdlib.h>

// A page of the benchmark fits into one call; larger ones take more.
enum { ROWS = 64 };

static int add_page(
    peer *p, quire_snapshot *snapshot, quire_c_feed_state *f, uint64_t number, peer_read *out)
{
    quire_row rows[ROWS];
    size_t count = ROWS;
    for (size_t first = 0; count == ROWS; first += ROWS) {
        quire_status status = quire.read_page(snapshot, f->handle, number, first, rows, ROWS, &count);
        if (quire_c_check(p, status) != 0) return -1;
        for (size_t i = 0; i < count; i++) {
            out->sum += peer_sum(rows[i].body.data, rows[i].body.size);
            out->bytes += rows[i].body.size;
        }
        out->posts += (uint32_t)count;
    }
    return 0;
}

int quire_c_read_numbered(peer *p, uint32_t number, const uint64_t *numbers, size_t count, peer_read *out) {
    *out = (peer_read){0};
    quire_c_feed_state *f = quire_c_feed(p, number);
    quire_snapshot *snapshot = NULL;
    if (f == NULL || quire_c_check(p, quire.snapshot_begin(p->cache, &snapshot)) != 0) return -1;
    int failed = 0;
    for (size_t i = 0; i < count && failed == 0; i++) failed = add_page(p, snapshot, f, numbers[i], out);
    quire.snapshot_end(snapshot);
    return failed;
}

int quire_c_number_pages(peer *p, uint32_t number, uint64_t index, uint64_t *numbers, size_t *count) {
    quire_c_feed_state *f = quire_c_feed(p, number);
    quire_snapshot *snapshot = NULL;
    if (f == NULL || quire_c_check(p, quire.snapshot_begin(p->cache, &snapshot)) != 0) return -1;
    quire_page pages[ROWS];
    size_t wanted = *count, found = 0, part = 1;
    int failed = 0;
    while (found < wanted && part > 0 && failed == 0) {
        part = wanted - found < ROWS ? wanted - found : ROWS;
        failed = quire_c_check(p, quire.read_pages(snapshot, f->handle, index + found, pages, part, &part));
        for (size_t i = 0; i < part && failed == 0; i++) numbers[found++] = pages[i].number;
    }
    *count = found;
    quire.snapshot_end(snapshot);
    return failed;
}

// By index: the list of pages is asked for the number, in the same snapshot.
int quire_c_scroll(peer *p, uint32_t number, uint64_t index, uint64_t pages, peer_read *out) {
    *out = (peer_read){0};
    quire_c_feed_state *f = quire_c_feed(p, number);
    quire_snapshot *snapshot = NULL;
    if (f == NULL || quire_c_check(p, quire.snapshot_begin(p->cache, &snapshot)) != 0) return -1;
    int failed = 0;
    for (size_t count = 1; pages > 0 && count > 0 && failed == 0; pages--, index++) {
        quire_page page;
        failed = quire_c_check(p, quire.read_pages(snapshot, f->handle, index, &page, 1, &count));
        if (failed == 0 && count > 0) failed = add_page(p, snapshot, f, page.number, out);
    }
    quire.snapshot_end(snapshot);
    return failed;
}

int quire_c_read_page(peer *p, uint32_t number, uint64_t index, peer_read *out) {
    return quire_c_scroll(p, number, index, 1, out);
}

int quire_c_stage_ids(peer *p, const uint64_t *ids, size_t count) {
    if (count > p->id_room) {
        free(p->ids);
        free(p->id_digits);
        p->ids = calloc(count, sizeof *p->ids);
        p->id_digits = calloc(count, sizeof *p->id_digits);
        p->id_room = p->ids != NULL && p->id_digits != NULL ? count : 0;
        if (p->id_room == 0) return quire_c_complain(p, "out of memory");
    }
    for (size_t i = 0; i < count; i++) p->ids[i] = quire_c_text(ids[i], p->id_digits[i]);
    return 0;
}

// The ids are those that were staged.
int quire_c_contains(peer *p, uint32_t number, const uint64_t *ids, size_t count, uint8_t *found) {
    (void)ids;
    quire_c_feed_state *f = quire_c_feed(p, number);
    return f == NULL ? -1 : quire_c_check(p, quire.contains(f->handle, (quire_ids){p->ids, count}, found));
}

int quire_c_post(peer *p, uint64_t id, peer_read *out) {
    char digits[QUIRE_DIGITS];
    *out = (peer_read){0};
    quire_snapshot *snapshot = NULL;
    quire_post_info info = QUIRE_POST_INFO_INIT;
    if (quire_c_check(p, quire.snapshot_begin(p->cache, &snapshot)) != 0) return -1;
    quire_bytes no_collection = {NULL, 0};
    quire_status status = quire.post_get_info(snapshot, no_collection, quire_c_text(id, digits), &info);
    if (status == QUIRE_OK) *out = (peer_read){peer_sum(info.body.data, info.body.size), 1, info.body.size};
    quire.snapshot_end(snapshot);
    return status == QUIRE_NOT_FOUND ? 0 : quire_c_check(p, status);
}

uint64_t quire_c_page_count(peer *p, uint32_t number) {
    quire_c_feed_state *f = quire_c_feed(p, number);
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    return f != NULL && quire_c_get_info(p, f->handle, &info) == 0 ? info.pages : 0;
}
