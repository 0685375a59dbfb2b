// sqlite-article: the shape of the usual app articles (Core Data underneath): an object per post, per page
// and per membership, objects looked up and faulted one by one.
// - One SELECT per id to see whether the post exists, one more whether this feed shows it.
// - Reading a page selects its post keys, then one SELECT per post.
// - A page has an ordinal; every prepend re-indexes all pages of the feed (one UPDATE, which is kinder than
//   the articles' loop over objects).
// - A prune deletes object by object, as a cascade does.
// Beyond the articles, to be fair: indexes on every looked-up column, prepared statements, WAL.
#include "sqlite_common.h"
#include <stdlib.h>
#include <string.h>

enum {
    FIND_POST = FIRST_STATEMENT, IN_FEED, ADD_POST, ADD_ENTRY, ADD_PAGE, RENUMBER, UPDATE_POST, PAGES, ENTRIES,
    BODY, DROP_ENTRIES, DROP_POST, DROP_PAGE, COUNT
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS posts(pk INTEGER PRIMARY KEY, id INTEGER NOT NULL, key INTEGER NOT NULL,"
    " body BLOB NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS posts_id ON posts(id);"
    "CREATE TABLE IF NOT EXISTS pages(pk INTEGER PRIMARY KEY, feed INTEGER NOT NULL, ordinal INTEGER NOT NULL,"
    " fetched INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS pages_feed ON pages(feed, ordinal);"
    "CREATE TABLE IF NOT EXISTS entries(pk INTEGER PRIMARY KEY, page INTEGER NOT NULL, post INTEGER NOT NULL,"
    " position INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS entries_page ON entries(page);"
    "CREATE INDEX IF NOT EXISTS entries_post ON entries(post);";

static const char *const texts[] = {
    COMMON_STATEMENTS,
    [FIND_POST] = "SELECT pk FROM posts WHERE id = ?",
    [IN_FEED] = "SELECT 1 FROM entries e CROSS JOIN pages g ON g.pk = e.page WHERE e.post = ? AND g.feed = ?",
    [ADD_POST] = "INSERT INTO posts(id, key, body) VALUES(?, ?, ?)",
    [ADD_ENTRY] = "INSERT INTO entries(page, post, position) VALUES(?, ?, ?)",
    [ADD_PAGE] = "INSERT INTO pages(feed, ordinal, fetched) VALUES(?, ?, ?)",
    [RENUMBER] = "UPDATE pages SET ordinal = ordinal + 1 WHERE feed = ?",
    [UPDATE_POST] = "UPDATE posts SET body = ?2 WHERE id = ?1",
    [PAGES] = "SELECT pk FROM pages WHERE feed = ? AND ordinal >= ? AND ordinal < ? ORDER BY ordinal",
    [ENTRIES] = "SELECT post FROM entries WHERE page = ? ORDER BY position",
    [BODY] = "SELECT body FROM posts WHERE pk = ?",
    [DROP_ENTRIES] = "DELETE FROM entries WHERE page = ?",
    [DROP_POST] = "DELETE FROM posts WHERE pk = ?1 AND NOT EXISTS"
                  " (SELECT 1 FROM entries WHERE post = ?1 AND page <> ?2)",
    [DROP_PAGE] = "DELETE FROM pages WHERE pk = ?",
    [COUNT] = "SELECT max(ordinal) + 1 FROM pages WHERE feed = ?",
    NULL
};

struct peer { sql s; };

static const sql_layout layout = {"article.sqlite", schema, texts, sizeof(peer)};

static int article_open(const char *folder, int durability, peer **out) {
    return sql_open(&layout, folder, durability, out);
}

// ---- Writing -------------------------------------------------------------------------------------

static int add_post(sql *s, const peer_post *post, int64_t feed, int64_t page, int64_t *position) {
    int64_t pk, held = 0;
    if (NUMBER(s, FIND_POST, 0, &pk, (int64_t)post->id) != 0) return -1;
    if (pk != 0 && NUMBER(s, IN_FEED, 0, &held, pk, feed) != 0) return -1;
    if (held) return 0;
    if (pk == 0) {
        BIND(s, ADD_POST, (int64_t)post->id, post->key);
        sql_bind_body(s, ADD_POST, 3, post->body, post->size);
        if (sql_step(s, ADD_POST) != SQLITE_DONE) return -1;
        pk = sqlite3_last_insert_rowid(s->db);
    }
    return RUN(s, ADD_ENTRY, page, pk, (*position)++);
}

static int add_page(sql *s, const peer_page *page, bool top, peer_written *out) {
    int64_t ordinal = 0, position = 0;
    if (top && RUN(s, RENUMBER, page->feed) != 0) return -1;
    if (!top && NUMBER(s, COUNT, 0, &ordinal, page->feed) != 0) return -1;
    if (RUN(s, ADD_PAGE, page->feed, ordinal, sql_now()) != 0) return -1;
    int64_t pk = sqlite3_last_insert_rowid(s->db);
    for (uint32_t i = 0; i < page->count; i++)
        if (add_post(s, &page->posts[i], page->feed, pk, &position) != 0) return -1;
    out->duplicates += page->count - (uint64_t)position;
    return 0;
}

static int article_append(peer *p, const peer_page *pages, size_t count, peer_written *out) {
    *out = (peer_written){0};
    if (count == 0) return 0;
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    for (size_t i = 0; failed == 0 && i < count; i++) failed = add_page(&p->s, &pages[i], false, out);
    return sql_end(&p->s, failed);
}

static int article_prepend(peer *p, const peer_page *page, peer_written *out) {
    *out = (peer_written){0};
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    if (failed == 0) failed = add_page(&p->s, page, true, out);
    return sql_end(&p->s, failed);
}

static int article_update(peer *p, uint64_t id, const uint8_t *body, uint32_t size) {
    BIND(&p->s, UPDATE_POST, (int64_t)id);
    sql_bind_body(&p->s, UPDATE_POST, 2, body, size);
    return sql_step(&p->s, UPDATE_POST) == SQLITE_DONE ? 0 : -1;
}

static int drop_page(sql *s, int64_t page) {
    int code;
    BIND(s, ENTRIES, page);
    while ((code = sql_step(s, ENTRIES)) == SQLITE_ROW) {
        if (RUN(s, DROP_POST, sql_column(s, ENTRIES, 0), page) == 0) continue;
        sql_reset(s, ENTRIES);
        return -1;
    }
    if (code != SQLITE_DONE || RUN(s, DROP_ENTRIES, page) != 0) return -1;
    return RUN(s, DROP_PAGE, page);
}

// The lowest page goes until few enough are left.
static int prune(sql *s, int64_t feed, uint64_t keep) {
    int64_t count, page;
    if (NUMBER(s, COUNT, 0, &count, feed) != 0) return -1;
    for (; (uint64_t)count > keep; count--) {
        if (NUMBER(s, PAGES, 0, &page, feed, count - 1, count) != 0) return -1;
        if (drop_page(s, page) != 0) return -1;
    }
    return 0;
}

static int article_prune(peer *p, uint32_t feed, uint64_t keep_pages) {
    int failed = sql_run(&p->s, BEGIN, 0, NULL);
    if (failed == 0) failed = prune(&p->s, feed, keep_pages);
    return sql_end(&p->s, failed);
}

// ---- Reading -------------------------------------------------------------------------------------

static int fault(sql *s, int64_t pk, peer_read *out) {
    BIND(s, BODY, pk);
    if (sql_step(s, BODY) != SQLITE_ROW) return -1;
    const uint8_t *body = sqlite3_column_blob(s->st[BODY], 0);
    size_t size = (size_t)sqlite3_column_bytes(s->st[BODY], 0);
    out->sum += peer_sum(size == 0 ? (const uint8_t *)"" : body, size);
    out->posts++;
    out->bytes += size;
    sql_reset(s, BODY);
    return 0;
}

static int read_page(sql *s, int64_t page, peer_read *out) {
    int code;
    BIND(s, ENTRIES, page);
    while ((code = sql_step(s, ENTRIES)) == SQLITE_ROW) {
        if (fault(s, sql_column(s, ENTRIES, 0), out) == 0) continue;
        sql_reset(s, ENTRIES);
        return -1;
    }
    return code == SQLITE_DONE ? 0 : -1;
}

static int read_pages(sql *s, int64_t feed, int64_t first, int64_t count, peer_read *out) {
    int code;
    BIND(s, PAGES, feed, first, first + count);
    while ((code = sql_step(s, PAGES)) == SQLITE_ROW) {
        if (read_page(s, sql_column(s, PAGES, 0), out) == 0) continue;
        sql_reset(s, PAGES);
        return -1;
    }
    return code == SQLITE_DONE ? 0 : -1;
}

static int article_scroll(peer *p, uint32_t feed, uint64_t index, uint64_t pages, peer_read *out) {
    const uint64_t most = UINT64_C(1) << 40;
    int64_t first = (int64_t)(index < most ? index : most), count = (int64_t)(pages < most ? pages : most);
    *out = (peer_read){0};
    int failed = sql_run(&p->s, BEGIN_READ, 0, NULL);
    if (failed == 0) failed = read_pages(&p->s, feed, first, count, out);
    return sql_end(&p->s, failed);
}

static int article_read_page(peer *p, uint32_t feed, uint64_t index, peer_read *out) {
    return article_scroll(p, feed, index, 1, out);
}

static int article_contains(peer *p, uint32_t feed, const uint64_t *ids, size_t count, uint8_t *found) {
    sql *s = &p->s;
    int failed = sql_run(s, BEGIN_READ, 0, NULL);
    for (size_t i = 0; failed == 0 && i < count; i++) {
        int64_t pk, held = 0;
        failed = NUMBER(s, FIND_POST, 0, &pk, (int64_t)ids[i]);
        if (failed == 0 && pk != 0) failed = NUMBER(s, IN_FEED, 0, &held, pk, feed);
        found[i] = (uint8_t)held;
    }
    return sql_end(s, failed);
}

static int article_post(peer *p, uint64_t id, peer_read *out) {
    int64_t pk;
    *out = (peer_read){0};
    int failed = sql_run(&p->s, BEGIN_READ, 0, NULL);
    if (failed == 0) failed = NUMBER(&p->s, FIND_POST, 0, &pk, (int64_t)id);
    if (failed == 0 && pk != 0) failed = fault(&p->s, pk, out);
    return sql_end(&p->s, failed);
}

static uint64_t article_page_count(peer *p, uint32_t feed) {
    int64_t pages;
    return NUMBER(&p->s, COUNT, 0, &pages, feed) == 0 ? (uint64_t)pages : 0;
}

const peer_engine peer_sqlite_article = {
    .name = "sqlite-article",
    .version = sqlite_version_text,
    .about = "objects one by one, join table, pages re-indexed at every prepend; " SQLITE_SETTINGS,
    .open = article_open,
    .close = sql_close,
    .error = sql_error,
    .append = article_append,
    .prepend = article_prepend,
    .update = article_update,
    .prune = article_prune,
    .read_page = article_read_page,
    .scroll = article_scroll,
    .contains = article_contains,
    .post = article_post,
    .page_count = article_page_count,
    .open_reader = sql_open_reader,
};
