// What the three SQLite engines share: opening with the same best-practice settings, and binding.
#define _GNU_SOURCE
#include "sqlite_common.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

char sqlite_version_text[32];

int sql_fail(sql *s) {
    const char *text = s->db != NULL ? sqlite3_errmsg(s->db) : "out of memory";
    snprintf(s->error, sizeof s->error, "sqlite: %s", text);
    return -1;
}

static int prepare(sql *s) {
    for (int i = 0; s->layout->texts[i] != NULL; i++)
        if (sqlite3_prepare_v3(s->db, s->layout->texts[i], -1, SQLITE_PREPARE_PERSISTENT, &s->st[i], NULL) != SQLITE_OK)
            return sql_fail(s);
    return 0;
}

// WAL: one sequential write and one flush per commit, readers beside the writer. The large map saves the
// copy from the page cache; 64 MB keep the inner nodes of every tree in the process.
static int connect(sql *s, bool create) {
    char text[400];
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
    snprintf(sqlite_version_text, sizeof sqlite_version_text, "%s", sqlite3_libversion());
    if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK) return sql_fail(s);
    sqlite3_busy_timeout(s->db, 30000);
    snprintf(text, sizeof text,
             "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = %s;"
             "PRAGMA cache_size = -65536; PRAGMA mmap_size = 68719476736; PRAGMA temp_store = MEMORY;",
             s->durability == PEER_RELAXED ? "NORMAL" : "FULL");
    if (sqlite3_exec(s->db, text, NULL, NULL, NULL) != SQLITE_OK) return sql_fail(s);
    if (create && sqlite3_exec(s->db, s->layout->schema, NULL, NULL, NULL) != SQLITE_OK) return sql_fail(s);
    return prepare(s);
}

static int new_peer(const sql_layout *layout, int durability, peer **out) {
    sql *s = calloc(1, layout->peer_size);
    *out = (peer *)s;
    if (s == NULL) return -1;
    s->layout = layout;
    s->durability = durability;
    return 0;
}

int sql_open(const sql_layout *layout, const char *folder, int durability, peer **out) {
    if (new_peer(layout, durability, out) != 0) return -1;
    sql *s = (sql *)*out;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        snprintf(s->error, sizeof s->error, "%s: %s", folder, strerror(errno));
        return -1;
    }
    snprintf(s->path, sizeof s->path, "%s/%s", folder, layout->file);
    return connect(s, true);
}

int sql_open_reader(peer *writer, peer **out) {
    const sql *from = (const sql *)writer;
    if (new_peer(from->layout, from->durability, out) != 0) return -1;
    sql *s = (sql *)*out;
    memcpy(s->path, from->path, sizeof s->path);
    return connect(s, false);
}

void sql_close(peer *p) {
    if (p == NULL) return;
    sql *s = (sql *)p;
    for (int i = 0; i < MAX_STATEMENTS; i++) sqlite3_finalize(s->st[i]);
    sqlite3_close(s->db);
    free(s);
}

const char *sql_error(peer *p) { return p == NULL ? "out of memory" : ((sql *)p)->error; }

void sql_bind(sql *s, int st, int count, const int64_t *values) {
    for (int i = 0; i < count; i++) sqlite3_bind_int64(s->st[st], i + 1, values[i]);
}

void sql_bind_body(sql *s, int st, int at, const uint8_t *body, size_t size) {
    sqlite3_bind_blob64(s->st[st], at, size == 0 ? (const void *)"" : body, size, SQLITE_STATIC);
}

int sql_step(sql *s, int st) {
    int code = sqlite3_step(s->st[st]);
    if (code == SQLITE_ROW) return code;
    if (code != SQLITE_DONE) sql_fail(s);
    sqlite3_reset(s->st[st]);
    return code;
}

void sql_reset(sql *s, int st) { sqlite3_reset(s->st[st]); }

int sql_run(sql *s, int st, int count, const int64_t *values) {
    sql_bind(s, st, count, values);
    int code = sql_step(s, st);
    if (code == SQLITE_ROW) sql_reset(s, st);
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : -1;
}

int sql_number(sql *s, int st, int count, const int64_t *values, int64_t otherwise, int64_t *out) {
    sql_bind(s, st, count, values);
    int code = sql_step(s, st);
    *out = otherwise;
    if (code == SQLITE_DONE) return 0;
    if (code != SQLITE_ROW) return -1;
    *out = sql_column(s, st, 0);
    sql_reset(s, st);
    return 0;
}

// The first failure's message is the one to keep.
int sql_end(sql *s, int failed) {
    if (failed == 0 && sql_run(s, COMMIT, 0, NULL) == 0) return 0;
    char error[sizeof s->error];
    memcpy(error, s->error, sizeof error);
    if (!sqlite3_get_autocommit(s->db)) sql_run(s, ROLLBACK, 0, NULL);
    memcpy(s->error, error, sizeof error);
    return -1;
}

int64_t sql_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
