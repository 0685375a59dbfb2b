// sqlite-blob: SQLite with the page-blob layout, to tell the layout's merit from the engine's.
// - A page is one blob under (feed << 32 | ord) as rowid: one descent and one overflow chain.
// - ids(id, feed) -> ord, WITHOUT ROWID: one range per id tells every feed that holds it.
// - ord counts down from the head for a prepend: nothing is renumbered.
// - An update of equal length writes into the blob in place; otherwise the page is written anew.
#include "blob_page.h"
#include "sqlite_common.h"
#include <stdlib.h>
#include <string.h>

enum {
    GET_FEED = FIRST_STATEMENT, PUT_FEED, PLACES, ADD_ID, ADD_PAGE, GET_PAGE, PUT_PAGE, READ, CONTAINS, DROP_ID,
    DROP_PAGES, COUNT
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS pages(place INTEGER PRIMARY KEY, fetched INTEGER NOT NULL, page BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS ids(id INTEGER NOT NULL, feed INTEGER NOT NULL, ord INTEGER NOT NULL,"
    " PRIMARY KEY(id, feed)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS feeds(feed INTEGER PRIMARY KEY, head INTEGER NOT NULL, pages INTEGER NOT NULL);";

static const char *const texts[] = {
    COMMON_STATEMENTS,
    [GET_FEED] = "SELECT head, pages FROM feeds WHERE feed = ?",
    [PUT_FEED] = "INSERT INTO feeds VALUES(?1, ?2, ?3) ON CONFLICT(feed) DO UPDATE SET head = ?2, pages = ?3",
    [PLACES] = "SELECT feed, ord FROM ids WHERE id = ?",
    [ADD_ID] = "INSERT INTO ids VALUES(?, ?, ?)",
    [ADD_PAGE] = "INSERT INTO pages VALUES(?, ?, ?)",
    [GET_PAGE] = "SELECT page FROM pages WHERE place = ?",
    [PUT_PAGE] = "UPDATE pages SET page = ?2 WHERE place = ?1",
    [READ] = "SELECT page FROM pages WHERE place >= (?1 << 32) + (SELECT head FROM feeds WHERE feed = ?1) + ?2"
             " AND place < (?1 << 32) + (SELECT min(head + ?3, head + pages) FROM feeds WHERE feed = ?1)",
    [CONTAINS] = "SELECT 1 FROM ids WHERE id = ? AND feed = ?",
    [DROP_ID] = "DELETE FROM ids WHERE id = ? AND feed = ?",
    [DROP_PAGES] = "DELETE FROM pages WHERE place >= ? AND place < ?",
    [COUNT] = "SELECT pages FROM feeds WHERE feed = ?",
    NULL
};

enum { FIRST_ORD = 1 << 30 };
#define PLACE(feed, ord) ((int64_t)(feed) << 32 | (ord))

struct peer {
    sql s;
    arena shared;                   // bodies taken over from other feeds
    peer_post *own;
    uint32_t own_room;
    int64_t *place;
    size_t place_room;
};

static const sql_layout layout = {"blob.sqlite", schema, texts, sizeof(peer)};

static int blob_open_engine(const char *folder, int durability, peer **out) {
    return sql_open(&layout, folder, durability, out);
}

static void blob_close(peer *p) {
    if (p == NULL) return;
    arena_free(&p->shared);
    free(p->own);
    free(p->place);
    sql_close(p);
}

static int complain(peer *p, const char *what) {
    strcpy(p->s.error, what);
    return -1;
}

// Leaves the statement on its row: the blob is SQLite's until the reset.
static int get_page(peer *p, int64_t place, blob_page *out) {
    sql *s = &p->s;
    BIND(s, GET_PAGE, place);
    int code = sql_step(s, GET_PAGE);
    if (code != SQLITE_ROW) return code == SQLITE_DONE ? complain(p, "page is missing") : -1;
    const void *value = sqlite3_column_blob(s->st[GET_PAGE], 0);
    if (blob_open(value, (size_t)sqlite3_column_bytes(s->st[GET_PAGE], 0), out)) return 0;
    sql_reset(s, GET_PAGE);
    return complain(p, "page is damaged");
}

static int get_feed(sql *s, int64_t feed, int64_t *head, int64_t *pages) {
    BIND(s, GET_FEED, feed);
    int code = sql_step(s, GET_FEED);
    *head = FIRST_ORD;
    *pages = 0;
    if (code == SQLITE_ROW) {
        *head = sql_column(s, GET_FEED, 0);
        *pages = sql_column(s, GET_FEED, 1);
        sql_reset(s, GET_FEED);
    }
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : -1;
}

// ---- Writing -------------------------------------------------------------------------------------

// The body under which another feed holds the post.
static int share(peer *p, int64_t place, peer_post *post) {
    blob_page page;
    uint32_t slot, size;
    if (get_page(p, place, &page) != 0) return -1;
    bool there = blob_slot(&page, post->id, &slot);
    const uint8_t *body = there ? blob_body(&page, slot, &size) : NULL;
    post->body = there ? arena_copy(&p->shared, body, size) : NULL;
    if (there) post->size = size;
    sql_reset(&p->s, GET_PAGE);
    return post->body != NULL ? 0 : complain(p, there ? "out of memory" : "index names a wrong page");
}

// One look at the index tells whether this feed holds the post, or another one.
static int look(peer *p, int64_t feed, peer_post *post, bool *held) {
    sql *s = &p->s;
    int64_t other = -1;
    int code;
    *held = false;
    BIND(s, PLACES, (int64_t)post->id);
    while ((code = sql_step(s, PLACES)) == SQLITE_ROW) {
        if (sql_column(s, PLACES, 0) == feed) *held = true;
        else other = PLACE(sql_column(s, PLACES, 0), sql_column(s, PLACES, 1));
    }
    if (code != SQLITE_DONE) return -1;
    return *held || other < 0 ? 0 : share(p, other, post);
}

static int add_posts(peer *p, const peer_page *page, int64_t ord, uint32_t *count) {
    *count = 0;
    if (page->count > p->own_room) {
        peer_post *more = realloc(p->own, page->count * sizeof *more);
        if (more == NULL) return complain(p, "out of memory");
        p->own = more;
        p->own_room = page->count;
    }
    for (uint32_t i = 0; i < page->count; i++) {
        peer_post *own = &p->own[*count];
        bool held;
        *own = page->posts[i];
        if (look(p, page->feed, own, &held) != 0) return -1;
        if (held) continue;
        if (RUN(&p->s, ADD_ID, (int64_t)own->id, page->feed, ord) != 0) return -1;
        ++*count;
    }
    return 0;
}

static int add_page(peer *p, const peer_page *page, bool top, peer_written *out) {
    sql *s = &p->s;
    int64_t head, pages;
    uint32_t count;
    size_t size;
    if (get_feed(s, page->feed, &head, &pages) != 0) return -1;
    if (top) head--;
    int64_t ord = top ? head : head + pages;
    // A page of this call may share a body with an earlier one: that one is written already.
    if (add_posts(p, page, ord, &count) != 0) return -1;
    uint8_t *value = blob_build(p->own, count, &size);
    if (value == NULL) return complain(p, "out of memory");
    BIND(s, ADD_PAGE, PLACE(page->feed, ord), sql_now());
    sql_bind_body(s, ADD_PAGE, 3, value, size);
    int code = sql_step(s, ADD_PAGE);
    free(value);
    arena_clear(&p->shared);
    out->duplicates += page->count - count;
    return code == SQLITE_DONE ? RUN(s, PUT_FEED, page->feed, head, pages + 1) : -1;
}

static int blob_append(peer *p, const peer_page *pages, size_t count, peer_written *out) {
    *out = (peer_written){0};
    if (count == 0) return 0;
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    for (size_t i = 0; failed == 0 && i < count; i++) failed = add_page(p, &pages[i], false, out);
    return sql_end(&p->s, failed);
}

static int blob_prepend(peer *p, const peer_page *page, peer_written *out) {
    *out = (peer_written){0};
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    if (failed == 0) failed = add_page(p, page, true, out);
    return sql_end(&p->s, failed);
}

// Equal length: only the database pages under the body are written.
static int overwrite(peer *p, int64_t place, size_t at, const uint8_t *body, uint32_t size) {
    sqlite3_blob *blob;
    if (size == 0) return 0;
    int code = sqlite3_blob_open(p->s.db, "main", "pages", "page", place, 1, &blob);
    if (code == SQLITE_OK) code = sqlite3_blob_write(blob, body, (int)size, (int)at);
    if (code != SQLITE_OK) sql_fail(&p->s);
    sqlite3_blob_close(blob);
    return code == SQLITE_OK ? 0 : -1;
}

static int change(peer *p, int64_t place, uint64_t id, const uint8_t *body, uint32_t size) {
    sql *s = &p->s;
    blob_page page;
    uint32_t slot, old;
    size_t total = 0;
    if (get_page(p, place, &page) != 0) return -1;
    if (!blob_slot(&page, id, &slot)) {
        sql_reset(s, GET_PAGE);
        return complain(p, "index names a wrong page");
    }
    size_t at = (size_t)(blob_body(&page, slot, &old) - page.start);
    uint8_t *value = old == size ? NULL : blob_replace(&page, slot, body, size, &total);
    sql_reset(s, GET_PAGE);
    if (old == size) return overwrite(p, place, at, body, size);
    if (value == NULL) return complain(p, "out of memory");
    BIND(s, PUT_PAGE, place);
    sql_bind_body(s, PUT_PAGE, 2, value, total);
    int code = sql_step(s, PUT_PAGE);
    free(value);
    return code == SQLITE_DONE ? 0 : -1;
}

static int update(peer *p, uint64_t id, const uint8_t *body, uint32_t size) {
    sql *s = &p->s;
    size_t count = 0;
    int code;
    BIND(s, PLACES, (int64_t)id);
    while ((code = sql_step(s, PLACES)) == SQLITE_ROW) {
        if (count == p->place_room) {
            int64_t *more = realloc(p->place, (2 * count + 16) * sizeof *more);
            if (more == NULL) break;
            p->place = more;
            p->place_room = 2 * count + 16;
        }
        p->place[count++] = PLACE(sql_column(s, PLACES, 0), sql_column(s, PLACES, 1));
    }
    sql_reset(s, PLACES);
    if (code != SQLITE_DONE) return code == SQLITE_ROW ? complain(p, "out of memory") : -1;
    for (size_t i = 0; i < count; i++)
        if (change(p, p->place[i], id, body, size) != 0) return -1;
    return 0;
}

static int blob_update(peer *p, uint64_t id, const uint8_t *body, uint32_t size) {
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    if (failed == 0) failed = update(p, id, body, size);
    return sql_end(&p->s, failed);
}

static int prune(peer *p, int64_t feed, uint64_t keep) {
    sql *s = &p->s;
    int64_t head, pages;
    if (get_feed(s, feed, &head, &pages) != 0) return -1;
    if ((uint64_t)pages <= keep) return 0;
    for (int64_t ord = head + (int64_t)keep; ord < head + pages; ord++) {
        blob_page page;
        int code = get_page(p, PLACE(feed, ord), &page);
        if (code != 0) return -1;
        for (uint32_t i = 0; code == 0 && i < page.count; i++)
            code = RUN(s, DROP_ID, (int64_t)blob_id(&page, i), feed);
        sql_reset(s, GET_PAGE);
        if (code != 0) return -1;
    }
    if (RUN(s, DROP_PAGES, PLACE(feed, head + (int64_t)keep), PLACE(feed, head + pages)) != 0) return -1;
    return RUN(s, PUT_FEED, feed, head, (int64_t)keep);
}

static int blob_prune(peer *p, uint32_t feed, uint64_t keep_pages) {
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    if (failed == 0) failed = prune(p, feed, keep_pages);
    return sql_end(&p->s, failed);
}

// ---- Reading -------------------------------------------------------------------------------------

// One statement is one snapshot.
static int blob_scroll(peer *p, uint32_t feed, uint64_t index, uint64_t pages, peer_read *out) {
    const uint64_t most = UINT64_C(1) << 31;
    int64_t first = (int64_t)(index < most ? index : most), count = (int64_t)(pages < most ? pages : most);
    sql *s = &p->s;
    blob_page page;
    int code;
    *out = (peer_read){0};
    BIND(s, READ, feed, first, first + count);
    while ((code = sql_step(s, READ)) == SQLITE_ROW) {
        const void *value = sqlite3_column_blob(s->st[READ], 0);
        if (!blob_open(value, (size_t)sqlite3_column_bytes(s->st[READ], 0), &page)) {
            sql_reset(s, READ);
            return complain(p, "page is damaged");
        }
        blob_sum(&page, out);
    }
    return code == SQLITE_DONE ? 0 : -1;
}

static int blob_read_page(peer *p, uint32_t feed, uint64_t index, peer_read *out) {
    return blob_scroll(p, feed, index, 1, out);
}

static int blob_contains(peer *p, uint32_t feed, const uint64_t *ids, size_t count, uint8_t *found) {
    sql *s = &p->s;
    int failed = sql_run(s, BEGIN_READ, 0, NULL);
    for (size_t i = 0; failed == 0 && i < count; i++) {
        int64_t held;
        failed = NUMBER(s, CONTAINS, 0, &held, (int64_t)ids[i], feed);
        found[i] = (uint8_t)held;
    }
    return sql_end(s, failed);
}

static int find_post(peer *p, uint64_t id, peer_read *out) {
    sql *s = &p->s;
    blob_page page;
    uint32_t slot, size;
    BIND(s, PLACES, (int64_t)id);
    int code = sql_step(s, PLACES);
    if (code != SQLITE_ROW) return code == SQLITE_DONE ? 0 : -1;
    int64_t place = PLACE(sql_column(s, PLACES, 0), sql_column(s, PLACES, 1));
    sql_reset(s, PLACES);
    if (get_page(p, place, &page) != 0) return -1;
    bool there = blob_slot(&page, id, &slot);
    if (there) {
        const uint8_t *body = blob_body(&page, slot, &size);
        *out = (peer_read){peer_sum(body, size), 1, size};
    }
    sql_reset(s, GET_PAGE);
    return there ? 0 : complain(p, "index names a wrong page");
}

static int blob_post(peer *p, uint64_t id, peer_read *out) {
    *out = (peer_read){0};
    int failed = sql_run(&p->s, BEGIN_READ, 0, NULL);
    if (failed == 0) failed = find_post(p, id, out);
    return sql_end(&p->s, failed);
}

static uint64_t blob_page_count(peer *p, uint32_t feed) {
    int64_t pages;
    return NUMBER(&p->s, COUNT, 0, &pages, feed) == 0 ? (uint64_t)pages : 0;
}

const peer_engine peer_sqlite_blob = {
    .name = "sqlite-blob",
    .version = sqlite_version_text,
    .about = "page blobs by (feed, ord), ids by (id, feed); " SQLITE_SETTINGS,
    .open = blob_open_engine,
    .close = blob_close,
    .error = sql_error,
    .append = blob_append,
    .prepend = blob_prepend,
    .update = blob_update,
    .prune = blob_prune,
    .read_page = blob_read_page,
    .scroll = blob_scroll,
    .contains = blob_contains,
    .post = blob_post,
    .page_count = blob_page_count,
    .open_reader = sql_open_reader,
};
