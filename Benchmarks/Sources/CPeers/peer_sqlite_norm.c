// sqlite-norm: best-practice normalised SQLite. A post is stored once, under its id as rowid; an entry
// puts it into a page of a feed.
// - entries WITHOUT ROWID in (feed, ord, slot): a page is one range of one tree.
// - The unique index (feed, post) covers "does the feed hold it", and makes INSERT OR IGNORE the
//   duplicate check: one statement does both.
// - ord counts down from the head for a prepend: nothing is renumbered.
// - posts.refs counts the feeds that hold a post (only a shared post's row is ever rewritten), so a prune
//   is four set-based statements.
#include "sqlite_common.h"
#include <stdlib.h>
#include <string.h>

enum {
    GET_FEED = FIRST_STATEMENT, PUT_FEED, ADD_PAGE, ADD_ENTRY, ADD_POST, UPDATE_POST, READ, CONTAINS, POST,
    DROP_POSTS, UNREF_POSTS, DROP_ENTRIES, DROP_PAGES, COUNT
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS posts(id INTEGER PRIMARY KEY, refs INTEGER NOT NULL, body BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS entries(feed INTEGER NOT NULL, ord INTEGER NOT NULL, slot INTEGER NOT NULL,"
    " post INTEGER NOT NULL, key INTEGER NOT NULL, PRIMARY KEY(feed, ord, slot)) WITHOUT ROWID;"
    "CREATE UNIQUE INDEX IF NOT EXISTS entries_post ON entries(feed, post);"
    "CREATE TABLE IF NOT EXISTS pages(feed INTEGER NOT NULL, ord INTEGER NOT NULL, fetched INTEGER NOT NULL,"
    " PRIMARY KEY(feed, ord)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS feeds(feed INTEGER PRIMARY KEY, head INTEGER NOT NULL, pages INTEGER NOT NULL);";

static const char *const texts[] = {
    COMMON_STATEMENTS,
    [GET_FEED] = "SELECT head, pages FROM feeds WHERE feed = ?",
    [PUT_FEED] = "INSERT INTO feeds VALUES(?1, ?2, ?3) ON CONFLICT(feed) DO UPDATE SET head = ?2, pages = ?3",
    [ADD_PAGE] = "INSERT INTO pages VALUES(?, ?, ?)",
    [ADD_ENTRY] = "INSERT OR IGNORE INTO entries VALUES(?, ?, ?, ?, ?)",
    [ADD_POST] = "INSERT INTO posts VALUES(?1, 1, ?2) ON CONFLICT(id) DO UPDATE SET refs = refs + 1",
    [UPDATE_POST] = "UPDATE posts SET body = ?2 WHERE id = ?1",
    [READ] = "SELECT p.body FROM entries e CROSS JOIN posts p ON p.id = e.post WHERE e.feed = ?1"
             " AND e.ord >= (SELECT head FROM feeds WHERE feed = ?1) + ?2"
             " AND e.ord < (SELECT head FROM feeds WHERE feed = ?1) + ?3 ORDER BY e.ord, e.slot",
    [CONTAINS] = "SELECT 1 FROM entries WHERE feed = ? AND post = ?",
    [POST] = "SELECT body FROM posts WHERE id = ?",
    [DROP_POSTS] = "DELETE FROM posts WHERE refs = 1"
                   " AND id IN (SELECT post FROM entries WHERE feed = ? AND ord >= ?)",
    [UNREF_POSTS] = "UPDATE posts SET refs = refs - 1"
                    " WHERE id IN (SELECT post FROM entries WHERE feed = ? AND ord >= ?)",
    [DROP_ENTRIES] = "DELETE FROM entries WHERE feed = ? AND ord >= ?",
    [DROP_PAGES] = "DELETE FROM pages WHERE feed = ? AND ord >= ?",
    [COUNT] = "SELECT pages FROM feeds WHERE feed = ?",
    NULL
};

struct peer { sql s; };

static const sql_layout layout = {"norm.sqlite", schema, texts, sizeof(peer)};

static int norm_open(const char *folder, int durability, peer **out) {
    return sql_open(&layout, folder, durability, out);
}

// ---- Writing -------------------------------------------------------------------------------------

static int get_feed(sql *s, int64_t feed, int64_t *head, int64_t *pages) {
    BIND(s, GET_FEED, feed);
    int code = sql_step(s, GET_FEED);
    *head = *pages = 0;
    if (code == SQLITE_ROW) {
        *head = sql_column(s, GET_FEED, 0);
        *pages = sql_column(s, GET_FEED, 1);
        sql_reset(s, GET_FEED);
    }
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : -1;
}

static int add_page(sql *s, const peer_page *page, bool top, peer_written *out) {
    int64_t head, pages, slot = 0;
    if (get_feed(s, page->feed, &head, &pages) != 0) return -1;
    if (top) head--;
    int64_t ord = top ? head : head + pages;
    if (RUN(s, ADD_PAGE, page->feed, ord, sql_now()) != 0) return -1;
    for (uint32_t i = 0; i < page->count; i++) {
        const peer_post *post = &page->posts[i];
        if (RUN(s, ADD_ENTRY, page->feed, ord, slot, (int64_t)post->id, post->key) != 0) return -1;
        if (sqlite3_changes(s->db) == 0) {
            out->duplicates++;
            continue;
        }
        slot++;
        BIND(s, ADD_POST, (int64_t)post->id);
        sql_bind_body(s, ADD_POST, 2, post->body, post->size);
        if (sql_step(s, ADD_POST) != SQLITE_DONE) return -1;
    }
    return RUN(s, PUT_FEED, page->feed, head, pages + 1);
}

static int norm_append(peer *p, const peer_page *pages, size_t count, peer_written *out) {
    *out = (peer_written){0};
    if (count == 0) return 0;
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    for (size_t i = 0; failed == 0 && i < count; i++) failed = add_page(&p->s, &pages[i], false, out);
    return sql_end(&p->s, failed);
}

static int norm_prepend(peer *p, const peer_page *page, peer_written *out) {
    *out = (peer_written){0};
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    if (failed == 0) failed = add_page(&p->s, page, true, out);
    return sql_end(&p->s, failed);
}

static int norm_update(peer *p, uint64_t id, const uint8_t *body, uint32_t size) {
    BIND(&p->s, UPDATE_POST, (int64_t)id);
    sql_bind_body(&p->s, UPDATE_POST, 2, body, size);
    return sql_step(&p->s, UPDATE_POST) == SQLITE_DONE ? 0 : -1;
}

static int prune(sql *s, int64_t feed, uint64_t keep) {
    int64_t head, pages;
    if (get_feed(s, feed, &head, &pages) != 0) return -1;
    if ((uint64_t)pages <= keep) return 0;
    int64_t from = head + (int64_t)keep;
    for (int st = DROP_POSTS; st <= DROP_PAGES; st++)
        if (RUN(s, st, feed, from) != 0) return -1;
    return RUN(s, PUT_FEED, feed, head, (int64_t)keep);
}

static int norm_prune(peer *p, uint32_t feed, uint64_t keep_pages) {
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    if (failed == 0) failed = prune(&p->s, feed, keep_pages);
    return sql_end(&p->s, failed);
}

// ---- Reading -------------------------------------------------------------------------------------

static int sum_rows(sql *s, int st, peer_read *out) {
    int code;
    *out = (peer_read){0};
    while ((code = sql_step(s, st)) == SQLITE_ROW) {
        const uint8_t *body = sqlite3_column_blob(s->st[st], 0);
        size_t size = (size_t)sqlite3_column_bytes(s->st[st], 0);
        out->sum += peer_sum(size == 0 ? (const uint8_t *)"" : body, size);
        out->posts++;
        out->bytes += size;
    }
    return code == SQLITE_DONE ? 0 : -1;
}

// One statement is one snapshot.
static int norm_scroll(peer *p, uint32_t feed, uint64_t index, uint64_t pages, peer_read *out) {
    const uint64_t most = UINT64_C(1) << 40;
    int64_t first = (int64_t)(index < most ? index : most), count = (int64_t)(pages < most ? pages : most);
    BIND(&p->s, READ, feed, first, first + count);
    return sum_rows(&p->s, READ, out);
}

static int norm_read_page(peer *p, uint32_t feed, uint64_t index, peer_read *out) {
    return norm_scroll(p, feed, index, 1, out);
}

static int norm_contains(peer *p, uint32_t feed, const uint64_t *ids, size_t count, uint8_t *found) {
    sql *s = &p->s;
    int failed = sql_run(s, BEGIN_READ, 0, NULL);
    for (size_t i = 0; failed == 0 && i < count; i++) {
        int64_t held;
        failed = NUMBER(s, CONTAINS, 0, &held, feed, (int64_t)ids[i]);
        found[i] = (uint8_t)held;
    }
    return sql_end(s, failed);
}

static int norm_post(peer *p, uint64_t id, peer_read *out) {
    BIND(&p->s, POST, (int64_t)id);
    return sum_rows(&p->s, POST, out);
}

static uint64_t norm_page_count(peer *p, uint32_t feed) {
    int64_t pages;
    return NUMBER(&p->s, COUNT, 0, &pages, feed) == 0 ? (uint64_t)pages : 0;
}

const peer_engine peer_sqlite_norm = {
    .name = "sqlite-norm",
    .version = sqlite_version_text,
    .about = "posts by id, entries by (feed, ord, slot), unique (feed, post), refs; " SQLITE_SETTINGS,
    .open = norm_open,
    .close = sql_close,
    .error = sql_error,
    .append = norm_append,
    .prepend = norm_prepend,
    .update = norm_update,
    .prune = norm_prune,
    .read_page = norm_read_page,
    .scroll = norm_scroll,
    .contains = norm_contains,
    .post = norm_post,
    .page_count = norm_page_count,
    .open_reader = sql_open_reader,
};
