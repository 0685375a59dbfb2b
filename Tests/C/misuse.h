/* What the parts of the misuse test share. */
#ifndef MISUSE_H
#define MISUSE_H

#include <quire.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char folder[200];

/* What most cases work on. */
extern quire_cache *cache, *closed_cache, *other_cache;
extern quire_feed *feed, *closed_feed, *other_feed;
extern quire_snapshot *snapshot, *ended_snapshot;
extern quire_crawl *run;

/* A failure must also have set the last error. */
void expect(quire_status expected, quire_status status, const char *name);
void require(int holds, const char *name);

#define EXPECT(expected, call) expect(expected, call, #call)
#define REQUIRE(condition) require(condition, #condition)

/* For a row of a table: `what` is passed. A refusal must also say `says`. */
void expect_row(quire_status expected, const char *says, quire_status status, const char *what);

/* Values of rows. A row says only in what it differs from a structure that is right. */
#pragma GCC diagnostic ignored "-Woverride-init"

#define COUNT(rows) (sizeof rows / sizeof *rows)
#define BAD QUIRE_BAD_ARGUMENT
#define BYTES(string) {string, sizeof(string) - 1}
#define POST(...) {{.id = BYTES("p"), __VA_ARGS__}}
#define ANSWER(...)                                                                                     \
    {.struct_size = sizeof(quire_answer), .post_size = sizeof(quire_post), .count = 1, __VA_ARGS__}

/* A file in the folder. */
const char *path(const char *name);
quire_bytes text(const char *string);
quire_bytes sized(const void *data, size_t size);

void misuse_writes(void);
void misuse_numbers(void);
void misuse_reads(void);
void misuse_ranks(void);
void misuse_merges(void);
void misuse_windows(void);
void misuse_views(void);
void misuse_structs(void);
void misuse_upkeep(void);
void misuse_batches(void);
void misuse_threads(void);

#endif
