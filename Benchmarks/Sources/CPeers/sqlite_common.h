// Private to the SQLite engines: a connection with its prepared statements.
#ifndef QUIRE_BENCH_SQLITE_COMMON_H
#define QUIRE_BENCH_SQLITE_COMMON_H
#include "peer.h"
#include <sqlite3.h>
#include <stdbool.h>

enum { MAX_STATEMENTS = 24 };
typedef struct {
    sqlite3 *db;
    sqlite3_stmt *st[MAX_STATEMENTS];
    const struct sql_layout *layout;
    int durability;
    char path[1024], error[256];
} sql;

// What an engine is made of. Its `struct peer` begins with a `sql`.
typedef struct sql_layout {
    const char *file;
    const char *schema;
    const char *const *texts;       // the statements; NULL ends them
    size_t peer_size;
} sql_layout;

// Statements 0, 1 and 2 of every engine.
enum { BEGIN, COMMIT, ROLLBACK, BEGIN_READ, FIRST_STATEMENT };
#define COMMON_STATEMENTS "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "BEGIN"
#define SQLITE_SETTINGS "WAL, prepared statements, 64 MB cache, mmap, synchronous=FULL (relaxed: NORMAL)"

#pragma GCC visibility push(hidden)      // private names stay out of the program's dynamic symbols
extern char sqlite_version_text[32];

int sql_open(const sql_layout *, const char *folder, int durability, peer **out);
int sql_open_reader(peer *writer, peer **out);
void sql_close(peer *);                             // NULL does nothing
const char *sql_error(peer *);
int sql_fail(sql *);                                // notes the library's message; -1
// Binds integers: sql_bind(s, st, "ii", a, b) with i = int64. Bodies are bound by sql_bind_body.
void sql_bind(sql *, int st, int count, const int64_t *values);
void sql_bind_body(sql *, int st, int at, const uint8_t *body, size_t size);
int sql_step(sql *, int st);                        // SQLITE_ROW, SQLITE_DONE or an error; resets unless a row
void sql_reset(sql *, int st);
int sql_run(sql *, int st, int count, const int64_t *values);   // bind, step, reset; 0 or -1
// First column of the first row, or `otherwise`.
int sql_number(sql *, int st, int count, const int64_t *values, int64_t otherwise, int64_t *out);
int sql_end(sql *, int failed);                     // commits or rolls back; 0 or -1
static inline int64_t sql_column(sql *s, int st, int column) { return sqlite3_column_int64(s->st[st], column); }
#define RUN(s, st, ...) \
    sql_run(s, st, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})
#define BIND(s, st, ...) \
    sql_bind(s, st, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})
#define NUMBER(s, st, otherwise, out, ...) \
    sql_number(s, st, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__}, otherwise, out)

int64_t sql_now(void);                              // fetched-at, in milliseconds
#pragma GCC visibility pop
#endif
